"""Spells a new value as the old one was spelled, where the notation allows it."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import GramDecodeError
from ..reading import QUOTES, Value as ValueSyntax, parse_trees, quote, refence, scalar_of, tokens
from ..source import Source
from ..trees import TaggedString, Value, exact
from ..writing import write_value


def respell(old: ValueSyntax, spelling: str, value: Value) -> str:
    """The text of ``value`` in the style of the old value's ``spelling``.

    Kept are the kind of quotes, a fence's opening line and the indentation of its end, the base,
    case and width of an integer. A text that would not be read as ``value`` is never given: the
    canonical one is, then.
    """
    for text in _candidates(old, spelling, value):
        if _reads_as(text, value):
            return text
    return write_value(value)


def _candidates(old: ValueSyntax, spelling: str, value: Value) -> Iterator[str]:
    if isinstance(value, str) and isinstance(old.value, str):
        if old.style in QUOTES:
            yield quote(value, QUOTES[old.style])
        elif old.style == "FENCE":
            yield refence(spelling, value)
    elif isinstance(value, TaggedString) and isinstance(old.value, TaggedString):
        if old.style == "BACKTICK":
            yield value.tag + quote(value.content, "`")
        else:
            yield refence(spelling.replace(old.value.tag, value.tag, 1), value.content)
    elif type(value) is int and value >= 0:
        if old.style == "HEXADECIMAL":
            upper = any(digit in "ABCDEF" for digit in spelling)
            yield f"0x{value:0{len(spelling) - 2}{'X' if upper else 'x'}}"
        elif old.style == "OCTAL":
            yield f"0{value:0{len(spelling) - 1}o}"


def _reads_as(text: str, value: Value) -> bool:
    first, *rest = tokens(text)
    if len(rest) == 1 and (read := scalar_of(first.type)):
        return exact(read(text)) == exact(value)
    try:
        (tree,) = parse_trees(Source(f"({{k: {text}}})"))
    except GramDecodeError:
        return False
    return exact(tree.value.properties.get("k")) == exact(value)
