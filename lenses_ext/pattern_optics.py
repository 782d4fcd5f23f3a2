"""Makers of optics onto the parts of a pattern: its name, its properties, elements of some label.

The tables of `lenses_ext.agent` and `lenses_ext.tool_spec` are written with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import attrs

from gram import GramEncodeError, Pattern

from .errors import FocusError
from .optics import Lens, Prism, Traversal, lens_of, prism_of, put, traversal_of, view

A = TypeVar("A")


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
    them, and places left over are given up. So get-put and put-get hold always. Put-put holds
    while their number stays the same, and wherever no other element stands beside them; else a
    place given up is not found again.
    """
    wanted = frozenset(labels)
    path = "elements"

    def get(pattern: Pattern) -> tuple[Pattern, ...]:
        return tuple(each for each in pattern.elements if each.value.labels & wanted)

    def set_(pattern: Pattern, new: tuple[Pattern, ...]) -> Pattern:
        if isinstance(new, Pattern | str | Mapping) or not isinstance(new, Iterable):
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
        try:
            return attrs.evolve(pattern, elements=tuple(elements))
        except GramEncodeError as error:
            raise FocusError(name, path, pattern, error.msg) from None

    return lens_of(name, get, set_)


def each_of(name: str, children: Lens[Pattern, tuple[Pattern, ...]]) -> Traversal[Pattern, Pattern]:
    """The traversal over the patterns that a lens shows as a tuple."""

    def builder(pattern: Pattern, new: Iterable[Pattern]) -> Pattern:
        return put(children, tuple(new), pattern)

    return traversal_of(name, lambda state: view(children, state), builder)


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

    return prism_of(name, matches, pack)


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


def _expect(name: str, path: str, pattern: Pattern, value: Any, kind: type[A]) -> A:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        shown = f"expected {kind.__name__}, found {_kind(value)} {value!r:.60}"
        raise FocusError(name, path, pattern, shown)
    return value


def _kind(value: object) -> str:
    return "None" if value is None else type(value).__name__
