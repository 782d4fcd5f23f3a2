"""Text of a pattern that is cut to fit on a line or two, for people to read."""

from __future__ import annotations

from itertools import islice

from pyrsistent import PMap, PVector

from ..reading import quote
from ..trees import Pattern, Subject, Value, is_edge, walk
from .serializer import (
    sorted_items,
    write_arrow,
    write_key,
    write_name,
    write_pattern,
    write_value,
)

_MOST_PARTS = 12  # elements, properties, entries
_MOST_TEXT = 40  # characters of a string
_MOST_LEVELS = 3  # arrays and maps in a value
_SMALL = 12  # patterns that are written as a whole, if they are short


def abridged(pattern: Pattern, width: int = 160) -> str:
    """The text of a pattern, whole if it fits, else with long strings and inner parts cut to ``…``.

    What is cut cannot be read back; `gram.dumps` gives the whole text.

    Args:
        pattern: the pattern.
        width: how many characters the whole text may have.

    >>> from gram import loads_one
    >>> abridged(loads_one("[a:A {k: 'v'} | b, (c)-->(d)]"))
    '[a:A {k: "v"} | b, (c)-->(d)]'
    >>> abridged(loads_one("[a:A | [b:B {k: 'v'} | c, d, e], (f)-->(g)]"), 20)
    '[a:A | [b:B | …], (f)-->(g)]'
    """
    return _visible(_whole(pattern, width) or _cut(pattern))


def abridged_subject(subject: Subject) -> str:
    """The text of a subject with long strings and long values cut to ``…``."""
    return _visible(_subject(subject))


def _visible(text: str) -> str:
    """The text with every character that cannot be seen as an escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _cut(pattern: Pattern) -> str:
    subject = _subject(pattern.value)
    if not pattern.elements:
        return f"({subject})"
    elements = [_head(each) for each in pattern.elements[:_MOST_PARTS]]
    return f"[{subject} | {_listed(elements, len(pattern.elements))}]"


def _subject(subject: Subject) -> str:
    head = _name_and_labels(subject)
    if not subject.properties:
        return head
    record = _record(subject.properties, 0)
    return f"{head} {record}" if head else record


def _whole(pattern: Pattern, width: int) -> str | None:
    """The whole text of a small pattern; None for one that is too long to be shown."""
    patterns = [each for _, each in islice(walk(pattern), _SMALL + 1)]
    if len(patterns) > _SMALL or any(map(_is_long, patterns)):
        return None
    text = write_pattern(pattern)
    return text if len(text) <= width and "\n" not in text else None


def _is_long(pattern: Pattern) -> bool:
    properties = pattern.value.properties
    return len(properties) > _MOST_PARTS or any(
        isinstance(value, PVector | PMap) and len(value) > _MOST_PARTS
        for value in properties.values()
    )


def _head(element: Pattern) -> str:
    """An element without what is in it; a relationship with its ends."""
    head = _name_and_labels(element.value)
    if is_edge(element):
        left, right = (_name_and_labels(end.value) for end in element.elements)
        return (
            f"({left}){write_arrow(Subject(element.value.identity, element.value.labels))}({right})"
        )
    if element.elements:
        return f"[{head} | …]"
    return f"({head} …)" if element.value.properties else f"({head})"


def _name_and_labels(subject: Subject) -> str:
    name = write_name(subject.identity, integers=True) if subject.identity else ""
    labels = [write_name(label) for label in sorted(subject.labels)]
    return name + "".join(":" + label for label in labels)


def _record(properties: PMap[str, Value], level: int) -> str:
    entries = sorted_items(properties)
    shown = [f"{write_key(key)}: {_value(value, level)}" for key, value in entries[:_MOST_PARTS]]
    return "{" + _listed(shown, len(entries)) + "}"


def _value(value: Value, level: int) -> str:
    if isinstance(value, PMap | PVector) and level == _MOST_LEVELS:
        return "{…}" if isinstance(value, PMap) else "[…]"
    if isinstance(value, PMap):
        return _record(value, level + 1)
    if isinstance(value, PVector):
        items = [_value(each, level + 1) for each in value[:_MOST_PARTS]]
        return f"[{_listed(items, len(value))}]"
    if isinstance(value, str):
        is_whole = len(value) <= _MOST_TEXT
        return quote(value) if is_whole else f'{quote(value[:_MOST_TEXT])[:-1]}…"'
    text = write_value(value)
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}…"


def _listed(shown: list[str], count: int) -> str:
    """Parts with commas between them, and how many more there are."""
    more = [f"… {count - len(shown)} more"] if count > len(shown) else []
    return ", ".join([*shown, *more])
