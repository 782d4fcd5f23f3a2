"""What each expectation finds of a run, and what it says of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from gram import ArgumentError
from interp import AgentResponse, Case, ConfigurationError, ScriptedModel, ToolInvocation, Usage
from interp.evaluation import RubricJudge, judge

ANSWER = '{"order": {"id": 7, "lines": [{"sku": "a", "n": 2}, {"sku": "b"}]}, "a.b": 1}'
REFUND = ToolInvocation("refund", {"id": 7})


def told(response: AgentResponse | str, **expected: Any) -> list[str]:
    if isinstance(response, str):
        response = AgentResponse(response, (REFUND,), usage=Usage(30, 12))
    known = {key: expected.pop(key) for key in ("seconds", "cost") if key in expected}
    case = Case(name="c", input="hi", **expected)
    return [f"{each.part}: {each}" for each in judge(case, response, {"yes": bool}, **known)]


@pytest.mark.parametrize(
    "expected",
    [
        {"contains": "order"},
        {"contains": ["order", "sku"], "matches": r'"id":\s*\d+'},
        {"matches": ["(?i)ORDER", r"\p{L}+"]},
        {"json": {"order": {"id": 7}}},
        {"json": {"order.id": 7.0, "order.lines[0].sku": "a", "a.b": 1, "$.order.lines[1]": {}}},
        {"schema": {"type": "object", "required": ["order"]}},
        {"max_calls": 1, "max_tokens": 42, "max_seconds": 2, "max_cost": 0.5},
        {"not": {"contains": ["sorry", "cannot"], "matches": "(?i)^error", "calls": ["delete"]}},
        {"not": {"json": {"order.id": 8, "status": "x"}, "schema": {"type": "array"}}},
        {"not": {"expected": "no", "max_calls": 0}},
    ],
)
def test_a_run_is_what_is_expected(expected: dict[str, Any]) -> None:
    written = {"not_" if key == "not" else key: value for key, value in expected.items()}
    assert told(ANSWER, seconds=1, cost=0.5, **written) == []


SHORT = '"Sorry, no."'


@pytest.mark.parametrize(
    ("expected", "messages"),
    [
        ({"contains": ["no", "yes"]}, [f'contains: the answer does not contain "yes": {SHORT}']),
        (
            {"contains": "sorry"},
            [f'contains: the answer does not contain "sorry": {SHORT}'],
        ),
        ({"matches": r"^\d"}, [rf"matches: the answer does not match ^\d: {SHORT}"]),
        ({"json": {"a": 1}}, [f"json: the answer is not JSON: {SHORT}"]),
        ({"schema": {"type": "string"}}, [f"schema: the answer is not JSON: {SHORT}"]),
        ({"not_": {"contains": ["x", "no"]}}, [f'not: the answer contains "no": {SHORT}']),
        ({"not_": {"matches": "o$|o\\.$"}}, [rf"not: the answer matches o$|o\.$: {SHORT}"]),
        ({"not_": {"calls": ["refund"]}}, ["not: refund(id: 7) was called"]),
        ({"not_": {"checks": ["yes"]}}, ["not: check yes passes"]),
        ({"max_calls": 0}, ["max_calls: calls: 1, at most 0 expected"]),
        ({"max_tokens": 41}, ["max_tokens: tokens: 42, at most 41 expected"]),
        ({"max_cost": 1}, ["max_cost: cost in US dollars: not known, at most 1 expected"]),
        ({"not_": {"max_cost": 1}}, ["not: cost in US dollars: not known, at most 1 expected"]),
        ({"max_seconds": 1}, ["max_seconds: seconds: not known, at most 1 expected"]),
    ],
)
def test_what_is_not_expected_is_told_in_short(expected: Any, messages: list[str]) -> None:
    assert told("Sorry, no.", **expected) == messages


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"order.id": 8}, "$.order.id is 7, expected 8"),
        (
            {"order": {"lines": [{"sku": "a"}]}},
            '$.order.lines is [{"sku":"a","n":2},{"sku":"b"}], expected [{"sku":"a"}]',
        ),
        ({"order": {"lines": [{"sku": "b"}, {}]}}, '$.order.lines[0].sku is "a", expected "b"'),
        ({"order.lines[2].sku": "c"}, '$.order.lines[2].sku is missing, expected "c"'),
        ({"order[0]": 1}, "$.order[0] is missing, expected 1"),
        ({"a]b": 1}, "$.a]b is no path, and no key of the answer"),
    ],
)
def test_a_part_of_the_answer_that_differs_is_named_by_its_path(wanted: Any, message: str) -> None:
    assert told(ANSWER, json=wanted) == [f"json: {message}"]


def test_what_is_no_path_leads_nowhere_and_passes_not_either() -> None:
    (said,) = told(ANSWER, not_={"json": {"order.lines[-1].sku": "b"}})
    assert said == "not: $.order.lines[-1].sku is no path, and no key of the answer"


values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("ab"), inner, max_size=2),
    max_leaves=6,
)


@given(st.dictionaries(st.text("ab", min_size=1), values, min_size=1), st.data())
def test_every_part_of_an_object_is_a_subset_of_it(whole: dict[str, Any], data: Any) -> None:
    names = data.draw(st.lists(st.sampled_from(sorted(whole)), min_size=1, unique=True))
    part = {name: whole[name] for name in names}
    assert told(json.dumps(whole), json=part) == []
    assert told(json.dumps(whole), json={**part, "c": 1}) == ["json: $.c is missing, expected 1"]


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ({"contains": []}, "contains must have a text"),
        ({"matches": "a("}, r"matches has no regular expression as Rust"),
        ({"matches": "(?!x)y"}, "matches has no regular .*look neither around nor back"),
        ({"schema": {"pattern": "(a)\\1"}}, "schema has no regular expression as Rust"),
        ({"schema": {"type": "no"}}, "schema is not a JSON Schema"),
        ({"json": "x"}, "json must be an object of paths and values"),
        ({"not_": {"contain": "x"}}, 'not has no "contain"; did you mean contains'),
        ({"not_": {"not": {}}}, 'not has no "not"'),
        ({"not_": {}}, "not must be an object"),
        ({"not_": {"calls": []}}, "not calls names nothing that may not be"),
        ({"schema": {"typ": "object", "title": "x"}}, "schema has no keyword that refuses"),
        ({"matches": "(?-u)a"}, "matches has no regular expression"),
        ({"max_cost": "1"}, 'max_cost must be a number from 0 on, found "1"'),
        ({"max_calls": True}, "max_calls must be a number"),
    ],
)
def test_what_cannot_be_expected_is_refused(expected: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        Case(name="c", input="hi", **expected)


def test_a_regular_expression_of_any_length_takes_time_in_proportion_to_the_answer() -> None:
    for pattern in (r"^(a|a)*(a+)+$", "(a+a+)++b"):
        (said,) = told("a" * 200_000 + "!", matches=pattern)
        assert "does not match" in said
        assert told(json.dumps("a" * 200_000), not_={"schema": {"pattern": pattern + "b"}}) == []


def test_a_judge_says_yes_or_no_to_each_rubric_and_sees_what_was_done() -> None:
    model = ScriptedModel(
        ['{"reason": "it is", "score": true}', '{"reason": "it is not", "score": false}'] * 2
    )
    case = Case(name="c", input="hi", judge=["kind", "short"], not_={"judge": "rude"})
    judging = RubricJudge(model=model)

    found = judge(case, AgentResponse("Hello", (REFUND,)), by=judging)

    assert list(map(str, found)) == [
        "the judge says no to 'short': it is not",
        "the judge says yes to 'rude': it is",
    ]
    asked = json.loads(str(model.requests[0].messages[-1].content))
    said = {"input": "hi", "calls": ["refund(id: 7)"], "answer": "Hello", "rubric": "kind"}
    assert asked == said


def test_what_no_judge_decides_does_not_pass_either_way() -> None:
    case = Case(name="c", input="hi", judge="kind", not_={"judge": "rude"})
    broken = RubricJudge(model=ScriptedModel([]))

    for by in (RubricJudge(), broken):
        assert [each.part for each in judge(case, AgentResponse("Hello"), by=by)] == [
            "judge",
            "not",
        ]
    with pytest.raises(ConfigurationError, match="case c has a rubric"):
        judge(case, AgentResponse("Hello"))
