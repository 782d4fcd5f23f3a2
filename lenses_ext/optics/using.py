"""Using optics: `view`, `preview`, `put`, `over` and `collect`, which read as in the literature.

All take a document or a project for its patterns, and `each_agent` looks into an agent, too. What
is put into a document gives the edited document.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, TypeVar, Union, overload, runtime_checkable

from gram import ArgumentError, Pattern
from gram.errors import expect

from ..errors import FocusError, ManyPartsError
from .typed import Getter, Settable, Traversal, is_optic, optic_name, steps_of

S = TypeVar("S")
A = TypeVar("A")
B = TypeVar("B")
Patterns: TypeAlias = tuple[Pattern, ...]


@runtime_checkable
class HasPatterns(Protocol):
    """A document, or a project, whose patterns are looked into."""

    @property
    def patterns(self) -> Patterns:
        """The patterns."""

    def replace(self, patterns: Patterns) -> Any:
        """The same with other patterns."""


D = TypeVar("D", bound=Union[HasPatterns, Pattern])
"""What is taken for the patterns in it, by lenses that look into several."""


@overload
def view(lens: Getter[Patterns, A], state: D) -> A: ...
@overload
def view(lens: Getter[S, A], state: S) -> A: ...
def view(lens: Getter[Any, A], state: Any) -> A:
    """The part that a lens or getter looks at.

    Raises:
        FocusError: it is missing or of the wrong type.
        ManyPartsError: a traversal or prism was given; use `collect`.
    """
    _expect_optic("view", "pattern", lens, state)
    return lens.get()(_whole(state))


@overload
def preview(optic: Getter[Patterns, A] | Traversal[Patterns, A, Any], state: D) -> A | None: ...
@overload
def preview(optic: Getter[S, A] | Traversal[S, A, Any], state: S) -> A | None: ...
def preview(optic: Any, state: Any) -> Any:
    """The part that a prism looks at, or a lens onto a part that may be missing, or None.

    Raises:
        FocusError: the part is there and of the wrong type.
        ManyPartsError: there are two or more; use `collect`.

    >>> from gram import loads_one
    >>> from lenses_ext import agent_model, as_tool
    >>> agent = loads_one("[a:Agent | t]")
    >>> preview(agent_model, agent), preview(as_tool, agent)
    (None, None)
    """
    _expect_optic("preview", "pattern", optic, state)
    try:
        parts = collect(optic, state)
    except FocusError as error:
        if error.is_missing:
            return None
        raise
    if len(parts) > 1:
        raise ManyPartsError(optic_name(optic))
    return parts[0] if parts else None


@overload
def put(lens: Settable[Patterns, Any, B], value: B, state: D) -> D: ...
@overload
def put(lens: Settable[S, Any, B], value: B, state: S) -> S: ...
def put(lens: Settable[Any, Any, B], value: B, state: Any) -> Any:
    """``state`` with the part set to ``value`` (with a traversal, every part).

    Raises:
        FocusError: the part is missing or of the wrong type, or cannot have this value.
        ReadOnlyError: a getter was given.
    """
    _expect_optic("put", "value, pattern", lens, value, state)
    if isinstance(state, str) and isinstance(value, Pattern):
        raise ArgumentError(f"put: the pattern comes last: put({optic_name(lens)}, value, pattern)")
    return _within(state, lens.set(value)(_whole(state)))


@overload
def over(lens: Settable[Patterns, A, B], function: Callable[[A], B], state: D) -> D: ...
@overload
def over(lens: Settable[S, A, B], function: Callable[[A], B], state: S) -> S: ...
def over(lens: Settable[Any, A, B], function: Callable[[A], B], state: Any) -> Any:
    """``state`` with ``function`` applied to the part (with a traversal, to every part).

    Raises:
        FocusError: the part is missing or of the wrong type, or cannot have the new value.
        ReadOnlyError: a getter was given.
    """
    _expect_optic("over", "function, pattern", lens, function, state)
    expect(function, Callable, "function", by="over")
    return _within(state, lens.modify(function)(_whole(state)))


@overload
def collect(traversal: Traversal[Patterns, A, Any], state: D) -> tuple[A, ...]: ...
@overload
def collect(traversal: Traversal[S, A, Any], state: S) -> tuple[A, ...]: ...
def collect(traversal: Traversal[Any, A, Any], state: Any) -> tuple[A, ...]:
    """All the parts that a traversal or prism looks at, in order.

    Raises:
        FocusError: one of them is missing or of the wrong type.
    """
    _expect_optic("collect", "pattern", traversal, state)
    # One optic after the other: the functor of `lenses` joins lists part by part, which is
    # quadratic in their number.
    parts: list[Any] = [_whole(state)]
    for optic in steps_of(traversal):
        parts = [part for whole in parts for part in optic.to_list_of(whole)]
    return tuple(parts)


def _whole(state: Any) -> Any:
    """What an optic looks into: of a document its patterns."""
    return state.patterns if isinstance(state, HasPatterns) else state


def _within(state: Any, new: Any) -> Any:
    """What has changed, as the document it is of if it is of one."""
    return state.replace(new) if isinstance(state, HasPatterns) else new


def _expect_optic(function: str, others: str, optic: object, *arguments: object) -> None:
    if is_optic(optic):
        return
    for meant in filter(is_optic, arguments):
        call = f"{function}({optic_name(meant)}, {others})"
        raise ArgumentError(f"{function}: the lens comes first: {call}")
    raise ArgumentError(f"{function}: expected a lens first, got {type(optic).__name__}")
