"""Text of a pattern that is cut to fit on a line or two, for people to read."""

from __future__ import annotations

import attrs

from ..trees import Pattern, Subject
from .serializer import ONE_LINE, write_pattern, write_subject

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
