"""Numbers and lists of things, as messages write them."""

from __future__ import annotations

from collections.abc import Sequence


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
