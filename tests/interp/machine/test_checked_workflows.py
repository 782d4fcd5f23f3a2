"""What is checked before a workflow runs holds when it runs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, note, settings, strategies as st

from gram import Pattern, only_errors
from interp import Request, ToolLibrary, ValidationError, create_tool, run
from lenses_ext import parse, resolve, result_schema, tool_spec_schema, validate_program, view
from tests.lenses_ext.workflow_strategies import (
    Broken,
    broken_workflows,
    well_typed_workflows,
)

SAMPLES: dict[str, Any] = {
    "string": "text",
    "integer": 3,
    "boolean": True,
    "array": ["a", 1],
    "object": {"k": 1},
}
"""A value of each type that the tools of the workflows give."""


class Chooser:
    """A model that gives one of the answers that it may give."""

    def __init__(self, pick: int) -> None:
        self.pick = pick

    def complete(self, request: Request) -> str:
        """The answer."""
        return json.dumps(f"a{self.pick}")


def library_of(text: str, received: list[str]) -> ToolLibrary:
    """Tools that give a value of the type that they declare, and note what they are given."""
    tools = {}
    for spec in parse(text).patterns:
        if "Tool" not in spec.value.labels:
            continue
        name, result = spec.value.identity, _result_of(spec)

        def invoke(given: dict[str, Any], name: str = name, result: Any = result) -> Any:
            received.append(name)
            return result

        tools[name] = create_tool(name, "d", view(tool_spec_schema, spec), invoke)
    return ToolLibrary(tools)


def _result_of(spec: Pattern) -> Any:
    schema = result_schema(spec)
    assert schema is not None
    return SAMPLES[schema["type"]]


@given(well_typed_workflows(), st.integers(0, 1))
@settings(max_examples=40, deadline=None)
def test_a_workflow_without_faults_runs_without_a_type_that_does_not_fit(
    text: str, pick: int
) -> None:
    note(text)
    assert validate_program(parse(text)) == ()
    received: list[str] = []

    response = run(resolve(parse(text)), "input", library_of(text, received), model=Chooser(pick))

    assert received
    assert json.dumps(response.content)
    assert all(each.error is None for each in response.tools_used)


@given(broken_workflows())
@settings(max_examples=40, deadline=None)
def test_a_workflow_that_is_broken_is_refused_with_the_faults_that_the_check_finds(
    broken: Broken,
) -> None:
    note(broken.text)
    document = parse(broken.text)
    name = document.patterns[0].value.identity

    with pytest.raises(ValidationError) as refused:
        run(document, "input", agent=name or None)

    if name:  # without one it cannot be chosen
        told = {each.message for each in only_errors(refused.value.faults)}
        assert told == {each.message for each in only_errors(validate_program(document))}
        assert all(each in str(refused.value) for each in told)
