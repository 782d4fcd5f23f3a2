"""The tools of a library as gram: whole specifications, and specifications that take new words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import attrs

from gram import Pattern
from lenses_ext import (
    is_tool,
    json_schema_to_type_signature,
    put,
    tool_spec_description,
    tool_spec_name,
    tool_spec_schema,
    tool_spec_type_signature,
    view,
)

from ..tools import Tool, ToolLibrary, explain_binding


def specs_of(library: ToolLibrary, names: Iterable[str] | None = None) -> list[Pattern]:
    """The specifications of the tools of a library; those of a server or a document say which.

    Args:
        library: the tools.
        names: those to take; None for all.

    Raises:
        ToolError: the library does not have a name, or several added libraries have it.
        SignatureError, SpecificationError: a tool cannot be written as gram.
    """
    chosen = library.restrict(names if names is not None else [*library, *library.ambiguous])
    return [_spec(chosen[name]) for name in (names if names is not None else chosen)]


def _spec(tool: Tool) -> Pattern:
    from .. import tool_spec_from_function  # imported late: a library that runs needs none

    spec = tool_spec_from_function(tool)
    if tool.server is None:
        return spec
    subject = spec.value
    said = subject.properties.set("source", tool.server).update(tool.hints)
    return attrs.evolve(spec, value=attrs.evolve(subject, properties=said))


def with_words_of(
    library: ToolLibrary, patterns: Sequence[Pattern], specs: Collection[Pattern]
) -> tuple[Pattern, ...]:
    """Patterns whose specifications say what the tools of a library say.

    Args:
        library: the tools; a specification that it does not have stays as it is.
        patterns: the patterns of a document.
        specs: the specifications that may change.
    """
    return tuple(_updated(library, each, specs) for each in patterns)


def _updated(library: ToolLibrary, pattern: Pattern, specs: Collection[Pattern]) -> Pattern:
    if is_tool(pattern):
        return _with_new_words(library, pattern) if pattern in specs else pattern
    elements = tuple(_updated(library, each, specs) for each in pattern.elements)
    return pattern if elements == pattern.elements else attrs.evolve(pattern, elements=elements)


def _with_new_words(library: ToolLibrary, spec: Pattern) -> Pattern:
    tool = library.get(view(tool_spec_name, spec))
    if tool is None or explain_binding(spec, library) is None:
        return spec
    if explain_binding(spec, library, match="types") is not None:
        schema = _with_words_of_old(tool.schema, view(tool_spec_schema, spec))
        signature = json_schema_to_type_signature(schema, return_schema=tool.result_schema)
        spec = put(tool_spec_type_signature, signature, spec)
    if tool.description.strip() and explain_binding(spec, library) is not None:
        spec = put(tool_spec_description, tool.description, spec)
    return spec


def _with_words_of_old(new: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
    """A schema of parameters, where what has no description keeps the one that it had."""
    before = old.get("properties", {})
    properties = {
        name: {**schema, "description": before[name]["description"]}
        if "description" in before.get(name, {}) and not schema.get("description")
        else schema
        for name, schema in new.get("properties", {}).items()
    }
    return {**new, "properties": properties} if properties else dict(new)
