"""Three-way merge of lines."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple


class _Change(NamedTuple):
    """Lines of the base, and what comes in their place."""

    start: int
    end: int
    lines: Sequence[str]


def merge_lines(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]
) -> list[str] | None:
    """Lines with the changes of both sides; None when these touch each other.

    >>> merge_lines("abc", "xbc", "abcd")
    ['x', 'b', 'c', 'd']
    """
    merged: list[str] = []
    at = 0
    last: _Change | None = None
    for change in sorted({*_changes(base, ours), *_changes(base, theirs)}):
        if last and change.start <= last.end:
            return None
        merged += [*base[at : change.start], *change.lines]
        at, last = change.end, change
    return [*merged, *base[at:]]


def _changes(base: Sequence[str], new: Sequence[str]) -> list[_Change]:
    return [
        _Change(start, end, tuple(new[first:last]))
        for kind, start, end, first, last in SequenceMatcher(
            None, base, new, autojunk=False
        ).get_opcodes()
        if kind != "equal"
    ]
