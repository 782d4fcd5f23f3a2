"""Reprs: short, since a prompt is a terminal."""

from __future__ import annotations

from collections.abc import Callable


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


def hidden(text: str) -> str:
    """A text without known keys."""
    return _redact(text)


def hide_in_reprs(redact: Callable[[str], str]) -> None:
    """Set what replaces keys: `interp.redaction`, which knows them, since States know nothing."""
    global _redact  # the machine is pure: it does not import what reads keys
    _redact = redact


_redact: Callable[[str], str] = str
