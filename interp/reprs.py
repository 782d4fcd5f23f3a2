"""How values show themselves: short reprs for terminals, tables for notebooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias

Shown: TypeAlias = Literal["comparison", "conversation", "run"]

NOTEBOOK: Final[dict[Shown, Callable[[Any], dict[str, str]]]] = {}
"""What notebooks show of conversations, runs and comparisons; the package's front fills it."""


def short_repr(value: object) -> str:
    """The repr of a part for the repr of the whole, cut where it is long.

    >>> len(short_repr("x" * 1000))
    101
    """
    return shortened(repr(value), 100)


def shortened(text: str, most: int) -> str:
    """A text that is cut to a number of characters.

    >>> shortened("abc", 3), shortened("abcd", 3)
    ('abc', 'abc…')
    """
    return text if len(text) <= most else f"{text[:most]}…"
