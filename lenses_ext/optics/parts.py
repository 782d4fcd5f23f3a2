"""Makers of lenses onto the parts of a pattern: its name, its properties, some of its elements.

A `Vocabulary` has all parts of the patterns with some labels. `lenses_ext.language.agent` and
`lenses_ext.language.tool_spec` declare them. The lenses, the words of paths and the validation come
from there, so that a new property is one line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

import attrs
from pyrsistent import PMap, pmap

from gram import GramError, Pattern, Subject, Value, is_reference
from gram.errors import expect

from ..errors import FocusError, MissingPartError, PartError, value_in_words
from . import typed
from .typed import Lens, lens_of
from .using import put, view

A = TypeVar("A")
B = TypeVar("B")


class Codec(NamedTuple, Generic[A, B]):
    """How a property is read and written; both raise one of our errors for what they refuse.

    Attributes:
        decode: gives what the lens shows for the value in the notation.
        encode: gives the value in the notation for what is put.
    """

    decode: Callable[[Any], A]
    encode: Callable[[B], Any]


def text(value: object) -> str:
    """The value itself, which has to be a string.

    Raises:
        PartError: it is not one.
    """
    if not isinstance(value, str):
        raise PartError(f"expected str, found {shown_type(value)} {value_in_words(value)}")
    return value


TEXT: Codec[str, str] = Codec(text, text)
"""The codec of a property that holds a string."""


def identity(name: str, doc: str = "") -> Lens[Pattern, str]:
    """The lens onto a pattern's identity, which is never empty; ``doc`` is what ``help`` says."""

    def get(pattern: Pattern) -> str:
        if not pattern.value.identity:
            raise MissingPartError("no name")
        return pattern.value.identity

    def set_(pattern: Pattern, new: str) -> Pattern:
        if not text(new):
            raise PartError("a name cannot be empty")
        return _with_subject(pattern, identity=new)

    return lens_of(name, get, set_, "value.identity", doc)


def any_property(key: str, *inside: str) -> Lens[Pattern, Value | None]:
    """The lens onto a property of any type, or along ``inside`` onto an entry of the map it is.

    What is absent is None, and setting None removes it. Get-put and put-get hold always. Put-put
    holds of a property; along ``inside`` it fails where a map on the way is missing, since setting
    makes that map and setting None again leaves it, empty.

    >>> from gram import dumps, loads_one
    >>> from lenses_ext import put
    >>> agent = loads_one("(a {settings: {seed: 1}})")
    >>> dumps(put(any_property("settings", "seed"), 2, agent))
    '(a {settings: {seed: 2}})'
    """

    def entries(value: Any, depth: int) -> PMap[str, Value]:
        if value is None:
            return pmap()
        if not isinstance(value, PMap):
            where = ".".join((key, *inside[:depth]))
            raise PartError(f"{where} is not a map but {shown_type(value)}")
        return value

    def get(pattern: Pattern) -> Value | None:
        value: Any = pattern.value.properties.get(key)
        for depth, step in enumerate(inside):
            value = entries(value, depth).get(step)
        found: Value | None = value
        return found

    def set_(pattern: Pattern, new: Any) -> Pattern:
        return _with_property(pattern, key, changed(pattern.value.properties.get(key), 0, new))

    def changed(value: Any, depth: int, new: Any) -> Any:
        if depth == len(inside):
            return new
        around: Any = entries(value, depth)
        below = changed(around.get(inside[depth]), depth + 1, new)
        if below is not None:
            return around.set(inside[depth], below)
        return value if value is None else around.discard(inside[depth])  # no map for nothing

    name = ".".join((key, *inside))
    return lens_of(f"property({name!r})", get, set_, f"value.properties.{name}")


def elements_with(
    name: str, chosen: Callable[[Pattern], bool], what: str, doc: str = ""
) -> Lens[Pattern, tuple[Pattern, ...], Iterable[Pattern]]:
    """The lens onto some of the elements; the others stay where they are.

    New elements take the places of the old ones in order; more than before go behind the last of
    them, and places left over are given up. So get-put and put-get hold always. Put-put holds
    while their number stays the same, and wherever there are no other elements beside them; else
    a place that was given up is not found again.

    Args:
        name: the name of the lens.
        chosen: whether an element is one of them.
        what: what they are, for errors: "expected a pattern labelled Tool".
        doc: what ``help`` says of it.
    """

    def get(pattern: Pattern) -> tuple[Pattern, ...]:
        return tuple(filter(chosen, pattern.elements))

    def set_(pattern: Pattern, new: Iterable[Pattern]) -> Pattern:
        if isinstance(new, Pattern | str | Mapping) or not isinstance(new, Iterable):
            raise PartError(f"expected patterns, found {shown_type(new)}")
        queue = list(new)
        for each in queue:
            if not isinstance(each, Pattern) or not chosen(each):
                found = repr(each) if isinstance(each, Pattern) else shown_type(each)
                raise PartError(f"expected {what}, found {found}")
        places = [place for place, each in enumerate(pattern.elements) if chosen(each)]
        last = places[-1] if places else len(pattern.elements) - 1
        common = min(len(places), len(queue))
        taken: dict[int, Pattern | None] = dict.fromkeys(places)
        taken.update(zip(places, queue, strict=False))
        kept = [taken.get(place, old) for place, old in enumerate(pattern.elements[: last + 1])]
        elements = (*filter(None, kept), *queue[common:], *pattern.elements[last + 1 :])
        return attrs.evolve(pattern, elements=elements)

    return lens_of(name, get, set_, "elements", doc)


def each_of(
    name: str, children: Lens[Pattern, tuple[Pattern, ...], Iterable[Pattern]], doc: str = ""
) -> typed.Traversal[Pattern, Pattern]:
    """The traversal over the patterns that a lens shows as a tuple."""

    def builder(pattern: Pattern, new: Iterable[Pattern]) -> Pattern:
        return put(children, tuple(new), pattern)

    return typed.traversal_of(name, lambda state: view(children, state), builder, doc)


def with_elements(optic: str, pattern: Pattern, elements: Iterable[Pattern]) -> Pattern:
    """``pattern`` with other elements; ``optic`` is the lens or edit that puts them.

    Raises:
        FocusError: it would nest too deeply.
    """
    try:
        return attrs.evolve(pattern, elements=tuple(elements))
    except GramError as error:
        raise typed.refusal(optic, "elements", pattern, error) from None


def expect_definition(pattern: Pattern) -> None:
    """Refuse a bare name, whose parts are those of the definition elsewhere.

    Raises:
        PartError: the pattern is a bare name.
    """
    if is_reference(pattern):
        reason = f'"{pattern.value.identity}" is the bare name of what is defined elsewhere'
        raise PartError(reason, "put the definition in its place first, with resolve")


def shown_type(value: object) -> str:
    """The type of a value, for messages."""
    return "None" if value is None else type(value).__name__


def _with_property(pattern: Pattern, key: str, value: Any) -> Pattern:
    """``pattern`` with a property set, or without it for None."""
    properties: PMap[str, Any] = pattern.value.properties
    if value is None and key not in properties:
        return pattern
    changed = properties.remove(key) if value is None else properties.set(key, value)
    return _with_subject(pattern, properties=changed)


def _with_subject(pattern: Pattern, **changes: Any) -> Pattern:
    return attrs.evolve(pattern, value=attrs.evolve(pattern.value, **changes))


G = TypeVar("G", bound=typed.Getter[Any, Any])


class Vocabulary:
    """What the patterns with some labels consist of.

    Args:
        prefix: what the names of its lenses begin with.
        labels: the labels that are read.

    Attributes:
        properties: the lenses onto the properties that mean something, by key; a pattern may have
            others of its own.
        needed: the keys of those that have to be there.
        words: the lens or getter for each word of a path that is not a property.
    """

    def __init__(self, prefix: str, labels: frozenset[str]) -> None:
        self._prefix, self._labels = prefix, labels
        self.properties: dict[str, Lens[Pattern, Any, Any]] = {}
        self.needed: set[str] = set()
        self.words: dict[str, typed.Getter[Pattern, Any]] = {}

    def required(
        self, key: str, codec: Codec[A, B], doc: str, name: str = ""
    ) -> Lens[Pattern, A, B]:
        """Declare a property that has to be there; gives its lens, whose ``help`` is ``doc``."""
        self.needed.add(key)
        return self._property(key, codec, f"{doc}.", name)

    def optional(
        self, key: str, codec: Codec[A, B], doc: str, name: str = ""
    ) -> Lens[Pattern, A | None, B | None]:
        """Declare a property that may be absent; gives its lens, which shows None then.

        Setting None removes it.
        """
        return self._property(key, codec, f"{doc}; None if it does not say.", name)

    def _property(
        self, key: str, codec: Codec[Any, Any], doc: str, name: str
    ) -> Lens[Pattern, Any, Any]:
        is_needed = key in self.needed

        def get(pattern: Pattern) -> Any:
            found: Any = pattern.value.properties.get(key)
            if found is None and is_needed:
                expect_definition(pattern)
                raise MissingPartError("no such property")
            return None if found is None else codec.decode(found)

        def set_(pattern: Pattern, new: Any) -> Pattern:
            given = codec.encode(new) if is_needed or new is not None else None
            return _with_property(pattern, key, given)

        name, path = name or f"{self._prefix}_{key}", f"value.properties.{key}"
        self.properties[key] = lens = lens_of(name, get, set_, path, doc)
        return lens

    def word(self, word: str, lens: G) -> G:
        """Declare the word by which paths name a part that is not a property; gives its lens."""
        self.words[word] = lens
        return lens

    def prism(self, name: str) -> typed.Prism[Pattern, Pattern]:
        """The prism onto a pattern that has one of the labels."""
        labels = " or ".join(sorted(self._labels))

        def matches(state: object) -> bool:
            return isinstance(state, Pattern) and bool(state.value.labels & self._labels)

        def pack(focus: Pattern) -> Pattern:
            if not matches(focus):
                error = PartError(f"expected the label {labels}")
                raise typed.refusal(name, "value.labels", focus, error)
            return focus

        doc = f"A pattern itself, if it is labelled {labels}."
        return typed.prism_of(name, matches, pack, doc)

    def make(self, by: str, name: str, label: str, properties: Mapping[str, Any]) -> Pattern:
        """Make a pattern of its name, its label and its properties but those that are None.

        Args:
            by: the function that makes it, for errors.
            name: its identity.
            label: the label that is written.
            properties: the properties by key.

        Raises:
            FocusError: the name or a property is empty, or has no notation.
        """
        expect(name, str, "name", by=by)
        placeholders = dict.fromkeys(self.needed, "?/?")
        pattern = put(identity(by), name, Pattern(Subject("?", {label}, placeholders)))
        for key, value in properties.items():
            if isinstance(value, str) and not value.strip():
                raise FocusError(by, f"value.properties.{key}", pattern, f"the {key} is empty")
            if value is not None or key in self.needed:
                pattern = put(self.properties[key], value, pattern)
        return pattern
