"""Reprs of what a run gives back: short, and without keys, since a prompt is a terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def repr_without_keys(kind: type[T]) -> type[T]:
    """Replace known keys in the reprs of a class; see `interp.redaction`.

    What is read of its objects stays as it is.
    """
    whole: Any = kind.__repr__

    def __repr__(self: T) -> str:  # noqa: N807  # it becomes the method of the class
        return hidden(whole(self))

    kind.__repr__ = __repr__  # type: ignore[assignment, method-assign]  # of any class
    return kind


def short_repr(value: object) -> str:
    """The repr of a part for the repr of the whole, cut where it is long.

    >>> len(short_repr("x" * 1000))
    101
    """
    return hidden(repr(value), 100)


def hidden(text: str, most: int | None = None) -> str:
    """A text without known keys, then cut to a number of characters, so that half of none stays."""
    clean = _redact(text)
    if most is None:
        return clean
    from .machine import shortened  # imported late: whoever redacts needs no more than that

    return shortened(clean, most)


def hide_in_reprs(redact: Callable[[str], str]) -> None:
    """Set what replaces keys: `interp.redaction`, which knows them, since States know nothing."""
    global _redact  # the machine is pure: it does not import what reads keys
    _redact = redact


_redact: Callable[[str], str] = str
