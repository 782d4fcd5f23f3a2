"""Types that a document's tools share: shapes at the top level, seen by every signature in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import attrs
from pyrsistent import PMap, PVector

from gram import Pattern
from gram.origin import carry_origin

from .labels import AGENT, ANSWER, TOOLS
from .signatures.type_names import RESERVED

_NO_SHAPES = frozenset({AGENT, ANSWER, *TOOLS})


def shared_shapes(patterns: Iterable[Pattern]) -> dict[str, Pattern]:
    """The shapes of a document by name: what stands at its top, has a name and says a type."""
    named = {
        pattern.value.identity: pattern
        for pattern in patterns
        if pattern.value.identity and not pattern.value.labels & _NO_SHAPES
    }
    types = RESERVED | named.keys()  # a shape may be another name of one
    return {name: pattern for name, pattern in named.items() if pattern.value.labels & types}


def with_shared_shapes(tool: Pattern, shapes: Mapping[str, Pattern]) -> Pattern:
    """A tool with the shared shapes that its signature uses put beside it.

    A shape of the tool's own goes before a shared one of the same name. The tool itself is given
    back when it uses none.
    """
    own = {element.value.identity for element in tool.elements}
    used: dict[str, Pattern] = {}
    pending = list(tool.elements)
    while pending:
        for name in _type_names(pending.pop()):
            if name in shapes and name not in own and name not in used:
                used[name] = shapes[name]
                pending.append(shapes[name])
    if not used:
        return tool
    return carry_origin(attrs.evolve(tool, elements=(*tool.elements, *used.values())), tool)


def _type_names(pattern: Pattern) -> Iterator[str]:
    """Everything in a pattern that may name a type."""
    pending = [pattern]
    while pending:
        part = pending.pop()
        yield from part.value.labels
        for value in part.value.properties.values():
            yield from _words(value)
        pending.extend(part.elements)


def _words(value: object) -> Iterator[str]:
    """The strings and symbols in a value: `elementType`, `of` and `fields` name types by them."""
    if isinstance(value, PVector):
        for item in value:
            yield from _words(item)
    elif isinstance(value, PMap):
        for item in value.values():
            yield from _words(item)
    elif not isinstance(value, int | float):
        yield str(value)
