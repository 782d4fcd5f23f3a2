"""Types that a file's tools share: the shapes at its top, which every signature in it may use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import attrs
from pyrsistent import PMap, PVector

from gram import Pattern, TreePath, carry_origin, walk

from ..labels import AGENT, ANSWER, DEFINITIONS, TOOLS, WORKFLOWS
from .vocabulary import RESERVED

_NO_SHAPES = frozenset({AGENT, ANSWER, DEFINITIONS, *TOOLS, *WORKFLOWS})


def shared_shapes(patterns: Iterable[Pattern]) -> dict[str, Pattern]:
    """The shapes among a file's top-level patterns, by name: those labelled with a type."""
    named = {
        pattern.value.identity: pattern
        for pattern in patterns
        if pattern.value.identity and not pattern.value.labels & _NO_SHAPES
    }
    types = RESERVED | named.keys()  # a shape may be another name for one
    return {name: pattern for name, pattern in named.items() if pattern.value.labels & types}


def with_shared_shapes(tool: Pattern, shapes: Mapping[str, Pattern]) -> Pattern:
    """A tool with the shared shapes that its signature uses as further elements.

    A shape of the tool hides a shared one of the same name. A tool that uses none is returned
    unchanged.
    """
    used = used_shapes(tool.elements, shapes)
    if not used:
        return tool
    return carry_origin(attrs.evolve(tool, elements=(*tool.elements, *used)), tool)


def used_shapes(elements: Iterable[Pattern], shapes: Mapping[str, Pattern]) -> tuple[Pattern, ...]:
    """The shared shapes that the elements of a tool use, directly or through each other."""
    pending = list(elements) if shapes else []
    own = {element.value.identity for element in pending}
    used: dict[str, Pattern] = {}
    while pending:
        for _, _, name in type_names(pending.pop()):
            if name in shapes and name not in own and name not in used:
                used[name] = shapes[name]
                pending.append(shapes[name])
    return tuple(used.values())


def type_names(pattern: Pattern) -> Iterator[tuple[TreePath, str, str]]:
    """The names in a pattern that may be those of types.

    Yields:
        The path of the pattern it is in, the part (``labels`` or a key), and the name.
    """
    for path, part in walk(pattern):
        for label in sorted(part.value.labels - RESERVED):
            yield path, "labels", label
        for key in ("elementType", "of", "fields"):
            if key in part.value.properties:
                yield from ((path, key, word) for word in _words(part.value.properties[key]))


def _words(value: object) -> Iterator[str]:
    """The strings and symbols in a value."""
    if isinstance(value, PVector):
        for item in value:
            yield from _words(item)
    elif isinstance(value, PMap):
        for item in value.values():
            yield from _words(item)
    elif not isinstance(value, int | float):
        yield str(value)
