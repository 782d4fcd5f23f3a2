"""The words of messages: numbers and lists of things, and names that may have been meant."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence

from .errors import expect, expect_all


def counted(number: float, what: str, plural: str | None = None) -> str:
    """A number of things, in the singular for one.

    Args:
        number: how many.
        what: the word for one.
        plural: the word for several, where it is not ``what`` with an ``s``.

    >>> counted(1, "run"), counted(0, "run"), counted(1200, "token"), counted(2.5, "second")
    ('1 run', '0 runs', '1,200 tokens', '2.5 seconds')
    >>> counted(2, "reply", "replies")
    '2 replies'
    """
    shown = f"{number:,}" if isinstance(number, int) else f"{number:,g}"
    return f"{shown} {what if number == 1 else plural or f'{what}s'}"


def one_of(words: Sequence[str]) -> str:
    """Words of which one is meant.

    >>> one_of(["a"]), one_of(["a", "b", "c"])
    ('a', 'a, b or c')
    """
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def dotted(path: Iterable[str | int]) -> str:
    """A path as messages show it.

    >>> dotted((0, "elements", 2, "properties", "limit"))
    '[0].elements[2].properties.limit'
    """
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")


_MOST = 100  # names that are compared letter by letter


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6, most: int = 1) -> list[str]:
    """The known names that are most like another, the nearest first.

    Names that differ in upper and lower case alone are nearest.

    Args:
        name: the name that is not known.
        known: the names that are.
        cutoff: how alike they have to be, from 0 to 1.
        most: how many are given at most.

    >>> nearest("instrution", ["model", "instruction"])
    ['instruction']
    """
    expect(name, str, "name", by="nearest")
    names = expect_all(known, str, "known", by="nearest")
    same = [each for each in names if each and each.casefold() == name.casefold()]
    if same:
        return same[:most]
    from difflib import get_close_matches  # only what is wrong needs it

    def unlike(other: str) -> tuple[bool, int]:
        return other[0] != name[:1], abs(len(other) - len(name))

    likely = heapq.nsmallest(_MOST, filter(None, names), key=unlike)
    return get_close_matches(name, likely, n=most, cutoff=cutoff)


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A hint with the known names that are nearest to ``name``, or None when none is near.

    >>> did_you_mean("instrution", ["model", "instruction"])
    'did you mean instruction?'
    >>> did_you_mean("when", ["WHEN", "EACH"])
    'did you mean WHEN?'
    """
    near = nearest(name, known, most=3)
    return f"did you mean {' or '.join(near)}?" if near else None
