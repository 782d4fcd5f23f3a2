"""Paths into a document in the words of the lenses, and values as texts, for the command line.

    hello_world_agent.model
    hello_world_agent.tools.sayHello.description
    *.tools.*.parameters.personName.default

The first word is the name of an agent, of a tool outside the agents, or of another pattern at the
top; ``*`` is any. A word with a dot, or with other characters than those of a symbol, is written in
backticks. `find_places` finds where a path leads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gram import GramDecodeError, GramError, Pattern, Symbol, Value, loads, parse as parse_gram
from gram.errors import expect
from gram.reading import quote, unescape
from gram.writing import write_name

from ..language import Model

ANY = "*"
"""The part of a path that fits every name."""

_WORD = re.compile(r"(?:`((?:[^`\\]|\\.)+)`|([^.`]+))(?:\.|\Z)")


class PathError(GramError, LookupError):
    """A text that is not a path, or a path that leads to nothing in a document.

    Attributes:
        path: the path as it was given.
    """

    def __init__(self, message: str, path: str) -> None:
        super().__init__(message)
        self.path = path


def read_path(text: str) -> tuple[str, ...]:
    """The words of a path.

    Raises:
        PathError: it is not a path.

    >>> read_path("a.tools.`math.add`.description")
    ('a', 'tools', 'math.add', 'description')
    """
    expect(text, str, "path", by="read_path")
    words: list[str] = []
    at = 0
    while at < len(text) or not words:
        found = _WORD.match(text, at)
        if found is None:
            raise PathError(f"{text!r} is not a path: expected a name at character {at + 1}", text)
        words.append(unescape(found[1]) if found[1] else found[2])
        at = found.end()
    if text.endswith("."):
        raise PathError(f"{text!r} is not a path: it ends with a dot", text)
    return tuple(words)


def write_path(words: Iterable[str]) -> str:
    """The path of some words."""
    expect(words, Iterable, "words", by="write_path")
    words = tuple(words)
    for word in words:
        expect(word, str, "word", by="write_path")
    return ".".join(word if word == ANY else _quoted(word) for word in words)


def _quoted(word: str) -> str:
    """A word of a path: in backticks when it has a dot or is neither a symbol nor a number."""
    if word.isascii() and word.isdecimal():
        return word
    return quote(word, "`") if "." in word else write_name(word)


def read_value(text: str, old: object) -> Pattern | Value | tuple[Pattern, ...]:
    """Read the text of a value: a plain string, or any other value in gram notation.

    Args:
        text: the text.
        old: the value that it replaces, or None. If it is a string or a model, the text is taken
            literally.

    Raises:
        GramDecodeError: a pattern is replaced, and the text is not a pattern.
    """
    if isinstance(old, str | Model):
        return text
    if isinstance(old, Pattern):
        return read_pattern(text)
    value = _gram_value(text)
    if isinstance(old, tuple) and value == text:
        return _patterns(text)
    return value


def read_pattern(text: str, name: str = "VALUE") -> Pattern:
    """Read one pattern in gram notation.

    Args:
        text: the text.
        name: what messages call it.

    Raises:
        GramDecodeError: the text is not gram, or not exactly one pattern.
    """
    found = parse_gram(text, name).patterns
    if len(found) != 1:
        raise GramDecodeError(f"expected one pattern, found {len(found)}", text, 0, filename=name)
    return found[0]


def _patterns(text: str) -> tuple[Pattern, ...] | str:
    """Read patterns in gram notation; a text that is empty or not gram is returned unchanged."""
    try:
        return loads(text) or text
    except GramDecodeError:
        return text


def _gram_value(text: str) -> Value:
    """Read a value in gram notation; a bare word, or a text that is no value, is a string."""
    try:
        document = parse_gram(f"{{value: {text}\n}}")
    except GramDecodeError:
        return text
    span = document.spans([0]).values["value"]
    if len(document.patterns) > 1 or document.text[slice(*span)] != text.strip():
        return text  # it is more than one value
    value = document.patterns[0].value.properties["value"]
    return value if not isinstance(value, Symbol) else text
