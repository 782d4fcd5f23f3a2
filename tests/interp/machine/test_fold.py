"""The machine: a pure fold whose outcome no order of answers changes."""

from __future__ import annotations

import itertools
import json
import pickle
import re
from decimal import Decimal
from typing import Any, get_args

import pytest
from attrs import evolve
from hypothesis import given, strategies as st

import interp
from gram import Pattern, loads_one
from interp import ApprovalPolicy, AssistantRole, Limits, Message, ValidationError, machine
from interp.errors import ProtocolError
from interp.machine import Decided, ModelReplied, Resumed, Status, ToolReturned, start, step
from interp.machine.effects import Event
from interp.models.reply_reading import well_formed
from tests.interp.strategies import odd_json
from tests.paths import ROOT

DIAGRAM = (ROOT / "docs" / "run" / "runs.md").read_text(encoding="utf-8")

AGENT = loads_one(
    """
    [a:Agent {instruction: "Help.", model: "Offline/rehearsal"} |
      [add:ToolSpecification {description: "Adds"} |
        (x::Integer)==>(y::Integer {default: 1})==>(::Integer)],
      [say:Tool {description: "Says"} | (text::String)==>(::Any)]]
    """
)


def calls(*named: tuple[str, Any]) -> Message:
    """A reply that calls tools."""
    made = (
        interp.ToolCall(f"c{i}", name, args if isinstance(args, str) else json.dumps(args))
        for i, (name, args) in enumerate(named)
    )
    return Message(AssistantRole, "", tuple(made))


def told(state: machine.State) -> list[str]:
    """What the tools' messages say."""
    return [m.content for m in state.context if isinstance(m.role, interp.FunctionRole)]


def after(reply: Message, **more: Any) -> tuple[machine.State, tuple[Any, ...]]:
    """The step after a first reply."""
    state, _, _ = start(AGENT, "hi", **more)
    return step(state, ModelReplied((0,), reply))[:2]


def test_a_run_begins_by_asking_the_model_with_what_the_pattern_says() -> None:
    state, (effect,), _ = start(AGENT, "hi")
    assert isinstance(effect, machine.CallModel)
    assert effect.request.instruction == "Help."
    assert [m.content for m in effect.request.messages] == ["hi"]
    assert effect.request.tools == AGENT.elements
    assert state.agent is AGENT


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("ad", {}, 'error: there is no tool "ad"; the tools are: add, say'),
        (
            "add",
            '{"x": 1',
            "error: arguments of \"add\" are not valid JSON: Expecting ',' delimiter at char 7, "
            'near …{"x": 1…. Call the tool again with one JSON object.',
        ),
        (
            "add",
            "[1]",
            'error: arguments of "add" are not an object but an array. '
            "Call the tool again with one JSON object.",
        ),
        ("add", {"x": "1"},
         'error: arguments of "add" are refused:\n$.x: "1" is not of type "integer"'),
        ("add", "", 'error: arguments of "add" are refused:\n$: missing required "x"'),
    ],
)  # fmt: skip
def test_the_models_mistakes_are_told_to_it(name: str, arguments: Any, expected: str) -> None:
    state, (effect,) = after(calls((name, arguments)))
    assert told(state) == [expected]
    assert isinstance(effect, machine.CallModel)
    assert state.tools_used[0].error is not None


@pytest.mark.parametrize(
    "value",
    ["1e999", "-1e999", '"\\ud800"', '{"\\udc00": 1}', "[" * 900 + "]" * 900, "9" * 5000, "NaN"],
)
@pytest.mark.parametrize("policy", [ApprovalPolicy(), ApprovalPolicy([interp.ApprovalRule("ask")])])
def test_arguments_that_cannot_be_written_as_json_are_reported_to_the_model(
    value: str, policy: ApprovalPolicy
) -> None:
    state, _ = after(calls(("say", f'{{"text": {value}}}')), policy=policy)
    assert state.status is Status.AWAITING_MODEL
    assert told(state)[0].startswith('error: arguments of "say" are not valid JSON')


@given(st.text() | odd_json().map(json.dumps))
def test_whatever_arguments_a_model_writes_are_run_or_told(arguments: str) -> None:
    state, effects = after(calls(("say", well_formed(arguments)), ("add", well_formed(arguments))))
    assert effects
    assert pickle.loads(pickle.dumps(state)) == state


def test_calls_of_a_reply_that_was_cut_off_are_not_run() -> None:
    state, _, _ = start(AGENT, "hi")
    state, (effect,), _ = step(state, ModelReplied((0,), calls(("add", {"x": 1})), truncated=True))
    assert isinstance(effect, machine.CallModel)
    assert "cut off" in told(state)[0]


def test_results_are_told_in_the_order_of_the_calls() -> None:
    state, _ = after(calls(("say", {"text": "a"}), ("say", {"text": "b"})))
    state, _, _ = step(state, ToolReturned((0, 1), '"second"'))
    state, _, _ = step(state, ToolReturned((0, 0), '{"k":[1]}'))
    assert told(state) == ['{"k":[1]}', "second"]
    assert [m.call_id for m in state.context if m.call_id] == ["c0", "c1"]


def test_the_eleventh_round_of_calls_is_the_limit_and_more_can_be_allowed() -> None:
    state, _, _ = start(AGENT, "hi")
    for turn in range(10):
        state, _, _ = step(state, ModelReplied((turn,), calls(("say", {"text": "a"}))))
        state, _, _ = step(state, ToolReturned((turn, 0), "1"))

    state, effects, _ = step(state, ModelReplied((10,), calls(("say", {"text": "a"}))))
    assert (state.status, effects) == (Status.LIMITED, ())
    assert state.stopped == "10 rounds of tool calls (limit: iterations)"

    state, effects, _ = step(state, Resumed(Limits(iterations=11)))
    assert [type(effect) for effect in effects] == [machine.CallTool]


def _states() -> dict[Status, machine.State]:
    begun, _, _ = start(AGENT, "hi")
    policy = ApprovalPolicy([interp.ApprovalRule("ask", "add")])
    reply = calls(("say", {"text": "a"}), ("add", {"x": 1}), ("say", {"text": "b"}))
    acting, _ = after(reply, policy=policy)
    done, _ = after(Message(AssistantRole, "hello"))
    limited, _ = after(calls(("say", {"text": "a"})), limits=Limits(iterations=0))
    agent = loads_one('[a:Agent {instruction: "x", model: "A/b"} | (:Answer:Integer)]')
    unusable, _, _ = start(agent, "hi")
    for turn in range(2):
        unusable, _, _ = step(unusable, ModelReplied((turn,), Message(AssistantRole, "no number")))
    workflow = loads_one('[w:Workflow | [t:Tool {description: "Does"} | (x::String)==>(::String)]]')
    stepping, _, _ = start(workflow, "hi")
    failed, _, _ = step(stepping, machine.CallFailed(("t",), "e"))
    states = (begun, acting, done, limited, unusable, stepping, failed)
    return {state.status: state for state in states}


EVENTS = [
    ModelReplied((0,), Message(AssistantRole, "x")),
    machine.CallBegun((0, 0)),
    ToolReturned((0, 0), "1"),
    machine.CallFailed((0, 0), "e"),
    Decided((0, 1), True),
    Decided((0, 1), False, "no"),
    machine.TimeUp(),
    machine.CostReached(Decimal("0.5")),
    Resumed(Limits(iterations=9)),
]


def test_all_statuses_and_events_are_looked_at() -> None:
    assert set(_states()) == set(Status)
    assert {type(event) for event in EVENTS} == set(get_args(Event))


@pytest.mark.parametrize(("status", "event"), list(itertools.product(Status, EVENTS)))
def test_every_pair_of_status_and_event_is_in_the_table_or_refused(
    status: Status, event: Any
) -> None:
    state = _states()[status]
    if status is Status.AWAITING_STEPS and event.at:
        event = evolve(event, at=("t",))
    if status is Status.AWAITING_STEPS and isinstance(event, Decided):
        state = step(step(state, machine.CallBegun(("t",))).state, Resumed()).state

    if type(event) in machine.TRANSITIONS[status]:
        after, _, _ = step(state, event)
        assert after != state
        arrow = f"{status.name} --> {after.status.name}:"
        shown = [each for each in DIAGRAM.splitlines() if arrow in each]
        goes_on = type(event) is Resumed and after.status is status
        assert goes_on or type(event).__name__ in shown[0]
    else:
        with pytest.raises(ProtocolError):
            step(state, event)


def test_the_diagram_in_the_docs_has_what_the_table_has() -> None:
    arrows = re.findall(r"^    (\w+) --> \w+: (.+)$", DIAGRAM, re.MULTILINE)
    drawn = {(status, event) for status, events in arrows for event in events.split(", ")}
    table = {(s.name, kind.__name__) for s, row in machine.TRANSITIONS.items() for kind in row}
    stays = {(status.name, "Resumed") for status in Status}  # most that is resumed goes on
    assert drawn - stays == table - stays
    assert drawn <= table


def test_an_answer_to_another_turn_or_call_is_refused() -> None:
    state = _states()[Status.AWAITING_TOOLS]

    wrong = [ToolReturned((1, 0), "1"), ToolReturned((0, 7), "1"), machine.TimeUp((0,))]
    wrong += [ToolReturned((0, 1), "1"), machine.CallFailed((0, 1), "e"), Decided((0, 0), True)]
    wrong += [machine.CallBegun(at) for at in ((0,), (0, 1), (1, 0))]
    wrong += [ToolReturned(([0],), "1")]  # type: ignore[arg-type]  # a caller may do so
    for event in wrong:
        with pytest.raises(ProtocolError):
            step(state, event)


def test_what_is_asked_about_is_run_only_when_it_is_allowed() -> None:
    acting = _states()[Status.AWAITING_TOOLS]

    allowed, effects, _ = step(acting, Decided((0, 1), True))
    refused, none, _ = step(acting, Decided((0, 1), False, "too dear"))

    assert acting.asks == (machine.Ask((0, 1), "add", '{"x":1,"y":1}'),)
    assert effects == (machine.CallTool((0, 1), "add", '{"x":1,"y":1}'),)
    assert none == ()
    assert refused.tools_used[-1].error == "denied, not run: too dear"
    assert allowed.asks == refused.asks == ()


@pytest.mark.parametrize(
    ("limits", "stopped"),
    [
        ({"iterations": 0}, "0 rounds of tool calls (limit: iterations)"),
        ({"tool_calls": 1}, "1 tool call (limit: tool_calls)"),
        ({"calls_per_tool": 1}, '1 call of "say" (limit: calls_per_tool)'),
        ({"tokens": 12}, "12 of 12 tokens (limit: tokens)"),
        ({"input_tokens": 9}, "10 of 9 tokens (limit: input_tokens)"),
        ({"output_tokens": 2}, "2 of 2 tokens (limit: output_tokens)"),
    ],
)
def test_each_limit_stops_the_run_and_is_named(limits: dict[str, Any], stopped: str) -> None:
    reply = ModelReplied(
        (0,), calls(("say", {"text": "a"}), ("say", {"text": "b"})), interp.Usage(10, 2)
    )
    state, _, _ = start(AGENT, "hi", limits=Limits(**limits))
    state, effects, _ = step(state, reply)
    assert (state.status, state.stopped, effects) == (Status.LIMITED, stopped, ())
    _, effects, _ = step(state, Resumed(Limits()))
    assert [type(each) for each in effects] == [machine.CallTool] * 2


def test_an_answer_is_given_even_when_it_took_more_tokens_than_allowed() -> None:
    state, _, _ = start(AGENT, "hi", limits=Limits(tokens=1))
    state, _, _ = step(state, ModelReplied((0,), Message(AssistantRole, "x"), interp.Usage(10, 2)))
    assert state.status is Status.DONE


def test_at_a_limit_the_model_can_be_asked_for_a_last_answer_without_tools() -> None:
    limits = Limits(tool_calls=1, on_limit="answer")
    reply = calls(("say", {"text": "a"}), ("add", {"x": 1}))
    state, (effect,) = after(reply, limits=limits)

    assert isinstance(effect, machine.CallModel)
    assert effect.request.tools == ()
    assert all("not run: the run has reached 1 tool call" in text for text in told(state))
    assert pickle.loads(pickle.dumps(state)) == state
    assert machine.pending(step(state, Resumed())[0]) == (effect,)

    answered, _, _ = step(state, ModelReplied((1,), Message(AssistantRole, "x")))
    again, _, _ = step(state, ModelReplied((1,), calls(("say", {"text": "a"}))))
    assert (answered.status, again.status) == (Status.DONE, Status.LIMITED)


def test_when_the_time_is_up_a_run_can_go_on_where_it_was() -> None:
    states = _states()
    for status in (Status.AWAITING_MODEL, Status.AWAITING_TOOLS):
        state, effects, _ = step(states[status], machine.TimeUp())
        assert (state.status, effects, machine.pending(state)) == (Status.LIMITED, (), ())
        assert state.stopped == "600 seconds (limit: run_seconds)"
        assert step(state, Resumed()) == step(states[status], Resumed())


@pytest.mark.parametrize(
    "limits",
    [
        {"iterations": -1}, {"iterations": True}, {"tool_calls": 1.5}, {"tokens": 0},
        {"tool_seconds": 0}, {"tool_seconds": "1"}, {"run_seconds": float("nan")},
        {"run_seconds": float("inf")}, {"on_limit": "stop"}, {"calls_per_tool": None},
        {"run_seconds": 10**400}, {"tool_seconds": 10**5000}, {"tokens": -(10**5000)},
        {"cost": 0}, {"cost": True}, {"cost": float("nan")},
    ],
)  # fmt: skip
def test_limits_that_are_none_are_refused_by_name(limits: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=f"the limit {next(iter(limits))} is"):
        Limits(**limits)


def test_a_message_that_utf_8_cannot_carry_is_refused() -> None:
    with pytest.raises(ValidationError, match="not UTF-8"):
        start(AGENT, "\udcff")


def test_only_an_agent_can_be_run(hello_world: Pattern) -> None:
    with pytest.raises(ValidationError, match="there is no agent here"):
        start(hello_world.elements[0], "hi")


REFUSED = 'error: the result of "add" is not what it declares:\n$: "two" is not of type "integer"'


@pytest.mark.parametrize(("check", "said"), [(True, REFUSED), (False, "two")])
def test_a_result_of_another_type_than_declared_is_an_error_unless_the_run_allows_it(
    check: bool, said: str
) -> None:
    state, _ = after(calls(("add", {"x": 1})), check_results=check)
    state, _, _ = step(state, ToolReturned((0, 0), '"two"'))
    assert told(state) == [said]


def test_a_call_that_may_have_run_is_asked_about_before_it_runs_again() -> None:
    waiting, (call,) = after(calls(("say", {"text": "a"})))

    begun, _, _ = step(waiting, machine.CallBegun(call.at))

    asking, (ask,), _ = step(begun, Resumed())

    assert ask == machine.Ask(call.at, "say", call.arguments, may_have_run=True)
    again, (effect,), _ = step(asking, Decided(ask.at, True))
    assert (effect, again.frame.waiting) == (call, waiting.frame.waiting)
    denied, _, _ = step(asking, Decided(ask.at, False, "it did"))
    assert told(denied) == [
        "error: interrupted: the run ended before this call was answered; it may have run; "
        "not run again: it did"
    ]


def test_a_policy_does_not_answer_a_question_that_it_comes_with() -> None:
    waiting, (call,) = after(calls(("say", {"text": "a"})))
    begun, _, _ = step(waiting, machine.CallBegun(call.at))
    asking, (ask,), _ = step(begun, Resumed(policy=ApprovalPolicy()))
    assert isinstance(ask, machine.Ask)
    assert step(asking, Resumed(policy=ApprovalPolicy()))[1] == (call,)


def test_a_state_keeps_the_events_that_it_is_the_fold_of() -> None:
    for state in _states().values():
        assert machine.fold(state.beginning, state.events) == state
        assert pickle.loads(pickle.dumps(state)).events == state.events
