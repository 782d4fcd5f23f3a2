"""What is said of a choice is what a run would do: one function says if an arm is taken."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, strategies as st

from gram import TaggedString, freeze, write_value
from lenses_ext import parse_program, validate_program, workflow_of

SCALARS = st.sampled_from(
    [None, True, False, 0, 1, 1.0, 2, -1, 1.5, "a", "b", "", "1", 1e20, 10**20]
)
JSON = st.recursive(
    SCALARS,
    lambda below: st.lists(below, max_size=2) | st.dictionaries(st.sampled_from("km"), below),
    max_leaves=3,
)


@st.composite
def written(draw: st.DrawFn, value: Any) -> Any:
    """A JSON value in one of the forms that the notation has for it."""
    if value is None or draw(st.booleans()):
        return TaggedString("json", json.dumps(value))
    if isinstance(value, list):
        return [draw(written(each)) for each in value]
    if isinstance(value, dict):
        return {key: draw(written(each)) for key, each in value.items()}
    return value


@given(st.lists(JSON, min_size=1, max_size=3), st.lists(JSON, max_size=1), st.data())
def test_a_choice_is_judged_as_it_runs(
    answers: list[Any], others: list[Any], data: st.DataObject
) -> None:
    asked = data.draw(st.lists(st.sampled_from([*answers, *others]), min_size=1, max_size=3))
    values = [write_value(freeze(data.draw(written(each)))) for each in asked]
    arms = [f"(a)-[:WHEN {{is: {value}}}]->()" for value in values if value != "{}"]
    otherwise = data.draw(st.booleans()) and bool(arms)
    rest = ["(a)-[:OTHERWISE]->()"] if otherwise else []
    enum = write_value(TaggedString("json", json.dumps(answers)))
    agent = f'[a:Agent {{model: "A/b", instruction: "x"}} | ()==>(::Any {{enum: {enum}}})]'
    document = parse_program(f"[w:Workflow | {', '.join([agent, *arms, *rest])}]")

    arrows = [each for each in workflow_of(document.patterns[0]).arrows if each.kind == "WHEN"]
    taken = [[arrow.is_for(answer) for arrow in arrows] for answer in answers]
    codes = {each.code for each in validate_program(document)}

    impossible = not all(any(column) for column in zip(*taken, strict=True))
    assert ("impossible-choice" in codes) == impossible
    assert "duplicate-field" in codes or not any(sum(row) > 1 for row in taken)
    uncovered = arms and not otherwise and not all(map(any, taken))
    assert ("uncovered-choice" in codes) == bool(uncovered and not impossible)


def test_each_pair_of_arms_that_is_taken_together_is_told() -> None:
    arms = ", ".join(f"(a)-[:WHEN {{is: {each}}}]->()" for each in ("x", "y", "y"))
    agent = '[a:Agent {model: "A/b", instruction: "x"} | ()==>(::String {enum: ["x", "y"]})]'
    document = parse_program(f"[w:Workflow | {agent}, {arms}]")

    codes = [each.code for each in validate_program(document)]

    assert codes == ["duplicate-field"]


def test_answers_that_the_type_refuses_need_no_arm() -> None:
    arms = "(a)-[:WHEN {is: x}]->(), (a)-[:WHEN {is: json`null`}]->()"
    for labels, of in (("String::Null", ""), ("AnyOf", 'of: ["String", "Null"], ')):
        answer = f'(::{labels} {{{of}enum: json`["x", 1, null]`}})'
        agent = f'[a:Agent {{model: "A/b", instruction: "x"}} | ()==>{answer}]'
        document = parse_program(f"[w:Workflow | {agent}, {arms}]")

        found = [each for each in validate_program(document) if each.severity == "error"]

        assert found == []


def test_a_field_that_may_be_missing_is_no_null() -> None:
    schema = '{"enum": [{"k": null, "v": 1}, {"v": 1}]}'
    agent = (
        f'[a:Agent {{model: "A/b", instruction: "x"}} | ()==>(::Any {{keywords: json`{schema}`}})]'
    )
    arm = "(a)-[:WHEN {is: {k: json`null`, v: 1.0}}]->()"
    document = parse_program(f"[w:Workflow | {agent}, {arm}]")

    (fault,) = validate_program(document)

    assert fault.message == '"a" (1:16) may give {"v": 1}, and no arrow is for that'
