"""Using optics: `view`, `put`, `over` and `collect`, which read as in the literature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from gram import ArgumentError, Pattern, expect

from .typed import Getter, Settable, Traversal, is_optic, optic_name, steps_of

S = TypeVar("S")
A = TypeVar("A")
B = TypeVar("B")


def view(lens: Getter[S, A], state: S) -> A:
    """The part that a lens or getter looks at.

    Raises:
        FocusError: it is missing or of the wrong type.
        ManyPartsError: a traversal or prism was given; use `collect`.
    """
    _expect_optic("view", "pattern", lens, state)
    return lens.get()(state)


def put(lens: Settable[S, Any, B], value: B, state: S) -> S:
    """``state`` with the part set to ``value`` (with a traversal, every part).

    Raises:
        FocusError: the part is missing or of the wrong type, or cannot have this value.
        ReadOnlyError: a getter was given.
    """
    _expect_optic("put", "value, pattern", lens, value, state)
    if isinstance(state, str) and isinstance(value, Pattern):
        raise ArgumentError(f"put: the pattern comes last: put({optic_name(lens)}, value, pattern)")
    return lens.set(value)(state)


def over(lens: Settable[S, A, B], function: Callable[[A], B], state: S) -> S:
    """``state`` with ``function`` applied to the part (with a traversal, to every part).

    Raises:
        FocusError: the part is missing or of the wrong type, or cannot have the new value.
        ReadOnlyError: a getter was given.
    """
    _expect_optic("over", "function, pattern", lens, function, state)
    expect(function, Callable, "function", by="over")
    return lens.modify(function)(state)


def collect(traversal: Traversal[S, A, Any], state: S) -> tuple[A, ...]:
    """All the parts that a traversal or prism looks at, in order.

    Raises:
        FocusError: one of them is missing or of the wrong type.
    """
    _expect_optic("collect", "pattern", traversal, state)
    # One optic after the other: the functor of `lenses` joins lists part by part, which is
    # quadratic in their number.
    parts: list[Any] = [state]
    for optic in steps_of(traversal):
        parts = [part for whole in parts for part in optic.to_list_of(whole)]
    return tuple(parts)


def _expect_optic(function: str, others: str, optic: object, *arguments: object) -> None:
    if is_optic(optic):
        return
    meant = next((each for each in arguments if is_optic(each)), None)
    if meant is not None:
        raise ArgumentError(
            f"{function}: the lens comes first: {function}({optic_name(meant)}, {others})"
        )
    raise ArgumentError(f"{function}: expected a lens first, got {type(optic).__name__}")
