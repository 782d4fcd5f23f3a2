"""The places in a document that paths lead to: to look at, set, remove, and add to.

The vocabulary of the language says which words may follow an agent or a tool; after anything, the
key of a property may follow.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cached_property, partial
from typing import Any, Final, TypeAlias

import attrs
from attrs import frozen
from pyrsistent import PMap

from gram import (
    ArgumentError,
    Pattern,
    TreePath,
    did_you_mean,
    expect,
    expect_all,
    is_reference,
    pattern_at,
    walk,
)

from ..errors import FocusError
from ..labels import is_agent, is_tool
from ..language import (
    AGENTS,
    TOOL_SPECS,
    Vocabulary,
    agent_tool_specs,
    parameter,
    parameter_names,
    tool_parameters,
    tool_spec_schema,
)
from ..optics import Getter, any_property, computed, optic_name, over, view
from ..programs import Program
from ..signatures import with_shared_shapes
from .paths import ANY, PathError, read_path, write_path


class Kind(Enum):
    """What a path leads to: it decides which words may follow."""

    DOCUMENT = "document"
    PATTERN = "pattern"
    TOOLS = "tools"
    PARAMETERS = "parameters"
    PARAMETER = "parameter"
    PROPERTY = "property"
    PART = "part"


_NAMED = {Kind.PATTERN, Kind.PARAMETER}
"""What ``*`` leads to; parts and properties are named one by one."""

_HINTS: Final[Mapping[str, str]] = {
    "parameters": "they are written in the signature: gram set FILE {place}.signature '…'",
    "tools": "gram add FILE {place}.tools '[…]'",
    "schema": "it follows from the signature: gram set FILE {place}.signature '…'",
}


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
        except IndexError:
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


_DOCUMENT = Place((), Kind.DOCUMENT, ())


def find_places(patterns: Sequence[Pattern], path: str) -> tuple[Place, ...]:
    """The places in a document that a path leads to, in the order of the text.

    Raises:
        PathError: it is not a path, or leads nowhere; the message has the nearest names.
    """
    document = _Document(expect_all(patterns, Pattern, "patterns", by="find_places"))
    words = read_path(path)
    places: list[Place] = [_DOCUMENT]
    for count, word in enumerate(words):
        found: list[Place] = []
        known: dict[str, None] = {}
        for place in places:
            below = document.below(place)
            known.update(dict.fromkeys(below))
            if word == ANY:
                found.extend(child for child in below.values() if child.kind in _NAMED)
            elif word in below:
                found.append(below[word])
        if not found:
            raise PathError(_nowhere(path, words[:count], word, known), path)
        places = found
    return tuple(places)


def new_property(patterns: Sequence[Pattern], place: Place, key: str) -> Place:
    """The place of a property that a pattern, parameter or map does not have yet.

    Raises:
        PathError: it has it, or cannot have one, or the key is a word that means something else
            there, so that no path would lead to the property.
    """
    patterns = expect_all(patterns, Pattern, "patterns", by="new_property")
    expect(place, Place, "place", by="new_property")
    path = write_path((*place.words, key))
    below = _Document(patterns).below(place)
    if place.kind is Kind.PARAMETERS:
        hint = _HINTS["parameters"].format(place=write_path(place.words[:-1]))
        raise PathError(f"{place.path} has no properties to add to: {hint}", path)
    is_map = place.kind is Kind.PROPERTY and isinstance(place.get(patterns), PMap | None)
    if not is_map and place.kind not in _NAMED:
        raise PathError(f"{place.path} has no properties to add to: use gram set", path)
    new = below.get(key)
    if new is None:
        new = _property(place, key)
    elif new.kind is not Kind.PROPERTY:
        hint = _HINTS.get(key, "use gram set").format(place=place.path)
        raise PathError(f"`{key}` of {place.path} is a part of it, not a property; {hint}", path)
    if new.get(patterns) is not None:
        raise PathError(f"{path} is there already: use gram set", path)
    return new


def completions(patterns: Sequence[Pattern], begun: str) -> list[str]:
    """The paths that go on from one that is begun, by one word."""
    expect(begun, str, "begun", by="completions")
    patterns = expect_all(patterns, Pattern, "patterns", by="completions")
    words = begun.split(".")[:-1]  # a name with a dot is not completed
    try:
        places = find_places(patterns, ".".join(words)) if words else (_DOCUMENT,)
    except PathError:
        return []
    document = _Document(patterns)
    names = {ANY: None} | {name: None for place in places for name in document.below(place)}
    paths = (".".join([*words, write_path([name])]) for name in names)
    return [path for path in paths if path.startswith(begun)]


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
    for place, function in _pairs(changes):
        expect(place, Place, "place", by="change_places")
        place.pattern(patterns)
        expect(function, Callable, "function", by="change_places")
        by_path[place.tree_path][place.inside] = partial(_apply, place, function)
    return _changed(patterns, by_path)


def remove_places(patterns: Sequence[Pattern], places: Iterable[Place]) -> tuple[Pattern, ...]:
    """The patterns without some places: elements are taken out, optional properties removed.

    Of a tool that is used by its bare name, that name is taken out.

    Raises:
        FocusError: a part has to be there.
    """
    patterns = expect_all(patterns, Pattern, "patterns", by="remove_places")
    expect(places, Iterable, "places", by="remove_places")
    changes: _Changes = defaultdict(dict)
    for place in places:
        expect(place, Place, "place", by="remove_places")
        place.pattern(patterns)
        if place.lens is None:
            changes[place.reference or place.tree_path][()] = lambda _: ()
        else:
            changes[place.tree_path][place.inside] = partial(_remove, place)
    return _changed(patterns, changes)


# --- changing many places in one pass

_Change: TypeAlias = Callable[[Pattern], tuple[Pattern, ...]]
_Changes: TypeAlias = dict[TreePath, dict[tuple[str, ...], _Change]]
"""What becomes of a pattern at a path, by the part of it that is changed."""


def _pairs(changes: object) -> Iterator[tuple[Any, Any]]:
    expect(changes, Iterable, "changes", by="change_places")
    for each in changes:  # type: ignore[attr-defined]  # it is iterable
        if not isinstance(each, Sequence) or len(each) != 2:
            raise ArgumentError("change_places: each change is a place and a function")
        yield each[0], each[1]


def _apply(place: Place, function: Callable[[Any], Any], pattern: Pattern) -> tuple[Pattern, ...]:
    if place.lens is not None:
        lens: Any = place.lens  # a getter refuses by itself
        return (over(lens, function, pattern),)
    new = function(pattern)
    expect(new, Pattern, "value", by="change_places")
    return (new,)


def _remove(place: Place, pattern: Pattern) -> tuple[Pattern, ...]:
    try:
        return _apply(place, lambda _: None, pattern)
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


# --- what may follow a place


class _Document:
    """Finds the words that may follow a place, and where they lead."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self.patterns = patterns

    def below(self, place: Place) -> dict[str, Place]:
        """The words that may follow, each with the first place it leads to."""
        match place.kind:
            case Kind.DOCUMENT:
                found = self._top()
            case Kind.PATTERN:
                found = self._in_pattern(place)
            case Kind.TOOLS:
                found = self._tools(place)
            case Kind.PARAMETERS:
                found = _parameters(place, place.pattern(self.patterns))
            case Kind.PARAMETER:
                node = place.get(self.patterns)
                keys = sorted({*node.value.properties, "default", "description"})
                found = ((key, _property(place, key)) for key in keys)
            case Kind.PROPERTY:
                value = place.get(self.patterns)
                keys = sorted(value) if isinstance(value, PMap) else []
                found = ((key, _property(place, key)) for key in keys)
            case _:
                found = iter(())
        words: dict[str, Place] = {}
        for word, each in found:
            words.setdefault(word, each)
        return words

    def _top(self) -> Iterator[tuple[str, Place]]:
        """The agents at any depth, the tools outside them, and what else has a name at the top."""
        agents: set[TreePath] = set()
        for path, pattern in walk(self.patterns):
            name = pattern.value.identity
            if is_agent(pattern):
                agents.add(path)
            elif is_tool(pattern):
                if any(path[:depth] in agents for depth in range(1, len(path))):
                    continue
            elif len(path) > 1:
                continue
            if name:
                yield name, Place((name,), Kind.PATTERN, path)

    def _in_pattern(self, place: Place) -> Iterator[tuple[str, Place]]:
        """The parts of an agent or tool, then the properties."""
        pattern = place.pattern(self.patterns)
        properties = pattern.value.properties
        if is_agent(pattern):
            yield from _parts(place, AGENTS, properties)
        elif is_tool(pattern):
            yield "schema", _part(place, "schema", self._schema(place.tree_path))
            yield "parameters", _part(place, "parameters", tool_parameters, Kind.PARAMETERS)
            yield from _parts(place, TOOL_SPECS, properties)
        for key in sorted(properties):
            yield key, _property(place, key)

    def _tools(self, place: Place) -> Iterator[tuple[str, Place]]:
        """The tools of an agent; one that is used by its bare name is found where it is defined."""
        agent = place.pattern(self.patterns)
        for index, element in enumerate(agent.elements):
            name, here = element.value.identity, (*place.tree_path, index)
            words = (*place.words, name)
            if is_tool(element) and name:
                yield name, Place(words, Kind.PATTERN, here)
            elif is_reference(element):
                is_seen = place.tree_path in self._program.agents
                known = self._program.meant(name, place.tree_path) if is_seen else ()
                tool = next((each for each in known if is_tool(each.pattern)), None)
                if tool is not None:
                    yield name, Place(words, Kind.PATTERN, tool.path, reference=here)
                elif not known:  # it means nothing, and can be replaced or removed
                    yield name, Place(words, Kind.PATTERN, here)

    def _schema(self, path: TreePath) -> Getter[Pattern, Any]:
        """The getter of the schema of a tool, which may use types that are defined around it."""
        if path not in self._program.tools:
            return tool_spec_schema
        types = self._program.types_seen(self._program.tools[path].scope)
        return computed(
            optic_name(tool_spec_schema),
            lambda tool: view(tool_spec_schema, with_shared_shapes(tool, types)),
        )

    @cached_property
    def _program(self) -> Program:
        return Program(self.patterns)


def _parts(
    place: Place, vocabulary: Vocabulary, properties: Mapping[str, Any]
) -> Iterator[tuple[str, Place]]:
    """The words of a vocabulary, and its properties."""
    for word, lens in vocabulary.words.items():
        kind = Kind.TOOLS if lens is agent_tool_specs else Kind.PART
        yield word, _part(place, word, lens, kind)
    for key, each in vocabulary.properties.items():
        if not isinstance(properties.get(key), PMap):  # of a map, each entry can be reached
            yield key, attrs.evolve(_property(place, key), lens=each.lens)


def _parameters(place: Place, tool: Pattern) -> Iterator[tuple[str, Place]]:
    for name in parameter_names(tool):
        yield name, _part(place, name, parameter(name), Kind.PARAMETER)


def _part(place: Place, word: str, lens: Getter[Pattern, Any], kind: Kind = Kind.PART) -> Place:
    inside = (*place.inside, word)
    return Place((*place.words, word), kind, place.tree_path, lens, inside)


def _property(place: Place, key: str) -> Place:
    """A property of the pattern or parameter at a place, or an entry of the map it is."""
    keys, inside = (*place.keys, key), (*place.inside, key)
    lens: Getter[Pattern, Any] = any_property(*keys)
    if len(inside) > len(keys):
        lens = parameter(inside[1]) & lens
    return Place((*place.words, key), Kind.PROPERTY, place.tree_path, lens, inside, keys)


def _nowhere(path: str, before: Sequence[str], word: str, known: Iterable[str]) -> str:
    where = f"`{write_path(before)}`" if before else "the document"
    if word == ANY:
        return f"`{path}` leads nowhere: {where} has no names for *"
    hint = did_you_mean(word, known) or f"it has: {', '.join(known) or 'nothing'}"
    return f"`{path}` leads nowhere: {where} has no `{word}`; {hint}"
