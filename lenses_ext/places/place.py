"""Paths in the words of the lenses, and the places they lead to: to look at, change and remove.

    hello_world_agent.model
    hello_world_agent.tools.sayHello.description
    *.tools.*.parameters.personName.default

The first word is the name of an agent, of a tool outside the agents, or of another pattern at the
top; ``*`` is any. A word with a dot, or with other characters than those of a symbol, is written in
backticks. `find_places` finds where a path leads.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from enum import Enum
from functools import partial
from typing import Any, TypeAlias

import attrs
from attrs import frozen

from gram import ArgumentError, GramDecodeError, GramError, loads, parse as parse_gram
from gram.errors import expect, expect_all
from gram.reading import quote, unescape
from gram.trees import Pattern, Symbol, TreePath, Value, carry_origin, pattern_at
from gram.writing import write_name

from ..errors import FocusError
from ..language import Model, is_arrows
from ..optics import Getter, any_property, over, put, view

ANY = "*"
"""The part of a path that fits every name."""

_WORD = re.compile(r"(?:`((?:[^`\\]|\\.)+)`|([^.`]+))(?:\.|\Z)")


class PathError(GramError, LookupError):
    """A text that is not a path, or a path that leads to nothing in a document.

    Attributes:
        path: the path as it was given.
    """

    def __init__(self, message: str, path: str) -> None:
        super().__init__(message)
        self.path = path


def read_path(text: str) -> tuple[str, ...]:
    """The words of a path.

    Raises:
        PathError: it is not a path.

    >>> read_path("a.tools.`math.add`.description")
    ('a', 'tools', 'math.add', 'description')
    """
    expect(text, str, "path", by="read_path")
    words: list[str] = []
    at = 0
    while at < len(text) or not words:
        found = _WORD.match(text, at)
        if found is None:
            raise PathError(f"{text!r} is not a path: expected a name at character {at + 1}", text)
        words.append(unescape(found[1]) if found[1] else found[2])
        at = found.end()
    if text.endswith("."):
        raise PathError(f"{text!r} is not a path: it ends with a dot", text)
    return tuple(words)


def write_path(words: Iterable[str]) -> str:
    """The path of some words."""

    def quoted(word: str) -> str:
        """In backticks when it has a dot or is neither a symbol nor a number."""
        if word == ANY or (word.isascii() and word.isdecimal()):
            return word
        return quote(word, "`") if "." in word else write_name(word)

    return ".".join(map(quoted, words))


def read_value(text: str, old: object) -> Pattern | Value | tuple[Pattern, ...]:
    """Read the text of a value: a plain string, or any other value in gram notation.

    Args:
        text: the text.
        old: the value that it replaces, or None. If it is a string or a model, the text is taken
            literally.

    Raises:
        GramDecodeError: a pattern is replaced, and the text is not a pattern.
    """
    if isinstance(old, str | Model):
        return text
    if isinstance(old, Pattern):
        return read_pattern(text)
    value = gram_value(text)
    if isinstance(old, tuple) and value == text:
        with suppress(GramDecodeError):  # what is empty or not gram is a text
            return loads(text) or text
    return value


def read_pattern(text: str, name: str = "VALUE") -> Pattern:
    """Read one pattern in gram notation.

    Args:
        text: the text.
        name: what messages call it.

    Raises:
        GramDecodeError: the text is not gram, or not exactly one pattern.
    """
    found = parse_gram(text, name).patterns
    if len(found) != 1:
        raise GramDecodeError(f"expected one pattern, found {len(found)}", text, 0, filename=name)
    return found[0]


def gram_value(text: str) -> Value:
    """Read a value in gram notation; a bare word, or a text that is no value, is a string."""
    try:
        document = parse_gram(f"{{value: {text}\n}}")
    except GramDecodeError:
        return text
    span = document.spans([0]).values["value"]
    if len(document.patterns) > 1 or document.text[slice(*span)] != text.strip():
        return text  # it is more than one value
    value = document.patterns[0].value.properties["value"]
    return value if not isinstance(value, Symbol) else text


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
    lens: Any = place.lens  # a getter refuses by itself
    if lens is not None:
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
