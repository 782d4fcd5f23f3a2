"""Tools as models are told of them: made once for each specification, handed out as copies."""

from __future__ import annotations

from typing import Any

import pytest

from interp import (
    ScriptedModel,
    ToolLibrary,
    create_agent_pattern,
    create_tool,
    create_tool_specification,
    run,
)
from interp.machine.contracts import function_definition, tool_definitions
from interp.models import request_body
from interp.tools import binding
from lenses_ext import tool_spec_schema, view

SPEC = create_tool_specification("look", "Looks.", "(word::String)==>(::String)")


def test_a_definition_is_a_fresh_copy() -> None:
    definition = function_definition(SPEC)
    definition["function"]["parameters"]["properties"].clear()

    assert function_definition(SPEC)["function"] == {
        "name": "look",
        "description": "Looks.",
        "parameters": view(tool_spec_schema, SPEC),
    }


def test_the_second_message_makes_nothing_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many tools an agent has."""
    specs = [
        create_tool_specification(f"look{i}", "Looks.", "(word::String)==>(::String)")
        for i in range(50)
    ]
    agent = create_agent_pattern("a", None, "A/b", "Help.", specs)
    library = ToolLibrary.of(
        create_tool(f"look{i}", "Looks.", view(tool_spec_schema, spec), lambda args: "x")
        for i, spec in enumerate(specs)
    )
    counts: list[str] = []

    def counted(module: Any, name: str) -> None:
        function = getattr(module, name)

        def count(*args: Any, **options: Any) -> Any:
            counts.append(name)
            return function(*args, **options)

        monkeypatch.setattr(module, name, count)

    counted(binding, "differences")
    counted(tool_definitions, "_definition")

    def message() -> int:
        counts.clear()
        model = ScriptedModel(["Hello."])
        run(agent, "Hello.", library, model=model)
        request_body(model.requests[0])
        return len(counts)

    assert message() == 2 * len(specs)  # the result, which differs, and the definition of each
    assert message() == 0
