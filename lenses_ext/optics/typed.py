"""Typed lenses, getters, traversals and prisms over the ``lenses`` library.

This is the only file that imports ``lenses``. The four classes here are its unbound lenses with
types, names and our errors: ``p & agent_name.set("x")``, composing with ``&`` and everything else
that package offers works on them. `view`, `put`, `over` and `collect` are in `using`.

A lens looks at exactly one part, a getter at a computed one, a traversal at any number, a prism at
one that may be missing. None invents a default: a part that is missing or of another type is a
`FocusError`, when setting as when getting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from lenses import UnboundLens, optics
from lenses.maybe import Just, Nothing

from gram import ArgumentError, GramEncodeError, GramError, Pattern
from gram.errors import expect

from ..errors import FocusError, ManyPartsError, PartError, ReadOnlyError

S = TypeVar("S")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
S_contra = TypeVar("S_contra", contravariant=True)
A_co = TypeVar("A_co", covariant=True)


class _Documentation:
    """A docstring that says of an optic what it looks at, so that ``help(agent_model)`` does."""

    def __init__(self, of_the_class: str | None) -> None:
        self._of_the_class = of_the_class

    def __get__(self, optic: Any, _: object) -> str | None:
        if optic is None:
            return self._of_the_class
        of_this_one = getattr(optic._optic, "doc", "") or self._of_the_class
        return f"{of_this_one}\n\n{_HOW_TO_USE}"


_HOW_TO_USE = """A Lens or Getter is read with view(lens, pattern), a Traversal with
collect(traversal, pattern), a Prism with preview(prism, pattern). All but a Getter can be set:
put(lens, value, pattern) and over(lens, function, pattern) give a new pattern. They compose:
each_agent & agent_model."""

if TYPE_CHECKING:
    import typing_extensions  # it has type variables with defaults, Python only from 3.13 on

    New = typing_extensions.TypeVar("New", contravariant=True, default=A_co)

    class _Optic:
        """What checkers see of the base class: a base of type Any would hide every mistake."""

        _optic: Any

        def __init__(self, optic: object) -> None: ...

else:
    New = TypeVar("New", contravariant=True)

    class _Optic(UnboundLens):
        """What the four classes share: a composition gets the class that fits it, and a name."""

        __slots__ = ()

        __iter__ = __contains__ = None  # every index gives a lens, so neither would ever end
        __class_getitem__ = classmethod(GenericAlias)  # takes two or three types

        def _compose_optic(self, optic):
            return _typed(self._optic.compose(_exact(optic)))

        def _wrap_optic(self, optic):
            return _typed(optic(self._optic))

        def __init_subclass__(cls):
            cls.__doc__ = _Documentation(cls.__doc__)

        def get(self):
            """Refused: ``lenses`` would give the first part and hide the others."""
            raise ManyPartsError(optic_name(self))

        def set(self, newvalue):
            """Refused: what a getter shows is computed."""
            raise ReadOnlyError(optic_name(self))

        set_many = modify = set

        def __repr__(self):
            path = getattr(self._optic, "path", "")
            name = f"{_name(self._optic)}: {path}" if path else _name(self._optic)
            return f"<{type(self).__name__} {name}>"

        def __copy__(self):
            return self

        def __deepcopy__(self, memo):
            return self


class Change(Generic[S_contra, A_co]):
    """A function of a whole, called as ``change(whole)`` or ``whole & change``."""

    def __init__(self, function: Callable[[S_contra], A_co]) -> None:
        self._function = function

    def __call__(self, whole: S_contra) -> A_co:
        """The function's result."""
        return self._function(whole)

    def __rand__(self, whole: S_contra) -> A_co:
        return self._function(whole)


class Getter(_Optic, Generic[S_contra, A_co]):
    """Looks at one computed part, which cannot be set."""

    __slots__ = ()

    if TYPE_CHECKING:  # what `lenses` does for every attribute and item

        def __getattr__(self, name: str) -> Getter[S_contra, Any]: ...
        def __getitem__(self, key: Any) -> Getter[S_contra, Any]: ...

    def get(self) -> Change[S_contra, A_co]:
        """A function from the whole to the part."""
        return Change(lambda whole: self._optic.to_list_of(whole)[0])

    @overload
    def __and__(self, other: Getter[A_co, C]) -> Getter[S_contra, C]: ...
    @overload
    def __and__(self, other: Any) -> Any: ...
    def __and__(self, other: Any) -> Any:
        return _composed(self, other)


class Settable(_Optic, Generic[S, A_co, New]):
    """What can be set: a lens or a traversal."""

    __slots__ = ()

    def set(self, newvalue: New) -> Change[S, S]:
        """A function that sets every part."""
        return Change(lambda whole: self._optic.set(whole, newvalue))

    def set_many(self, new_values: Iterable[New]) -> Change[S, S]:
        """A function that sets the parts to as many values, in order."""
        expect(new_values, Iterable, "new_values", by="set_many")
        return Change(lambda whole: self._optic.iterate(whole, new_values))

    def modify(self, func: Callable[[A_co], New]) -> Change[S, S]:
        """A function that changes every part."""
        expect(func, Callable, "func", by="modify")
        return Change(lambda whole: self._optic.over(whole, func))


class Lens(Getter[S, A_co], Settable[S, A_co, New]):
    """Looks at exactly one part, which can be set.

    ``Lens[S, A, B]`` looks from an S at an A, and takes a B to be put; B is A when left out. Its
    attributes and items are lenses onto those of the part.
    """

    __slots__ = ()

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Lens[S, Any, Any]: ...
        @overload
        def __getitem__(self: Lens[B, tuple[C, ...], Any], key: int) -> Lens[B, C, C]: ...
        @overload
        def __getitem__(self, key: Any) -> Lens[S, Any, Any]: ...
        def __getitem__(self, key: Any) -> Any: ...

    @overload  # type: ignore[override]  # a lens composed with a lens is more than a getter
    def __and__(self, other: Lens[A_co, C, D]) -> Lens[S, C, D]: ...
    @overload
    def __and__(self, other: Getter[A_co, C]) -> Getter[S, C]: ...
    @overload
    def __and__(self, other: Traversal[A_co, C, D]) -> Traversal[S, C, D]: ...
    @overload
    def __and__(self, other: Any) -> Any: ...
    def __and__(self, other: Any) -> Any:
        return _composed(self, other)


class Traversal(Settable[S, A_co, New]):
    """Looks at any number of parts, which can be set."""

    __slots__ = ()

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Traversal[S, Any, Any]: ...
        def __getitem__(self, key: Any) -> Traversal[S, Any, Any]: ...

    @overload
    def __and__(self, other: Settable[A_co, C, D]) -> Traversal[S, C, D]: ...
    @overload
    def __and__(self, other: Any) -> Any: ...
    def __and__(self, other: Any) -> Any:
        return _composed(self, other)


class Prism(Traversal[S, A_co, New]):
    """Looks at one part that may be missing, and can make the whole from it."""

    __slots__ = ()

    def construct(self, focus: New) -> S:
        """The whole that a part makes."""
        whole: S = self._optic.re().view(focus)
        return whole


def _composed(optic: Any, other: Any) -> Any:
    if not isinstance(other, UnboundLens) and not callable(other):
        found = type(other).__name__
        raise ArgumentError(f"{optic_name(optic)} & …: expected a lens or a function, got {found}")
    return UnboundLens.__and__(optic, other)


# --- making them


def _named(optic: Any, name: str, doc: str, path: str = "") -> Any:
    """An optic of ``lenses`` under the name that errors and reprs show."""
    optic.name, optic.doc, optic.path = name, doc, path
    if isinstance(optic, optics.Getter):  # `lenses` makes a functor of each part first
        optic.to_list_of = lambda state: [optic.getter(state)]
    elif isinstance(optic, optics.Traversal):
        optic.to_list_of = lambda state: [*optic.folder(state)]
    return optic


def _of_pattern(name: str, path: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a pattern, whose errors become a `FocusError` of the optic."""

    def guarded(state: object, *new: Any) -> Any:
        if not isinstance(state, Pattern):
            is_document = isinstance(state, tuple) and all(isinstance(e, Pattern) for e in state)
            hint = f"look into its agents: each_agent & {name}" if is_document else None
            raise FocusError(name, "the root", state, "expected a Pattern", hint)
        try:
            return function(state, *new)
        except FocusError:
            raise  # it is of another optic, which this one is made of
        except GramError as error:
            raise refusal(name, path, state, error) from error

    return guarded


def refusal(name: str, path: str, pattern: object, error: GramError) -> FocusError:
    """The `FocusError` of an optic or edit for one of our errors that was raised inside of it."""
    if isinstance(error, PartError):
        return FocusError(name, path, pattern, error.reason, error.hint, error.is_missing)
    reason = error.msg if isinstance(error, GramEncodeError) else str(error)
    return FocusError(name, path, pattern, reason)


def lens_of(
    name: str,
    getter: Callable[[Pattern], A],
    setter: Callable[[Pattern, B], Pattern],
    path: str = "",
    doc: str = "",
) -> Lens[Pattern, A, B]:
    """A lens of two functions.

    Whatever the two raise of our errors becomes a `FocusError` that names the lens, the path and
    the pattern. They raise `PartError` where nothing else says what is wrong.

    Args:
        name: what errors and ``repr`` call it.
        getter: gives the part of a pattern.
        setter: gives the pattern with another part.
        path: where the part is, such as ``value.properties.model``.
        doc: what ``help`` says of it.
    """
    expect(name, str, "name", by="lens_of")
    expect(getter, Callable, "getter", by="lens_of")
    expect(setter, Callable, "setter", by="lens_of")
    get, set_ = (_of_pattern(name, path, each) for each in (getter, setter))
    return Lens(_named(optics.Lens(get, set_), name, doc, path))


def computed(
    name: str, getter: Callable[[Pattern], A], path: str = "", doc: str = ""
) -> Getter[Pattern, A]:
    """A getter of a function of the pattern; see `lens_of`."""
    made = optics.Getter(_of_pattern(name, path, getter))
    return Getter(_named(made, name, doc, path))


def traversal_of(
    name: str,
    folder: Callable[[S], Iterable[A]],
    builder: Callable[[S, Iterable[B]], S],
    doc: str = "",
) -> Traversal[S, A, B]:
    """A traversal of two functions: the parts of a whole, and the whole with as many others."""
    return Traversal(_named(optics.Traversal(folder, builder), name, doc))


def prism_of(
    name: str, matches: Callable[[object], bool], pack: Callable[[A], A], doc: str = ""
) -> Prism[A, A]:
    """A prism onto the whole itself where it ``matches``; ``pack`` checks one before it is set."""
    made = optics.Prism(lambda state: Just(state) if matches(state) else Nothing(), pack)
    return Prism(_named(made, name, doc))


class _Attribute(optics.GetattrLens):  # type: ignore[misc]  # lenses is untyped
    """The attribute of what a lens looks at, with our error where there is none."""

    def getter(self, state: Any) -> Any:
        return self._tried(state, super().getter, state)

    def setter(self, state: Any, new: Any) -> Any:
        self.getter(state)
        return self._tried(state, super().setter, state, new)

    def _tried(self, state: Any, function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except GramError as error:  # there is one, which takes no such value
            raise refusal(self.name, "", state, error) from None
        except (AttributeError, TypeError):
            raise FocusError(self.name, "", state, "no such attribute") from None


class _Item(optics.GetitemLens):  # type: ignore[misc]  # lenses is untyped
    """The item of what a lens looks at, with our error where there is none."""

    def __init__(self, key: Any) -> None:
        super().__init__(key)
        self.name = f"[{key!r}]"

    def getter(self, state: Any) -> Any:
        try:
            return state[self.key]
        except (LookupError, TypeError):
            raise FocusError(self.name, "", state, "no such item", None, True) from None

    def setter(self, state: Any, new: Any) -> Any:
        self.getter(state)
        if not isinstance(state, tuple):
            return super().setter(state, new)
        items = list(state)  # `lenses` would leave a tuple as it is for an index below 0
        items[self.key] = new
        return tuple(items)


def _exact(optic: Any) -> Any:
    """An optic of ``lenses`` as one to be composed with ours.

    There an attribute is a traversal, because it may hold a lens that is looked through. None of
    ours does, so it is the lens that it seems to be.
    """
    if isinstance(optic, optics.ComposedLens):
        return optics.ComposedLens([*map(_exact, optic.lenses)])
    kind = type(optic)
    if kind is optics.GetZoomAttrTraversal or kind is optics.GetattrLens:
        return _Attribute(optic.name)
    return _Item(optic.key) if kind is optics.GetitemLens else optic


# --- what `lenses` composes, with our types and names

_CLASSES = {each.__name__: each for each in (Prism, Lens, Traversal, Getter)}


def _typed(optic: Any) -> Any:
    """An optic of ``lenses`` in our class for its kind; kinds we have none for stay raw."""
    return _CLASSES.get(optic.kind().__name__, UnboundLens)(optic)


def steps_of(optic: Any) -> list[Any]:
    """What an optic is composed of, outermost first."""
    inner = optic._optic
    return getattr(inner, "lenses", [inner])


def is_optic(value: object) -> bool:
    """Whether something is a lens, getter, traversal or prism, ours or of ``lenses``."""
    return isinstance(value, UnboundLens)


def optic_name(optic: object) -> str:
    """What messages call an optic: the name it was made under, or its repr if it is not ours."""
    return _name(optic._optic) if isinstance(optic, _Optic) else repr(optic)


def _name(optic: Any) -> str:
    parts = getattr(optic, "lenses", None)
    if parts is not None:
        return " & ".join(map(_name, parts))
    return getattr(optic, "name", None) or repr(optic)
