"""A tool specification as JSON, in the form of the specification: for programs that are not gram.

The schema in it is made from the type signature, which is what counts when it is read back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gram import GramDecodeError, Pattern

from ..optics import view
from .tool_spec import (
    create_tool_specification,
    tool_spec_description,
    tool_spec_name,
    tool_spec_once,
    tool_spec_schema,
    tool_spec_type_signature,
)

_KEYS = ("name", "description", "typeSignature")


def tool_spec_to_json(tool: Pattern) -> dict[str, Any]:
    """The JSON of a tool specification: ``name, description, typeSignature, schema``, and ``once``.

    Raises:
        FocusError: a part is missing or ill-typed.
    """
    once = view(tool_spec_once, tool)
    return {
        "name": view(tool_spec_name, tool),
        "description": view(tool_spec_description, tool),
        "typeSignature": view(tool_spec_type_signature, tool),
        "schema": view(tool_spec_schema, tool),
        **({} if once is None else {"once": once}),
    }


def tool_spec_from_json(data: object) -> Pattern:
    """The tool specification of its JSON; a ``schema`` beside the signature is not needed.

    Raises:
        GramDecodeError: it is not this form.
        FocusError: the name or the description cannot be written.
        SignatureError: the signature is not one.

    >>> tool = tool_spec_from_json(
    ...     {"name": "f", "description": "Does it.", "typeSignature": "(x::Text)==>(::Text)"}
    ... )
    >>> tool_spec_to_json(tool)["schema"]["required"]
    ['x']
    """
    if not isinstance(data, Mapping):
        raise GramDecodeError(f"a tool is an object, found {type(data).__name__}")
    for key in _KEYS:
        if not isinstance(data.get(key), str):
            raise GramDecodeError(f"$.{key}: expected a string, found {data.get(key)!r}")
    if not isinstance(once := data.get("once", False), bool):
        raise GramDecodeError(f"$.once: expected true or false, found {once!r}")
    return create_tool_specification(*(str(data[key]) for key in _KEYS), once=once)
