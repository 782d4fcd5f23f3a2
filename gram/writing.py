"""Writes trees as canonical text: the same in every process, read back as the same trees.

The rules are those of the notation's section on writing: labels and keys sorted, an atom ``(…)``,
a bare reference where an element has only a name, path form for relationships and for walks that
read back, brackets for everything else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias

import attrs
from pyrsistent import PMap, PVector

from . import trees
from .errors import ArgumentError, expect
from .grammar import terminal
from .reading import needs_fence, quote, write_fence
from .trees import Pattern, Subject, Value

__all__ = ["ONE_LINE", "Spelling", "abridged", "abridged_subject", "write_name"]

_UPPER_SNAKE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*", re.ASCII)


class Spelling(NamedTuple):
    """How one pattern is written, where the notation leaves a choice.

    Attributes:
        separator: what is written before a label, ``:`` or ``::``.
        family: the arrow family, ``-`` for ``-->``, ``=`` for ``==>``, ``~`` for ``~~>``.
        bracketed: write an atom that is an element as ``[…]``.
        path: whether a pattern of two atoms may be a path; None leaves it to its labels.
        fences: whether long texts and those of several lines are written between fences;
            otherwise every text is quoted, and so the pattern is one line.
    """

    separator: Literal[":", "::"] = ":"
    family: Literal["-", "=", "~"] = "-"
    bracketed: bool = False
    path: bool | None = None
    fences: bool = True


PLAIN = Spelling()
ONE_LINE = Spelling(fences=False)
"""A spelling without fenced texts, so that a pattern is one line."""

Style: TypeAlias = Callable[[tuple[Pattern, ...]], Spelling]
"""Chooses the spelling of a pattern: called with its ancestors, outermost first, itself last."""


def dumps(pattern: Pattern | Iterable[Pattern], *, style: Style | None = None) -> str:
    """The canonical text of a pattern, or of several, one to a line.

    ``loads(dumps(trees)) == trees``, and writing what was read back gives the same text.

    Args:
        pattern: a pattern or an iterable of them. A first pattern that is anonymous, unlabelled
            and atomic with properties is written as the document's header.
        style: chooses arrows, colons and brackets pattern by pattern.

    >>> from gram import loads
    >>> dumps(loads("( b:B:A{k :'v'} )<--(c)"))
    '(c)-->(b:A:B {k: "v"})'
    """
    expect(style, (Callable, type(None)), "style", by="dumps")
    patterns = trees.patterns_of(pattern, by="dumps")
    lines = [write_pattern(p, style=style) for p in patterns]
    if patterns and trees.is_header(patterns[0]):
        lines[0] = write_record(patterns[0].value.properties)
    return "\n".join(lines)


def write_pattern(
    pattern: Pattern, *, style: Style | None = None, within: tuple[Pattern, ...] = ()
) -> str:
    """The canonical text of one pattern.

    Args:
        pattern: the pattern.
        style: chooses arrows, colons and brackets, see `dumps`.
        within: the patterns around it, outermost first, for the style.
    """
    expect(pattern, Pattern, "pattern", by="write_pattern")
    expect(style, (Callable, type(None)), "style", by="write_pattern")
    expect(within, tuple, "within", by="write_pattern")
    return _Writer(style).pattern(pattern, within)


class _Writer:
    def __init__(self, style: Style | None) -> None:
        self._style = style

    def spelling(self, pattern: Pattern, within: tuple[Pattern, ...]) -> Spelling:
        if self._style is None:
            return PLAIN
        spelling = self._style((*within, pattern))
        expect(spelling, Spelling, "what style returns", by="dumps")
        return spelling

    def pattern(self, pattern: Pattern, within: tuple[Pattern, ...]) -> str:
        spelling = self.spelling(pattern, within)
        if not pattern.elements:
            subject = write_subject(pattern.value, spelling)
            return f"[{subject}]" if spelling.bracketed and within else f"({subject})"
        if trees.is_edge(pattern) and is_path(pattern, spelling):
            return self.path((pattern,), pattern.elements, within)
        if (nodes := trees.walk_nodes(pattern)) is not None:
            return self.path(pattern.elements, nodes, (*within, pattern))
        subject = write_subject(pattern.value, spelling)
        below = (*within, pattern)
        elements = ", ".join(self.element(element, below) for element in pattern.elements)
        return f"[{subject} | {elements}]" if subject else f"[ | {elements}]"

    def element(self, element: Pattern, within: tuple[Pattern, ...]) -> str:
        if trees.is_reference(element):
            return write_name(element.value.identity, integers=True)
        return self.pattern(element, within)

    def path(
        self, edges: Sequence[Pattern], nodes: Sequence[Pattern], within: tuple[Pattern, ...]
    ) -> str:
        text = self.node(nodes[0], (*within, edges[0]))
        for edge, node in zip(edges, nodes[1:], strict=True):
            spelling = self.spelling(edge, within)
            kind: Literal["right", "left"] = "right" if edge.elements[1] == node else "left"
            text += write_arrow(edge.value, spelling, kind) + self.node(node, (*within, edge))
        return text

    def node(self, atom: Pattern, within: tuple[Pattern, ...]) -> str:
        return f"({write_subject(atom.value, self.spelling(atom, within))})"


# --- which form a pattern has


def is_path(edge: Pattern, spelling: Spelling) -> bool:
    """Whether an edge of two atoms is written as a path."""
    if spelling.path is not None:
        return spelling.path
    return all(_UPPER_SNAKE.fullmatch(label) for label in edge.value.labels)


# --- parts


def write_arrow(
    subject: Subject, spelling: Spelling = PLAIN, kind: Literal["right", "left"] = "right"
) -> str:
    """An arrow with its subject in brackets where it has one."""
    body = spelling.family
    inside = write_subject(subject, spelling)
    middle = f"[{inside}]" if inside else ""
    return f"{body}{middle}{body}>" if kind == "right" else f"<{body}{middle}{body}"


def write_subject(subject: Subject, spelling: Spelling = PLAIN) -> str:
    """The text of identity, labels and record; ``""`` for an empty subject."""
    name = write_name(subject.identity, integers=True) if subject.identity else ""
    labels = "".join(spelling.separator + write_name(label) for label in sorted(subject.labels))
    if not subject.properties:
        return name + labels
    record = write_record(subject.properties, fences=spelling.fences)
    return f"{name}{labels} {record}" if name or labels else record


def write_record(properties: Mapping[str, Any], *, fences: bool = True) -> str:
    """``{key: value, …}`` with its keys sorted; without fences it is one line."""
    for key in properties:
        expect(key, str, "each key of a map", by="write_value")
    entries = (
        f"{write_key(key)}: {write_value(value, fences=fences)}"
        for key, value in sorted(properties.items())
    )
    return f"{{{', '.join(entries)}}}"


def write_name(name: str, *, integers: bool = False) -> str:
    """An identity, label or symbol key: bare where it can be, else in backticks.

    Args:
        name: what the name says.
        integers: whether a decimal integer may be written bare, as an identity may.
    """
    if trees.is_symbol(name) or (integers and terminal("INTEGER").fullmatch(name)):
        return name
    return quote(name, "`")


@lru_cache(maxsize=1024)
def write_key(key: str) -> str:
    """A key of a record or map: bare where it is a symbol, else in double quotes."""
    return key if trees.is_symbol(key) else quote(key)


def write_value(value: Value, *, fences: bool = True) -> str:
    """The canonical text of a value; without fences it is one line."""
    match value:
        case str():
            return write_fence(value) if fences and needs_fence(value) else quote(value)
        case bool():  # before int, which it is a kind of
            return "true" if value else "false"
        case int() | float():
            return _write_number(value)
        case PMap() | dict():
            return write_record(value, fences=fences)
        case PVector() | list() | tuple():
            return f"[{', '.join([write_value(each, fences=fences) for each in value])}]"
        case trees.Symbol():
            return value.value
        case trees.TaggedString(tag, content):
            is_fenced = fences and needs_fence(content)
            return write_fence(content, tag) if is_fenced else tag + quote(content, "`")
        case trees.Measurement(number, unit):
            text = _write_number(number) + unit
            return f"-{text}" if terminal("HEXADECIMAL").fullmatch(text) else text
        case trees.Range(lower, upper):
            ends = ["" if end is None else write_value(end) for end in (lower, upper)]
            return (".." if all(ends) else "...").join(ends)
    raise ArgumentError(f"write_value: value must be a value, got {type(value).__name__}")


def _write_number(number: trees.values.Number) -> str:
    """An integer, or a decimal without exponent and always with a point."""
    text = str(number)
    if "e" not in text:
        return text
    from decimal import Decimal  # imported late: most programs are not written

    text = format(Decimal(text), "f")
    return text if "." in text else f"{text}.0"


_MOST_ELEMENTS = 12
_MOST_LEVELS = 3


def abridged(pattern: Pattern, width: int = 160) -> str:
    """The text of a pattern on one line, whole if it fits, else cut to ``…``.

    What is cut cannot be read back; `gram.dumps` gives the whole text.

    Args:
        pattern: the pattern.
        width: how many characters the text may have.

    >>> from gram import loads_one
    >>> abridged(loads_one("[a:A {k: 'v'} | b, (c)-->(d)]"))
    '[a:A {k: "v"} | b, (c)-->(d)]'
    >>> abridged(loads_one("[a:A | [b:B {k: 'v'} | c, d, e], (f)-->(g)]"), 20)
    '[a:A | [b:B {k: "v"…'
    """
    small = _small(pattern, 0)
    text = write_pattern(small, style=lambda _: ONE_LINE)
    return _shown(text if small is pattern else f"{text}…", width)


def abridged_subject(subject: Subject) -> str:
    """The text of a subject, cut where it is long."""
    return _shown(write_subject(subject, ONE_LINE), 160)


def _shown(text: str, width: int) -> str:
    """A text of a certain length at most, every character that cannot be seen as an escape."""
    text = text if len(text) <= width else f"{text[: width - 1]}…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _small(pattern: Pattern, level: int) -> Pattern:
    """A pattern without most of its elements where there are many, or that are deep inside."""
    few = pattern.elements[:_MOST_ELEMENTS] if level < _MOST_LEVELS else ()
    elements = tuple([_small(each, level + 1) for each in few])
    if elements == pattern.elements:
        return pattern
    return attrs.evolve(pattern, elements=elements)
