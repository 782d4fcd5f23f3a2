"""Refusing wrong arguments: several patterns at once."""

from __future__ import annotations

from collections.abc import Iterable

from gram import Pattern, expect


def expect_patterns(patterns: object, *, by: str) -> tuple[Pattern, ...]:
    """The patterns that a function was given, as a tuple.

    Args:
        patterns: the argument.
        by: the name of the function that takes it.

    Raises:
        ArgumentError: it is not an iterable of Patterns.
    """
    expect(patterns, Iterable, "patterns", by=by)
    assert isinstance(patterns, Iterable)
    several = tuple(patterns)
    for index, each in enumerate(several):
        expect(each, Pattern, f"patterns[{index}]", by=by)
    return several
