"""What each expectation finds of a run, and what it says of it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, strategies as st

from gram import ArgumentError, loads_one
from interp import (
    AgentResponse,
    Case,
    ConfigurationError,
    ScriptedModel,
    ToolInvocation,
    Usage,
    ValidationError,
)
from interp.evaluation import ExpectedCall, RubricJudge, judge
from interp.evaluation.cases import require_checks, require_tools


def case(**given: Any) -> Case:
    return Case(**{"name": "c", "input": "hi", **given})


def told(judged: Case, response: AgentResponse, **checks: Any) -> list[str]:
    return [str(each) for each in judge(judged, response, checks)]


@pytest.mark.parametrize(
    ("expected", "content", "is_typed", "passes"),
    [
        ("yes", "yes", False, True),
        ("yes", "yes\n", False, False),
        ("1", "1.0", False, False),
        ({"a": 1, "b": []}, '{"b": [], "a": 1.0}', True, True),
        ({"a": True}, '{"a": 1}', True, False),
        ("yes", '"yes"', True, True),
        ('{"a":1}', '{"a": 1}', True, True),  # as a cell of CSV
        ("5", '"5"', True, True),
        ("5", "5", True, True),
        (None, "null", True, True),
        ([1], "[1]", False, True),  # the agent declares no type, the case does
        ([1], "one", False, False),
    ],
)
def test_an_answer_is_compared_as_text_or_as_data(
    expected: Any, content: str, is_typed: bool, passes: bool
) -> None:
    response = AgentResponse(content, is_typed=is_typed)
    assert (not told(case(expected=expected), response)) is passes


def test_results_are_gathered_by_their_case_whatever_json_it_has() -> None:
    one, same = (Case(name="a", input={"x": [1]}, columns={"kind": ["hard"]}) for _ in range(2))
    assert {one: "passed"}[same] == "passed"
    assert one != Case(name="a", input={"x": [2]})


def test_without_an_expectation_every_answer_passes() -> None:
    with pytest.warns(UserWarning, match="any answer passes case c: it expects nothing"):
        assert told(case(), AgentResponse("anything")) == []


def test_arguments_that_are_no_object_are_none_and_said_to_be_broken() -> None:
    broken = ToolInvocation("look", '{"city": ', error="no JSON")
    assert broken.args == {}
    assert broken.args_text.value == '{"city": '
    expects = case(calls=[ExpectedCall("look", {})])
    assert len(told(expects, AgentResponse("", tools_used=(broken,)))) == 1


def test_a_difference_that_is_hard_to_see_is_named() -> None:
    (message,) = told(case(expected="a b"), AgentResponse("a\nb "))
    assert "not the expected (only blanks or line breaks differ):\n-" in message


CALLS = [ToolInvocation("look", {"at": "x"}, 1), ToolInvocation("pay", {"n": 1}, error="no")]


@pytest.mark.parametrize(
    ("calls", "passes"),
    [
        ([ExpectedCall("look"), ExpectedCall("pay")], True),
        ([ExpectedCall("look", {"at": "x"}), ExpectedCall("pay", {"n": 1.0})], True),
        ([ExpectedCall("pay"), ExpectedCall("look")], False),
        ([ExpectedCall("look")], False),
        ([ExpectedCall("look"), ExpectedCall("pay"), ExpectedCall("pay")], False),
        ([ExpectedCall("look", {}), ExpectedCall("pay")], False),
        ([], False),
    ],
)
def test_calls_are_all_calls_in_their_order(calls: Any, passes: bool) -> None:
    assert (not told(case(calls=calls), AgentResponse("", CALLS))) is passes


def test_calls_that_differ_are_shown_side_by_side() -> None:
    wanted = case(calls=(ExpectedCall("look"), ExpectedCall("pay", {"n": 2}), ExpectedCall("x")))

    (message,) = told(wanted, AgentResponse("", CALLS))

    assert message.splitlines() == [
        "the calls are not the expected:",
        ' look(at: "x")',
        "-pay(n: 2)",
        "-x",
        "+pay(n: 1)",
    ]


def fails(_: AgentResponse) -> bool:
    raise OSError("disk")


def exits(response: AgentResponse) -> bool:
    raise GeneratorExit


def asserts(response: AgentResponse) -> bool:
    assert "please" in response.content, "not polite"
    return True


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda r: True, None),
        (lambda r: re.search("h.", r.content), None),
        (lambda r, c: c.name == "c" and r.content == "hi", None),
        (lambda r: False, "check it fails"),
        (lambda r: "", "check it fails"),
        (lambda r: "too long", "check it fails: too long"),
        (lambda r: re.search("z", r.content), "check it returned None: return True or False"),
        (fails, "check it raised OSError: disk"),
        (exits, "check it raised GeneratorExit"),
        (asserts, "check it fails: not polite"),
    ],
)
def test_a_check_judges_the_response(check: Any, message: str | None) -> None:
    found = judge(case(checks=("it",)), AgentResponse("hi"), {"it": check})
    assert [each.message.split("\n")[0] for each in found] == ([message] if message else [])
    assert [each.check for each in found] == (["it"] if message else [])


def test_everything_that_fails_is_told() -> None:
    wanted = case(expected="x", calls=(), checks=("it", "that"))
    found = judge(wanted, AgentResponse("y", CALLS), {"it": bool, "that": bool})
    assert [each.part for each in found] == ["expected", "calls"]


def test_a_check_that_nobody_gave_is_refused_before_anything_runs() -> None:
    with pytest.raises(ValidationError, match=r"there is no check polit\n.*did you mean polite"):
        require_checks([case(checks=("polit",))], {"polite": bool})


AGENT = loads_one("[greeter:Agent | (greet:Tool), [helper:Agent | (look:Tool)]]")
BARE = loads_one("(bare:Agent)")


def test_a_tool_that_no_program_has_is_refused_before_anything_runs() -> None:
    named = case(calls=tuple(map(ExpectedCall, ("greet", "helper", "look"))))
    require_tools([(named, [AGENT]), (case(calls=()), [BARE]), (case(), [BARE])])
    require_tools([(named, [BARE, AGENT])])

    wrong = case(calls=(ExpectedCall("great"),))
    refused = r"no tool of greeter is named great\n.*did you mean greet"
    with pytest.raises(ValidationError, match=refused):
        require_tools([(wrong, [AGENT])])
    refused = r"no tool of bare is named great\n.*there are no tools"
    with pytest.raises(ValidationError, match=refused):
        require_tools([(wrong, [BARE])])


async def later(_: AgentResponse) -> bool:
    return True


@pytest.mark.parametrize("check", ["x", later])
def test_a_check_must_be_a_plain_function(check: Any) -> None:
    with pytest.raises(ArgumentError, match="check it must be a plain function"):
        require_checks([], {"it": check})


ANSWER = '{"order": {"id": 7, "lines": [{"sku": "a", "n": 2}, {"sku": "b"}]}, "a.b": 1}'
REFUND = ToolInvocation("refund", {"id": 7})


def found(response: AgentResponse | str, **expected: Any) -> list[str]:
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
    assert found(ANSWER, seconds=1, cost=0.5, **written) == []


SHORT = '"Sorry, no."'


@pytest.mark.parametrize(
    ("expected", "messages"),
    [
        ({"contains": ["no", "yes"]}, [f'contains: the answer does not contain "yes": {SHORT}']),
        ({"contains": "sorry"}, [f'contains: the answer does not contain "sorry": {SHORT}']),
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
        ({"max_seconds": 1}, ["max_seconds: seconds: not known, at most 1 expected"]),
    ],
)
def test_what_is_not_expected_is_told_in_short(expected: Any, messages: list[str]) -> None:
    assert found("Sorry, no.", **expected) == messages


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
    assert found(ANSWER, json=wanted) == [f"json: {message}"]


def test_what_is_no_path_leads_nowhere_and_passes_not_either() -> None:
    (said,) = found(ANSWER, not_={"json": {"order.lines[-1].sku": "b"}})
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
    assert found(json.dumps(whole), json=part) == []
    assert found(json.dumps(whole), json={**part, "c": 1}) == ["json: $.c is missing, expected 1"]


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
        ({"max_cost": "1"}, 'max_cost must be a number from 0 on, found "1"'),
    ],
)
def test_what_cannot_be_expected_is_refused(expected: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        Case(name="c", input="hi", **expected)


def test_a_regular_expression_of_any_length_takes_time_in_proportion_to_the_answer() -> None:
    for pattern in (r"^(a|a)*(a+)+$", "(a+a+)++b"):
        (said,) = found("a" * 200_000 + "!", matches=pattern)
        assert "does not match" in said
        assert found(json.dumps("a" * 200_000), not_={"schema": {"pattern": pattern + "b"}}) == []


def test_a_judge_says_yes_or_no_to_each_rubric_and_sees_what_was_done() -> None:
    model = ScriptedModel(
        ['{"reason": "it is", "score": true}', '{"reason": "it is not", "score": false}'] * 2
    )
    case = Case(name="c", input="hi", judge=["kind", "short"], not_={"judge": "rude"})
    judging = RubricJudge(model=model)

    failures = judge(case, AgentResponse("Hello", (REFUND,)), by=judging)

    assert list(map(str, failures)) == [
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
    with pytest.raises(ArgumentError, match="'OpenAI/m' is no program; a model is given as model="):
        RubricJudge("OpenAI/m")
