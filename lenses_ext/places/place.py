"""A place in a document: to look at, to change, to remove; many places in one pass."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from functools import partial
from typing import Any, TypeAlias

import attrs
from attrs import frozen

from gram import ArgumentError, Pattern, TreePath, pattern_at
from gram.errors import expect, expect_all
from gram.trees import carry_origin

from ..errors import FocusError
from ..language import is_arrows
from ..optics import Getter, any_property, over, put, view
from .paths import PathError, write_path


class Kind(Enum):
    """What a path leads to: it decides which words may follow."""

    DOCUMENT = "document"
    PATTERN = "pattern"
    TOOLS = "tools"
    NODES = "nodes"
    ARROWS = "arrows"
    PARAMETERS = "parameters"
    PARAMETER = "parameter"
    PROPERTY = "property"
    PART = "part"

    @property
    def holds_elements(self) -> bool:
        """Whether it is a list of elements, to which another can be added."""
        return self in (Kind.TOOLS, Kind.NODES, Kind.ARROWS)


@frozen
class Place:
    """A part of a document that a path leads to.

    Attributes:
        words: the words of its path, every ``*`` replaced by a name.
        kind: what it is.
        tree_path: the path of the pattern that it is, or is in.
        lens: from that pattern onto the part; None for the pattern itself.
        inside: the words from that pattern to the part.
        keys: of a property, its key, behind those of the maps around it.
        reference: where a tool is used by its bare name, the path of that name.
    """

    words: tuple[str, ...]
    kind: Kind
    tree_path: TreePath
    lens: Getter[Pattern, Any] | None = None
    inside: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    reference: TreePath | None = None

    @property
    def path(self) -> str:
        """The path that leads to this place alone."""
        return write_path(self.words)

    def pattern(self, patterns: Sequence[Pattern]) -> Pattern:
        """The pattern that it is, or is in.

        Raises:
            PathError: the place is one in another document.
        """
        expect(patterns, Sequence, "patterns", by="Place")
        try:
            expect(patterns[self.tree_path[0]], Pattern, "patterns", by="Place")
            return pattern_at(patterns, self.tree_path)
        except LookupError:
            raise PathError(f"{self.path} is not a place in these patterns", self.path) from None

    def get(self, patterns: Sequence[Pattern]) -> Any:
        """What is there; None for a part that may be absent, and is.

        Raises:
            FocusError: the part is missing or of the wrong type.
            PathError: the place is one in another document.
        """
        pattern = self.pattern(patterns)
        return pattern if self.lens is None else view(self.lens, pattern)

    def set(self, patterns: Sequence[Pattern], value: Any) -> tuple[Pattern, ...]:
        """The patterns with another value there; see `change_places`.

        Raises:
            FocusError: the part cannot have this value.
            ReadOnlyError: the part is computed.
        """
        return change_places(patterns, [(self, lambda _: value)])

    def remove(self, patterns: Sequence[Pattern]) -> tuple[Pattern, ...]:
        """The patterns without it; see `remove_places`.

        Raises:
            FocusError: it has to be there.
        """
        return remove_places(patterns, [self])


def change_places(
    patterns: Sequence[Pattern], changes: Iterable[tuple[Place, Callable[[Any], Any]]]
) -> tuple[Pattern, ...]:
    """The patterns with some places changed, all in one pass.

    Args:
        patterns: the patterns of the document.
        changes: places, each with a function from what is there to what is there then. Places
            inside others come first. Of several paths to one place the last one counts.

    Raises:
        FocusError: a part cannot have its value.
        ReadOnlyError: a part is computed.
    """
    patterns = expect_all(patterns, Pattern, "patterns", by="change_places")
    by_path: _Changes = defaultdict(dict)
    expect(changes, Iterable, "changes", by="change_places")
    for each in changes:
        if not isinstance(each, Sequence) or len(each) != 2:
            raise ArgumentError("change_places: each change is a place and a function")
        place, function = each
        expect(place, Place, "place", by="change_places")
        place.pattern(patterns)
        expect(function, Callable, "function", by="change_places")
        by_path[place.tree_path][place.inside] = partial(_apply, place, function)
    return _changed(patterns, by_path)


def remove_places(patterns: Sequence[Pattern], places: Iterable[Place]) -> tuple[Pattern, ...]:
    """The patterns without some places: elements are taken out, optional properties removed.

    Of a tool that is used by its bare name, that name is taken out.

    Raises:
        FocusError: a part has to be there, or a node is one that only arrows name.
    """
    patterns = expect_all(patterns, Pattern, "patterns", by="remove_places")
    expect(places, Iterable, "places", by="remove_places")
    changes: _Changes = defaultdict(dict)
    for place in places:
        expect(place, Place, "place", by="remove_places")
        place.pattern(patterns)
        if place.reference and is_arrows(pattern_at(patterns, place.reference[:-1])):
            name = place.words[-1]
            reason = f'"{name}" is named in arrows: remove these'
            raise FocusError("remove_places", place.path, place.pattern(patterns), reason)
        if place.lens is None:
            changes[place.reference or place.tree_path][()] = lambda _: ()
        else:
            changes[place.tree_path][place.inside] = partial(_remove, place)
    return _changed(patterns, changes)


# --- changing many places in one pass

_Change: TypeAlias = Callable[[Pattern], tuple[Pattern, ...]]
_Changes: TypeAlias = dict[TreePath, dict[tuple[str, ...], _Change]]
"""What becomes of a pattern at a path, by the part of it that is changed."""


def _apply(place: Place, function: Callable[[Any], Any], pattern: Pattern) -> tuple[Pattern, ...]:
    if place.lens is not None:
        lens: Any = place.lens  # a getter refuses by itself
        return (over(lens, function, _without_wrong_type(place, pattern)),)
    new = function(pattern)
    expect(new, Pattern, "value", by="change_places")
    return (new,)


def _without_wrong_type(place: Place, pattern: Pattern) -> Pattern:
    """The pattern; a property of a wrong type is left out, or blank where it is needed.

    No lens looks at such a property, and it can be set all the same.
    """
    if place.lens is None or not place.keys or place.keys != place.inside:
        return pattern
    try:
        view(place.lens, pattern)
        return pattern
    except FocusError as error:
        if error.is_missing:
            return pattern
    changed = put(any_property(*place.keys), None, pattern)
    try:
        view(place.lens, changed)
    except FocusError:  # it is needed
        changed = put(any_property(*place.keys), "?/?", pattern)  # a text, and a model
    return carry_origin(changed, pattern)


def _remove(place: Place, pattern: Pattern) -> tuple[Pattern, ...]:
    try:
        # what is there then: of a list, which may be empty, no items
        return _apply(place, lambda old: () if isinstance(old, tuple) else None, pattern)
    except FocusError as error:
        reason = f"{place.words[-1]} has to be there"
        raise FocusError(error.optic, error.path, error.pattern, reason) from None


def _changed(patterns: Sequence[Pattern], changes: _Changes) -> tuple[Pattern, ...]:
    """The patterns with the changes made, those inside a pattern before its own."""
    below: dict[TreePath, set[int]] = defaultdict(set)
    for path in changes:
        for depth, index in enumerate(path):
            below[path[:depth]].add(index)

    def elements(old: Sequence[Pattern], path: TreePath) -> Iterator[Pattern]:
        for index, each in enumerate(old):
            if index in below[path]:
                yield from changed(each, (*path, index))
            else:
                yield each

    def changed(pattern: Pattern, path: TreePath) -> tuple[Pattern, ...]:
        new: tuple[Pattern, ...] = (pattern,)
        if path in below:
            new = (attrs.evolve(pattern, elements=tuple(elements(pattern.elements, path))),)
        for change in changes.get(path, {}).values():
            new = change(*new) if new else ()
        return new

    return tuple(elements(patterns, ()))
