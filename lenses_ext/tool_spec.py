"""The lenses onto a tool specification: its name, what it is for, its type signature and schema.

`tool_spec_type_signature` takes a signature in any form that is read, and shows it in one: the text
of the tool's elements. So put-get holds of the texts that it shows, but for records written with
``fields``, which are put as shapes. A signature that is not valid is neither shown nor replaced.
"""

from __future__ import annotations

from typing import Any

import attrs

from gram import Pattern, Subject

from .errors import FocusError
from .labels import TOOL, TOOLS
from .optics import computed, lens_of, put
from .pattern_optics import identity, labelled, prop
from .signatures.errors import SignatureError
from .signatures.forms import signature_elements
from .signatures.parsing import parse_type_signature, type_signature_to_json_schema
from .signatures.writer import signature_text


def _get_signature(tool: Pattern) -> str:
    try:
        parse_type_signature(tool)  # what is not a signature cannot be set, so it is not shown
        return signature_text(tool)
    except SignatureError as error:
        raise FocusError("tool_spec_type_signature", "elements", tool, str(error)) from error


def _set_signature(tool: Pattern, text: str) -> Pattern:
    if not isinstance(text, str):
        reason = f"expected str, found {type(text).__name__}"
        raise FocusError("tool_spec_type_signature", "elements", tool, reason)
    if text == signature_text(tool):
        return tool  # in the very form it has, which `signature_elements` might make plainer
    try:
        elements = signature_elements(text)
    except SignatureError as error:
        raise FocusError("tool_spec_type_signature", "elements", tool, str(error)) from error
    return attrs.evolve(tool, elements=elements)


def _get_schema(tool: Pattern) -> dict[str, Any]:
    try:
        return type_signature_to_json_schema(tool)
    except SignatureError as error:
        raise FocusError("tool_spec_schema", "elements", tool, str(error)) from error


# fmt: off
#                          kind       name                         where            when absent
tool_spec_name           = identity( "tool_spec_name")                             # FocusError
tool_spec_description    = prop(     "tool_spec_description",      "description", str)  # FocusError
tool_spec_type_signature = lens_of(  "tool_spec_type_signature",   _get_signature, _set_signature)
tool_spec_schema         = computed( "tool_spec_schema",           _get_schema)
as_tool                  = labelled( "as_tool",                    TOOLS)
# fmt: on


def create_tool_specification(name: str, description: str, type_signature: str) -> Pattern:
    """The pattern of a tool specification.

    Args:
        name: its identity.
        description: what it does, for the model.
        type_signature: its signature, in any of the forms that are read.

    Raises:
        FocusError: the name or the description is of the wrong type, empty or cannot be written.
        SignatureError: the signature is not one; all its faults are listed.

    >>> from lenses_ext import dumps
    >>> print(dumps(create_tool_specification("f", "Does it.", "(name: Text) --> IO Text")))
    [f:ToolSpecification {description: "Does it."} | (name::Text)==>(::Text)]
    """
    elements = signature_elements(type_signature)
    tool = Pattern(Subject("?", {TOOL}, {"description": ""}), elements)
    if description == "":
        path = "value.properties.description"
        raise FocusError("tool_spec_description", path, tool, f'tool "{name}" needs a description')
    return put(tool_spec_description, description, put(tool_spec_name, name, tool))
