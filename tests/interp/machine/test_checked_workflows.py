"""What is checked before a workflow runs holds when it runs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, note, strategies as st

from gram import Pattern, write_value
from interp import ToolLibrary, create_tool, run
from interp.machine import Request
from lenses_ext import (
    parse_program,
    resolve,
    result_schema,
    tool_spec_schema,
    validate_program,
    view,
    workflow_of,
)
from lenses_ext.schemas import json_literal, same_json
from tests.by_day import given_few
from tests.lenses_ext.strategies import json_values
from tests.lenses_ext.workflow_strategies import well_typed_workflows

SAMPLES: dict[str, Any] = {
    "string": "text", "integer": 3, "boolean": True, "array": ["a", 1], "object": {"k": 1},
}  # fmt: skip
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
    for spec in parse_program(text).patterns:
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
def test_a_workflow_without_faults_runs_without_a_type_that_does_not_fit(
    text: str, pick: int
) -> None:
    note(text)
    assert validate_program(parse_program(text)) == ()
    received: list[str] = []

    response = run(
        resolve(parse_program(text)), "input", library_of(text, received), model=Chooser(pick)
    )

    assert received
    assert json.dumps(response.content)
    assert all(each.error is None for each in response.tools_used)


def choosing(options: list[Any], *asked: Any) -> str:
    """A workflow whose step `t` gives one of some answers, with an arrow for each that is asked."""
    wanted = [write_value(json_literal(each)) for each in asked or options]
    arrows = ", ".join(f"(t)-[:WHEN {{is: {each}}}]->(n{i})" for i, each in enumerate(wanted))
    nodes = [f'[n{i}:Tool {{description: "d"}} | (x::Any)==>(::Any)]' for i in range(len(wanted))]
    enum = write_value(json_literal(options))
    return "\n".join(
        [
            f"[w:Workflow | (x::Any)==>(::Any), {arrows}]",
            f'[t:Tool {{description: "d"}} | (x::Any)==>(::Any {{enum: {enum}}})]',
            *nodes,
        ]
    )


def taken(text: str, said: Any) -> list[str]:
    """The names of the steps of a workflow that are run, where `t` says something."""
    library = []
    names = []
    for spec in parse_program(text).patterns[1:]:

        def invoke(given: dict[str, Any], name: str = spec.value.identity) -> Any:
            names.append(name)
            return said if name == "t" else name

        library.append(create_tool(spec.value.identity, "d", view(tool_spec_schema, spec), invoke))
    assert run(resolve(parse_program(text)), "input", ToolLibrary.of(*library)).content
    return names


@given_few(st.lists(json_values(), min_size=1, max_size=5), st.data())
def test_an_answer_with_an_arrow_of_its_own_is_covered_and_takes_that_arrow(
    options: list[Any], data: st.DataObject
) -> None:
    different: list[Any] = []
    for each in options:
        if not any(same_json(each, other) for other in different):
            different.append(each)
    text = choosing(different)
    note(text)
    arm = data.draw(st.integers(0, len(different) - 1))

    assert validate_program(parse_program(text)) == ()
    assert taken(text, different[arm]) == ["t", f"n{arm}"]


@pytest.mark.parametrize(
    ("wanted", "said", "node"),
    [
        ("json`null`", None, "n"),
        ("json`1`", 1, "n"),
        ("1", 1.0, "n"),
        ("ok", "ok", "n"),
        ("[ok, {k: ok}]", ["ok", {"k": "ok"}], "n"),
        ("{k: json`null`}", {"k": None}, "n"),
        ("{k: json`null`}", {}, "o"),
        ("{k: [ok]}", {"k": ["ok"], "other": 1}, "n"),
    ],
)
def test_an_answer_is_what_the_notation_says_of_it(wanted: str, said: Any, node: str) -> None:
    text = f"""
    [w:Workflow | (x::Any)==>(::Any), (t)-[:WHEN {{is: {wanted}}}]->(n), (t)-[:OTHERWISE]->(o)]
    [t:Tool {{description: "d"}} | (x::Any)==>(::Any)]
    [n:Tool {{description: "d"}} | (x::Any)==>(::Any)]
    [o:Tool {{description: "d"}} | (x::Any)==>(::Any)]
    """
    assert taken(text, said) == ["t", node]


def test_two_arrows_for_equal_numbers_are_both_taken_and_both_results_kept() -> None:
    text = choosing([1, 2], 1, 1.0, 2)
    assert validate_program(parse_program(text)) == ()
    assert sorted(taken(text, 1)) == ["n0", "n1", "t"]  # both are run at once
    assert set(workflow_of(parse_program(text).patterns[0]).nodes) == {"t", "n0", "n1", "n2"}
    assert workflow_of(parse_program(text).patterns[0]).result.is_record
