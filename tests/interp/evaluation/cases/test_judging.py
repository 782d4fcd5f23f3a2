from __future__ import annotations

import re
from typing import Any

import pytest

from gram import ArgumentError, loads_one
from interp import AgentResponse, Case, ToolInvocation, ValidationError
from interp.evaluation import ExpectedCall, judge
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


def test_without_an_expectation_every_answer_passes() -> None:
    with pytest.warns(UserWarning, match="any answer passes case c: it expects nothing"):
        assert told(case(), AgentResponse("anything")) == []


def test_whatever_a_case_says_in_python_is_judged() -> None:
    response = AgentResponse("no", tools_used=(ToolInvocation("look", {}, 1),))

    assert len(told(case(expected="yes"), response)) == 1
    assert len(told(case(expected=None), response)) == 1
    assert len(told(case(calls=["buy"]), response)) == 1
    assert told(case(calls=["look"]), response) == []
    assert told(case(calls=[{"name": "look", "arguments": {}}]), response) == []
    assert len(told(case(checks="polite"), response, polite=lambda _: False)) == 1
    with pytest.raises(ArgumentError, match='Case: calls must be an array, found "look"'):
        case(calls="look")
    with pytest.raises(
        ArgumentError,
        match="Case: checks must be a text that is not empty, or an array of them, found 5",
    ):
        case(checks=5)


def test_arguments_that_are_no_object_are_none_and_said_to_be_broken() -> None:
    broken = ToolInvocation("look", '{"city": ', error="no JSON")
    assert broken.args == {}
    assert broken.args_text.value == '{"city": '
    expects = case(calls=[ExpectedCall("look", {})])
    assert len(told(expects, AgentResponse("", tools_used=(broken,)))) == 1


@pytest.mark.parametrize(
    ("expected", "content", "hint"),
    [
        ("a b", "a\nb ", " (only blanks or line breaks differ)"),
        ("one", "two", ""),
    ],
)
def test_a_difference_that_is_hard_to_see_is_named(expected: str, content: str, hint: str) -> None:
    (message,) = told(case(expected=expected), AgentResponse(content))
    assert message.startswith(f"the answer is not the expected{hint}:\n-")


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
