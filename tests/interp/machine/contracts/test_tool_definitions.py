"""Tools as models are told of them: made once for each specification, handed out as copies."""

from __future__ import annotations

from interp.machine.contracts import function_definition
from lenses_ext import create_tool_specification, tool_spec_schema, view

SPEC = create_tool_specification("look", "Looks.", "(word::String)==>(::String)")


def test_a_definition_is_a_fresh_copy() -> None:
    definition = function_definition(SPEC)
    definition["function"]["parameters"]["properties"].clear()

    assert function_definition(SPEC)["function"] == {
        "name": "look",
        "description": "Looks.",
        "parameters": view(tool_spec_schema, SPEC),
    }
