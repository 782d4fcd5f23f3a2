"""Typed lenses, getters, traversals and prisms over patterns, made with ``lenses``.

This is the only file that imports ``lenses``. The classes here are its unbound lenses with types
and names: ``p & agent_name.set("x")``, composing with ``&`` and everything else that package
offers works on them; `view`, `put`, `over` and `collect` read as in the literature and are typed.

A lens looks at exactly one part, a getter at a computed one, a traversal at any number, a prism at
one that may not be there. None invents a default: a part that is missing or of another type is a
`FocusError`, when setting as when getting. `lens_of`, `computed`, `traversal_of` and `prism_of`
make them of functions; makers for the parts of patterns are in `lenses_ext.pattern_optics`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from lenses import UnboundLens, optics
from lenses.maybe import Just, Nothing
from lenses.typeclass import fmap

from gram import Pattern

from .errors import FocusError, ManyPartsError, ReadOnlyError

S = TypeVar("S")
A = TypeVar("A")
B = TypeVar("B")
S_contra = TypeVar("S_contra", contravariant=True)
A_co = TypeVar("A_co", covariant=True)

if TYPE_CHECKING:
    # A base of type Any would hide every mistake: `getter.set(x)` has to be one for mypy.
    class _Optic:
        def __init__(self, optic: object) -> None: ...

else:

    class _Optic(UnboundLens):
        """What the four classes share: composing gives the class that fits the result."""

        __slots__ = ()

        def _compose_optic(self, optic):
            return _typed(self._optic.compose(optic))

        def _wrap_optic(self, optic):
            return _typed(optic(self._optic))

        def __repr__(self):
            return _name(self._optic)


class Getter(_Optic, Generic[S_contra, A_co]):
    """Looks at one computed part, which cannot be set."""

    __slots__ = ()

    if TYPE_CHECKING:

        def get(self) -> Callable[[S_contra], A_co]:
            """A function from the whole to the part."""

        @overload
        def __and__(self, other: Getter[A_co, B]) -> Getter[S_contra, B]: ...
        @overload
        def __and__(self, other: Any) -> Any: ...
        def __and__(self, other: Any) -> Any: ...

    else:

        def set(self, newvalue):
            """Refused: what a getter shows is computed."""
            raise ReadOnlyError(repr(self))

        set_many = modify = set


class Lens(Getter[S, A]):
    """Looks at exactly one part, which can be set."""

    __slots__ = ()

    if TYPE_CHECKING:

        def set(self, newvalue: A) -> Callable[[S], S]:
            """A function that sets the part."""

        def modify(self, func: Callable[[A], A]) -> Callable[[S], S]:
            """A function that changes the part."""

        @overload  # type: ignore[override]  # a lens composed with a lens is more than a getter
        def __and__(self, other: Lens[A, B]) -> Lens[S, B]: ...
        @overload
        def __and__(self, other: Getter[A, B]) -> Getter[S, B]: ...
        @overload
        def __and__(self, other: Traversal[A, B]) -> Traversal[S, B]: ...
        @overload
        def __and__(self, other: Any) -> Any: ...
        def __and__(self, other: Any) -> Any: ...

    else:
        set, modify, set_many = UnboundLens.set, UnboundLens.modify, UnboundLens.set_many


class Traversal(_Optic, Generic[S, A]):
    """Looks at any number of parts, which can be set."""

    __slots__ = ()

    if TYPE_CHECKING:

        def collect(self) -> Callable[[S], list[A]]:
            """A function from the whole to its parts."""

        def set(self, newvalue: A) -> Callable[[S], S]:
            """A function that sets every part."""

        def set_many(self, new_values: Iterable[A]) -> Callable[[S], S]:
            """A function that sets each part to a value of its own, in order."""

        def modify(self, func: Callable[[A], A]) -> Callable[[S], S]:
            """A function that changes every part."""

        @overload
        def __and__(self, other: Lens[A, B]) -> Traversal[S, B]: ...
        @overload
        def __and__(self, other: Traversal[A, B]) -> Traversal[S, B]: ...
        @overload
        def __and__(self, other: Any) -> Any: ...
        def __and__(self, other: Any) -> Any: ...

    else:

        def get(self):
            """Refused: `lenses` would give the first part and hide the others."""
            raise ManyPartsError(repr(self))


class Prism(Traversal[S, A]):
    """Looks at one part that may not be there, and can make the whole from it."""

    __slots__ = ()

    if TYPE_CHECKING:

        def construct(self, focus: A) -> S:
            """The whole that a part makes."""


# --- using them


def view(lens: Getter[S, A], state: S) -> A:
    """The part that a lens or getter looks at.

    Raises:
        FocusError: it is missing or ill-typed.
        ManyPartsError: a traversal or prism was given.
    """
    return lens.get()(state)


def put(lens: Lens[S, A] | Traversal[S, A], value: A, state: S) -> S:
    """``state`` with the part set to ``value`` (with a traversal, every part).

    Raises:
        FocusError: the part is missing or ill-typed, or the value cannot stand there.
        ReadOnlyError: a getter was given.
    """
    return lens.set(value)(state)


def over(lens: Lens[S, A] | Traversal[S, A], function: Callable[[A], A], state: S) -> S:
    """``state`` with ``function`` applied to the part (with a traversal, to every part).

    Raises:
        FocusError: the part is missing or ill-typed, or the new value cannot stand there.
        ReadOnlyError: a getter was given.
    """
    return lens.modify(function)(state)


def collect(traversal: Traversal[S, A], state: S) -> tuple[A, ...]:
    """All the parts that a traversal or prism looks at, in order.

    Raises:
        FocusError: one of them is ill-typed.
    """
    # One optic after the other: the functor of `lenses` joins lists part by part, which is
    # quadratic in their number.
    parts: list[Any] = [state]
    for optic in _steps(traversal):
        parts = [part for whole in parts for part in optic.to_list_of(whole)]
    return tuple(parts)


# --- making them


class _NamedLens(optics.Lens):  # type: ignore[misc]  # lenses is untyped
    """A pair of functions under the name that errors and reprs show."""

    def __init__(
        self, name: str, getter: Callable[[Any], Any], setter: Callable[[Any, Any], Any]
    ) -> None:
        self.name, self.getter, self.setter = name, getter, setter

    def func(self, f: Callable[[Any], Any], state: Any) -> Any:
        return fmap(f(self.getter(state)), lambda new: self.setter(state, new))

    def to_list_of(self, state: Any) -> list[Any]:
        return [self.getter(state)]


class _NamedGetter(optics.Getter):  # type: ignore[misc]  # lenses is untyped
    def __init__(self, name: str, getter: Callable[[Any], Any]) -> None:
        self.name, self.getter = name, getter


class _NamedTraversal(optics.Traversal):  # type: ignore[misc]  # lenses is untyped
    def __init__(
        self,
        name: str,
        folder: Callable[[Any], Iterable[Any]],
        builder: Callable[[Any, Iterable[Any]], Any],
    ) -> None:
        self.name, self.folder, self.builder = name, folder, builder

    def to_list_of(self, state: Any) -> list[Any]:
        return list(self.folder(state))


class _NamedPrism(optics.Prism):  # type: ignore[misc]  # lenses is untyped
    def __init__(
        self, name: str, matches: Callable[[Any], bool], pack: Callable[[Any], Any]
    ) -> None:
        super().__init__(lambda state: Just(state) if matches(state) else Nothing(), pack)
        self.name = name


def lens_of(
    name: str, getter: Callable[[Pattern], A], setter: Callable[[Pattern, A], Pattern]
) -> Lens[Pattern, A]:
    """A lens of two functions; both raise FocusError for what they cannot do."""
    return Lens(_NamedLens(name, _of_pattern(name, getter), setter))


def computed(name: str, getter: Callable[[Pattern], A]) -> Getter[Pattern, A]:
    """A getter of a function of the pattern."""
    return Getter(_NamedGetter(name, _of_pattern(name, getter)))


def traversal_of(
    name: str, folder: Callable[[S], Iterable[A]], builder: Callable[[S, Iterable[A]], S]
) -> Traversal[S, A]:
    """A traversal of two functions: the parts of a whole, and the whole with as many others."""
    return Traversal(_NamedTraversal(name, folder, builder))


def prism_of(name: str, matches: Callable[[object], bool], pack: Callable[[A], A]) -> Prism[A, A]:
    """A prism onto the whole itself where it ``matches``; ``pack`` checks one before it is set."""
    return Prism(_NamedPrism(name, matches, pack))


def _of_pattern(name: str, getter: Callable[[Pattern], A]) -> Callable[[Pattern], A]:
    def get(state: Pattern) -> A:
        if not isinstance(state, Pattern):
            raise FocusError(name, "the root", state, "expected a Pattern")
        return getter(state)

    return get


# --- naming and typing what `lenses` composes

_CLASSES = {
    optics.Prism: Prism,
    optics.Lens: Lens,
    optics.Traversal: Traversal,
    optics.Getter: Getter,
}


def _steps(optic: Any) -> list[Any]:
    """What an optic is composed of, outermost first."""
    inner = optic._optic
    return getattr(inner, "lenses", [inner])


def _typed(optic: Any) -> Any:
    """An optic of ``lenses`` in our class for its kind; kinds we have none for stay raw."""
    return _CLASSES.get(optic.kind(), UnboundLens)(optic)


def _name(optic: Any) -> str:
    parts = getattr(optic, "lenses", None)
    if parts is not None:
        return " & ".join(map(_name, parts))
    return getattr(optic, "name", None) or repr(optic)
