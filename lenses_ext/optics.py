"""Typed lenses, getters, traversals and prisms over patterns, made with ``lenses``.

This is the only file that imports ``lenses``. The classes here are its unbound lenses with types
and names: ``p & agent_name.set("x")``, composing with ``&`` and everything else that package
offers works on them; `view`, `put`, `over` and `collect` read as in the literature and are typed.

A lens looks at exactly one part, a getter at a computed one, a traversal at any number, a prism at
one that may not be there. None invents a default: a part that is missing or of another type is a
`FocusError`, when setting as when getting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import attrs
from lenses import UnboundLens, optics
from lenses.maybe import Just, Nothing
from lenses.typeclass import fmap

from gram import GramEncodeError, Pattern

from .errors import FocusError, ReadOnlyError

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
            """A function that sets the part."""

        def modify(self, func: Callable[[A], A]) -> Callable[[S], S]:
            """A function that changes the part."""

        @overload
        def __and__(self, other: Lens[A, B]) -> Traversal[S, B]: ...
        @overload
        def __and__(self, other: Traversal[A, B]) -> Traversal[S, B]: ...
        @overload
        def __and__(self, other: Any) -> Any: ...
        def __and__(self, other: Any) -> Any: ...


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
    return tuple(traversal.collect()(state))


# --- making them


class _NamedLens(optics.Lens):  # type: ignore[misc]  # lenses is untyped
    """A pair of functions under the name that errors and reprs show."""

    def __init__(
        self, name: str, getter: Callable[[Any], Any], setter: Callable[[Any, Any], Any]
    ) -> None:
        self.name, self.getter, self.setter = name, getter, setter

    def func(self, f: Callable[[Any], Any], state: Any) -> Any:
        return fmap(f(self.getter(state)), lambda new: self.setter(state, new))


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


def identity(name: str) -> Lens[Pattern, str]:
    """The lens onto a pattern's identity, which is never empty."""
    path = "value.identity"

    def get(pattern: Pattern) -> str:
        if not pattern.value.identity:
            raise FocusError(name, path, pattern, "no name")
        return pattern.value.identity

    def set_(pattern: Pattern, new: str) -> Pattern:
        _expect(name, path, pattern, new, str)
        if not new:
            raise FocusError(name, path, pattern, "a name cannot be empty")
        return _evolved(name, path, pattern, identity=new)

    return lens_of(name, get, set_)


def prop(name: str, key: str, kind: type[A]) -> Lens[Pattern, A]:
    """The lens onto a property that has to be there, of one type."""
    path = f"value.properties.{key}"

    def get(pattern: Pattern) -> A:
        if key not in pattern.value.properties:
            raise FocusError(name, path, pattern, "no such property")
        return _expect(name, path, pattern, pattern.value.properties[key], kind)

    def set_(pattern: Pattern, new: A) -> Pattern:
        _expect(name, path, pattern, new, kind)
        return with_property(name, pattern, key, new)

    return lens_of(name, get, set_)


def optional_prop(name: str, key: str, kind: type[A]) -> Lens[Pattern, A | None]:
    """The lens onto a property that may be absent: None, and setting None removes it."""
    path = f"value.properties.{key}"

    def get(pattern: Pattern) -> A | None:
        if key not in pattern.value.properties:
            return None
        return _expect(name, path, pattern, pattern.value.properties[key], kind)

    def set_(pattern: Pattern, new: A | None) -> Pattern:
        if new is None:
            return without_property(pattern, key)
        _expect(name, path, pattern, new, kind)
        return with_property(name, pattern, key, new)

    return lens_of(name, get, set_)


def elements_with(name: str, labels: Iterable[str]) -> Lens[Pattern, tuple[Pattern, ...]]:
    """The lens onto the elements that carry one of some labels; the others stay where they are.

    New elements take the places of the old ones in order; more than before go behind the last of
    them, and places left over are given up. So get-put and put-get hold always, and put-put
    wherever no other element stands between or behind them.
    """
    wanted = frozenset(labels)
    path = "elements"

    def get(pattern: Pattern) -> tuple[Pattern, ...]:
        return tuple(each for each in pattern.elements if each.value.labels & wanted)

    def set_(pattern: Pattern, new: tuple[Pattern, ...]) -> Pattern:
        if isinstance(new, Pattern) or not isinstance(new, Iterable):
            raise FocusError(name, path, pattern, f"expected patterns, found {_kind(new)}")
        queue = list(new)
        for each in queue:
            if not isinstance(each, Pattern) or not each.value.labels & wanted:
                some = " or ".join(sorted(wanted))
                raise FocusError(name, path, pattern, f"expected a pattern labelled {some}")
        places = [i for i, each in enumerate(pattern.elements) if each.value.labels & wanted]
        last = places[-1] if places else len(pattern.elements) - 1
        elements: list[Pattern] = [] if pattern.elements else queue
        for index, old in enumerate(pattern.elements):
            if index not in places:
                elements.append(old)
            elif queue:
                elements.append(queue.pop(0))
            if index == last:
                elements.extend(queue)
        return attrs.evolve(pattern, elements=tuple(elements))

    return lens_of(name, get, set_)


def each_of(name: str, children: Lens[Pattern, tuple[Pattern, ...]]) -> Traversal[Pattern, Pattern]:
    """The traversal over the patterns that a lens shows as a tuple."""

    def builder(pattern: Pattern, new: Iterable[Pattern]) -> Pattern:
        return put(children, tuple(new), pattern)

    return Traversal(_NamedTraversal(name, lambda state: view(children, state), builder))


def labelled(name: str, labels: Iterable[str]) -> Prism[Pattern, Pattern]:
    """The prism onto a pattern itself when it carries one of some labels."""
    wanted = frozenset(labels)

    def matches(state: object) -> bool:
        return isinstance(state, Pattern) and bool(state.value.labels & wanted)

    def pack(focus: Pattern) -> Pattern:
        if not matches(focus):
            some = " or ".join(sorted(wanted))
            raise FocusError(name, "value.labels", focus, f"expected the label {some}")
        return focus

    return Prism(_NamedPrism(name, matches, pack))


def with_property(name: str, pattern: Pattern, key: str, value: object) -> Pattern:
    """``pattern`` with a property set; ``name`` is the optic that sets it.

    Raises:
        FocusError: the value has no notation.
    """
    properties: Any = pattern.value.properties
    path = f"value.properties.{key}"
    return _evolved(name, path, pattern, properties=properties.set(key, value))


def without_property(pattern: Pattern, key: str) -> Pattern:
    """``pattern`` without a property; itself when it has none."""
    if key not in pattern.value.properties:
        return pattern
    properties = pattern.value.properties.remove(key)
    return attrs.evolve(pattern, value=attrs.evolve(pattern.value, properties=properties))


def _evolved(name: str, path: str, pattern: Pattern, **changes: Any) -> Pattern:
    try:
        return attrs.evolve(pattern, value=attrs.evolve(pattern.value, **changes))
    except GramEncodeError as error:
        raise FocusError(name, path, pattern, error.msg) from None


def _of_pattern(name: str, getter: Callable[[Pattern], A]) -> Callable[[Pattern], A]:
    def get(state: Pattern) -> A:
        if not isinstance(state, Pattern):
            raise FocusError(name, "the root", state, "expected a Pattern")
        return getter(state)

    return get


def _expect(name: str, path: str, pattern: Pattern, value: Any, kind: type[A]) -> A:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        shown = f"expected {kind.__name__}, found {_kind(value)} {value!r:.60}"
        raise FocusError(name, path, pattern, shown)
    return value


def _kind(value: object) -> str:
    return "None" if value is None else type(value).__name__


# --- naming and typing what `lenses` composes

_CLASSES = {
    optics.Prism: Prism,
    optics.Lens: Lens,
    optics.Traversal: Traversal,
    optics.Getter: Getter,
}


def _typed(optic: Any) -> Any:
    """An optic of ``lenses`` in our class for its kind; kinds we have none for stay raw."""
    return _CLASSES.get(optic.kind(), UnboundLens)(optic)


def _name(optic: Any) -> str:
    parts = getattr(optic, "lenses", None)
    if parts is not None:
        return " & ".join(map(_name, parts))
    return getattr(optic, "name", None) or repr(optic)
