"""The places in a document that paths lead to: to look at, set, remove, and add to.

What a word of a path may be is told by where it stands: after an agent one of its lenses or
``tools``, after a tool one of its lenses or ``parameters``, after anything the key of a property.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, Final

import attrs
from attrs import frozen
from pyrsistent import PMap

from gram import Pattern
from gram.near import did_you_mean
from gram.serializer import is_reference
from gram.walk import TreePath, pattern_at, replace_at, walk

from .agent import (
    agent_description,
    agent_instruction,
    agent_model,
    agent_name,
    agent_tool_specs,
)
from .errors import FocusError
from .labels import is_agent, is_tool
from .optics import Getter, Lens, put, view
from .parameters import parameter, parameter_names, tool_parameters
from .paths import ANY, PathError, read_path, write_path
from .properties import any_property
from .tool_spec import (
    tool_spec_description,
    tool_spec_name,
    tool_spec_schema,
    tool_spec_type_signature,
)

AGENT_WORDS: Final[Mapping[str, Lens[Pattern, Any]]] = {
    "name": agent_name,
    "description": agent_description,
    "instruction": agent_instruction,
    "model": agent_model,
}
TOOL_WORDS: Final[Mapping[str, Getter[Pattern, Any]]] = {
    "name": tool_spec_name,
    "description": tool_spec_description,
    "signature": tool_spec_type_signature,
    "schema": tool_spec_schema,
}


class Kind(Enum):
    """What a path leads to: it decides which words may follow."""

    DOCUMENT = "document"
    PATTERN = "pattern"
    TOOLS = "tools"
    PARAMETERS = "parameters"
    PARAMETER = "parameter"
    PROPERTY = "property"
    PART = "part"


_PROPERTIES = {"description", "instruction", "model"}
"""The words of agents and tools that are properties of the same name; the others are not."""

_HINTS: Final[Mapping[str, str]] = {
    "parameters": "they are written in the signature: gram set FILE {place}.signature '…'",
    "tools": "gram add FILE {place}.tools '[…]'",
    "schema": "it follows from the signature: gram set FILE {place}.signature '…'",
}

_NAMED = {Kind.PATTERN, Kind.PARAMETER}
"""What ``*`` stands for; parts and properties are named one by one."""


@frozen
class Place:
    """A part of a document that a path leads to.

    Attributes:
        words: the way there, every ``*`` replaced by a name.
        kind: what it is.
        tree_path: the pattern it is in, or that it is.
        lens: from that pattern onto the part; None for the pattern itself.
        keys: of a property, its key and those of the maps it is inside of.
        reference: of a tool that is used by name, where the name stands.
    """

    words: tuple[str, ...]
    kind: Kind
    tree_path: TreePath
    lens: Getter[Pattern, Any] | None = None
    keys: tuple[str, ...] = ()
    reference: TreePath | None = None

    @property
    def path(self) -> str:
        """The path that leads to this place alone."""
        return write_path(self.words)

    def get(self, patterns: Sequence[Pattern]) -> Any:
        """What stands there; None for a part that may be absent, and is.

        Raises:
            FocusError: the part is missing or ill-typed.
        """
        pattern = pattern_at(patterns, self.tree_path)
        return pattern if self.lens is None else view(self.lens, pattern)

    def set(self, patterns: Sequence[Pattern], value: Any) -> tuple[Pattern, ...]:
        """The patterns with another value there.

        Raises:
            FocusError: the value cannot stand there.
            ReadOnlyError: the part is computed.
        """
        if self.lens is None:
            return replace_at(patterns, self.tree_path, [value])
        changed: Pattern = put(self.lens, value, pattern_at(patterns, self.tree_path))  # type: ignore[arg-type]  # a getter refuses by itself
        return replace_at(patterns, self.tree_path, [changed])

    @property
    def stands_at(self) -> TreePath:
        """The element that has to go when it is removed: of a tool used by name, the name."""
        return self.tree_path if self.reference is None else self.reference

    def remove(self, patterns: Sequence[Pattern]) -> tuple[Pattern, ...]:
        """The patterns without it: an element is taken out, a property that may be absent removed.

        Raises:
            FocusError: it has to be there.
        """
        if self.lens is None:
            return replace_at(patterns, self.stands_at, [])
        try:
            return self.set(patterns, None)
        except FocusError as error:
            reason = f"{self.words[-1]} has to be there"
            raise FocusError(error.optic, error.path, error.pattern, reason) from None


_DOCUMENT = Place((), Kind.DOCUMENT, ())


def find_places(patterns: Sequence[Pattern], path: str) -> tuple[Place, ...]:
    """The places in a document that a path leads to, in the order of the text.

    Raises:
        PathError: the path is none, or leads nowhere; the message has the nearest names.
    """
    words = read_path(path)
    places: list[Place] = [_DOCUMENT]
    for count, word in enumerate(words):
        found: list[Place] = []
        known: dict[str, None] = {}
        for place in places:
            below = _words_below(patterns, place)
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
    path = write_path((*place.words, key))
    if place.kind not in (Kind.PATTERN, Kind.PARAMETER, Kind.PROPERTY):
        hint = _HINTS["parameters"].format(place=write_path(place.words[:-1]))
        hint = hint if place.kind is Kind.PARAMETERS else "use gram set"
        raise PathError(f"{place.path} has no properties to add to: {hint}", path)
    word = _words_below(patterns, place).get(key) if place.kind is Kind.PATTERN else None
    if word and word.kind is not Kind.PROPERTY and key not in _PROPERTIES:
        hint = _HINTS.get(key, "use gram set").format(place=place.path)
        raise PathError(f"`{key}` of {place.path} is no property but a part of it; {hint}", path)
    new = _property(place, (*place.keys, key))
    if place.kind is Kind.PARAMETER:
        node: Any = place.lens
        new = attrs.evolve(new, lens=node & new.lens)
    if new.get(patterns) is not None:
        raise PathError(f"{path} is there already: use gram set", path)
    return new


def completions(patterns: Sequence[Pattern], begun: str) -> list[str]:
    """The paths that go on from one that is begun, by one word."""
    words = begun.split(".")[:-1]  # a name with a dot is not completed
    try:
        places = find_places(patterns, ".".join(words)) if words else (_DOCUMENT,)
    except PathError:
        return []
    names = {ANY: None} | {name: None for place in places for name, _ in _below(patterns, place)}
    paths = (".".join([*words, write_path([name])]) for name in names)
    return [path for path in paths if path.startswith(begun)]


# --- what may follow a place


def _words_below(patterns: Sequence[Pattern], place: Place) -> dict[str, Place]:
    """The words that may follow, each with the first place it leads to."""
    below: dict[str, Place] = {}
    for word, each in _below(patterns, place):
        below.setdefault(word, each)
    return below


def _below(patterns: Sequence[Pattern], place: Place) -> Iterator[tuple[str, Place]]:
    """Every word that may follow, with the place it leads to; of equal words the first counts."""
    match place.kind:
        case Kind.DOCUMENT:
            yield from _top(patterns)
        case Kind.PATTERN:
            yield from _in_pattern(place, place.get(patterns))
        case Kind.TOOLS:
            yield from _tools_of(patterns, place)
        case Kind.PARAMETERS:
            tool = pattern_at(patterns, place.tree_path)
            for name in parameter_names(tool):
                yield name, _part(place, name, parameter(name), Kind.PARAMETER)
        case Kind.PARAMETER:
            node = place.get(patterns)
            lens: Any = place.lens
            for key in sorted({*node.value.properties, "default", "description"}):
                yield key, _part(place, key, lens & any_property(key))
        case Kind.PROPERTY:
            yield from _in_map(patterns, place)


def _part(place: Place, word: str, lens: Getter[Pattern, Any], kind: Kind = Kind.PART) -> Place:
    return Place((*place.words, word), kind, place.tree_path, lens)


def _top(patterns: Sequence[Pattern]) -> Iterator[tuple[str, Place]]:
    """The agents of a document, at any depth, and what else has a name at its top."""
    for path, pattern in walk(patterns):
        name = pattern.value.identity
        if name and (is_agent(pattern) or len(path) == 1):
            yield name, Place((name,), Kind.PATTERN, path)


def _in_pattern(place: Place, pattern: Pattern) -> Iterator[tuple[str, Place]]:
    words: Mapping[str, Getter[Pattern, Any]] = {}
    if is_agent(pattern):
        words = AGENT_WORDS
        yield "tools", _part(place, "tools", agent_tool_specs, Kind.TOOLS)
    elif is_tool(pattern):
        words = TOOL_WORDS
        yield "parameters", _part(place, "parameters", tool_parameters, Kind.PARAMETERS)
    for word, lens in words.items():
        yield word, _part(place, word, lens)
    for key in sorted(pattern.value.properties):
        yield key, _property(place, (key,))


def _property(place: Place, keys: tuple[str, ...]) -> Place:
    """A property of the pattern at a place, or along the keys an entry of the map it is."""
    lens = any_property(*keys)
    return Place((*place.words, keys[-1]), Kind.PROPERTY, place.tree_path, lens, keys)


def _in_map(patterns: Sequence[Pattern], place: Place) -> Iterator[tuple[str, Place]]:
    """The entries of a property that is a map."""
    value = place.get(patterns)
    if isinstance(value, PMap):
        for key in sorted(value):
            yield key, _property(place, (*place.keys, key))


def _tools_of(patterns: Sequence[Pattern], place: Place) -> Iterator[tuple[str, Place]]:
    """The tools of an agent; one that stands as a reference is found where it is defined."""
    agent = pattern_at(patterns, place.tree_path)
    for index, element in enumerate(agent.elements):
        name = element.value.identity
        if is_tool(element) and name:
            yield name, Place((*place.words, name), Kind.PATTERN, (*place.tree_path, index))
        elif is_reference(element):
            for path, pattern in walk(patterns):
                if is_tool(pattern) and pattern.value.identity == name:
                    reference = (*place.tree_path, index)
                    words = (*place.words, name)
                    yield name, Place(words, Kind.PATTERN, path, reference=reference)
                    break


def _nowhere(path: str, before: Sequence[str], word: str, known: Iterable[str]) -> str:
    where = f"`{write_path(before)}`" if before else "the document"
    if word == ANY:
        return f"`{path}` leads nowhere: {where} has no names for *"
    hint = did_you_mean(word, known) or f"it has: {', '.join(known) or 'nothing'}"
    return f"`{path}` leads nowhere: {where} has no `{word}`; {hint}"
