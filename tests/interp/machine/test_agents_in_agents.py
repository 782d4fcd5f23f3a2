"""Agents inside agents: called as tools, in frames of their own; and handed over to."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

import interp
from gram import loads_one, parse
from interp import ApprovalPolicy, ApprovalRule, Limits, Message, Usage, ValidationError, machine
from interp.json_text import JsonText
from interp.machine import Decided, ModelReplied, Resumed, ToolReturned, response, start, step
from lenses_ext import resolve

BOSS = loads_one(
    """
    [boss:Agent {instruction: "Delegate.", model: "A/boss"} |
      [helper:Agent {description: "Counts", instruction: "Count.", model: "A/helper"} |
        (text::String)==>(n::Integer {default: 3})==>(::Integer),
        [look:Tool {description: "Looks"} | (at::String)==>(::String)]],
      [look:Tool {description: "Looks"} | (at::String)==>(::String)]]
    """
)
DESK = parse(
    """
    [triage:Agent {description: "Sorts", instruction: "Sort.", model: "A/b"} |
      [note:Tool {description: "Notes"} | (text::String)==>(::Any)],
      (triage)-[:HANDOFF]->(billing)]
    [billing:Agent {description: "Bills", instruction: "Bill.", model: "A/b"} |
      (billing)-[:HANDOFF]->(triage)]
    """
)


def say(text: str, *calls: tuple[str, Any]) -> Message:
    """What a model says, with the tools it calls."""
    made = (
        interp.ToolCall(f"c{n}", name, json.dumps(args)) for n, (name, args) in enumerate(calls)
    )
    return Message(interp.AssistantRole, text, tuple(made))


def folded(state: machine.State, *events: Any) -> tuple[machine.State, tuple[Any, ...]]:
    """A State after some events, and what is new to do after the last."""
    effects: tuple[Any, ...] = ()
    for event in events:
        state, effects, _ = step(state, event)
        assert pickle.loads(pickle.dumps(state)) == state
        assert machine.fold(state.beginning, state.events) == state
    return state, effects


CALLED = ModelReplied((0,), say("", ("helper", {"text": "a b"}), ("look", {"at": "x"})))


def test_an_agent_is_offered_as_a_tool_whose_call_begins_a_conversation_at_its_position() -> None:
    state, (effect,), _ = start(BOSS, "go")
    assert isinstance(effect, machine.CallModel)
    assert [each.value.identity for each in effect.request.tools] == ["helper", "look"]
    assert effect.request.tools[0].value.properties["description"] == "Counts"

    _, (asked, look) = folded(state, CALLED)

    assert isinstance(asked, machine.CallModel)
    assert (asked.at, look.at) == ((0, 0, 0), (0, 1))
    assert str(asked.request.model) == "A/helper"
    assert [each.content for each in asked.request.messages] == ['{"text":"a b","n":3}']


def test_its_answer_is_the_result_of_the_call() -> None:
    looks = ModelReplied((0, 0, 0), say("", ("look", {"at": "y"})))
    state, (look,) = folded(start(BOSS, "go")[0], CALLED, looks)
    assert look == machine.CallTool((0, 0, 0, 0), "look", '{"at":"y"}')

    answered = ToolReturned((0, 0, 0, 0), '"seen"'), ModelReplied((0, 0, 1), say("2"))
    state, effects = folded(state, *answered)
    assert effects == ()
    state, (asked,) = folded(state, ToolReturned((0, 1), '"x"'))

    assert [each.content for each in asked.request.messages][2:] == ["2", "x"]
    assert [each.result for each in state.tools_used] == [2, "x"]
    state, _ = folded(state, ModelReplied((1,), say("Done.")))
    assert response(state).content == "Done."


@pytest.mark.parametrize(
    ("events", "told"),
    [
        (
            [ModelReplied((0, 0, n), say("two")) for n in range(2)],
            "error: its answer is not what it declares: it is not JSON: Expecting value: "
            "line 1 column 1 (char 0)",
        ),
        ([ModelReplied((0, 0, 0), Message(interp.AssistantRole, "I must not.", refused=True))],
         "error: refused: I must not."),
        ([ModelReplied((0, 0, 0), say("", ("look", {"at": "y"})))],
         "error: stopped after 0 rounds of tool calls (limit: iterations)"),
    ],
)  # fmt: skip
def test_its_failure_is_told_to_the_agent_that_called(events: list[Any], told: str) -> None:
    agent = loads_one(
        """[boss:Agent {instruction: "Delegate.", model: "A/boss"} |
          [helper:Agent {instruction: "Count.", model: "A/helper"} |
            ()==>(::Integer), [look:Tool {description: "Looks"} | (at::String)==>(::String)]]]"""
    )
    state, _, _ = start(agent, "go", limits=Limits(iterations=1))
    state, _, _ = step(state, ModelReplied((0,), say("", ("helper", {}))))
    if "iterations" in told:
        state, _, _ = step(state, Resumed(Limits(iterations=0)))

    state, (asked,) = folded(state, *events)

    assert asked.at == (1,)
    assert asked.request.messages[-1].content == told


def test_arguments_of_an_agent_are_checked_as_those_of_a_tool() -> None:
    reply = ModelReplied((0,), say("", ("helper", {"text": 1})))
    _, (asked,) = folded(start(BOSS, "go")[0], reply)
    assert asked.request.messages[-1].content.startswith('error: arguments of "helper" are refused')


def test_a_rule_may_name_an_agent_and_its_tool() -> None:
    policy = ApprovalPolicy([ApprovalRule("ask", "helper/look"), ApprovalRule("deny", "boss/look")])
    looks = ModelReplied((0, 0, 0), say("", ("look", {"at": "y"})))

    state, (ask,) = folded(start(BOSS, "go", policy=policy)[0], CALLED, looks)

    assert ask == machine.Ask((0, 0, 0, 0), "look", '{"at":"y"}')
    assert state.asks == (ask,)
    assert state.tools_used[-1].error == "denied, not run: the policy of this run forbids it"
    _, effects = folded(state, Decided(ask.at, True))
    assert effects == (machine.CallTool(ask.at, "look", ask.arguments),)
    _, resumed = folded(state, Resumed(policy=ApprovalPolicy()))
    assert resumed == effects


def test_whether_an_agent_is_called_is_asked_as_for_a_tool() -> None:
    policy = ApprovalPolicy([ApprovalRule("ask", "helper")])
    state, (ask, _) = folded(start(BOSS, "go", policy=policy)[0], CALLED)
    _, (asked,) = folded(state, Decided(ask.at, True))
    refused, effects = folded(state, Decided(ask.at, False, "no"))
    assert asked.at == (0, 0, 0)
    assert effects == ()
    assert refused.tools_used[-1].error == "denied, not run: no"


def test_tokens_and_calls_are_counted_together() -> None:
    first = ModelReplied((0,), CALLED.message, Usage(10, 1))
    looks = ModelReplied((0, 0, 0), say("", ("look", {"at": "y"})), Usage(10, 1))
    state, _, _ = start(BOSS, "go", limits=Limits(tool_calls=2))

    state, effects = folded(state, first, looks)

    assert state.usage == Usage(20, 2)
    assert state.status is machine.Status.LIMITED
    assert state.stopped == "2 tool calls (limit: tool_calls)"
    assert effects == machine.pending(state) == ()
    state, effects = folded(state, ToolReturned((0, 1), '"late, and kept"'))
    assert effects == ()
    state, effects = folded(state, Resumed(Limits(tool_calls=3)))
    assert effects == (machine.CallTool((0, 0, 0, 0), "look", '{"at":"y"}'),)
    assert state.tools_used[-1].result == "late, and kept"


def test_at_a_limit_the_outermost_agent_answers() -> None:
    looks = ModelReplied((0, 0, 0), say("", ("look", {"at": "y"})))
    state, _, _ = start(BOSS, "go", limits=Limits(tool_calls=2, on_limit="answer"))
    state, (asked,) = folded(state, CALLED, ToolReturned((0, 1), '"x"'), looks)
    assert asked.at == (1,)
    assert "2 tool calls (limit: tool_calls)" in asked.request.messages[-2].content


def test_an_agent_can_be_called_with_its_arguments() -> None:
    helper = BOSS.elements[0]

    _, (asked,), _ = start(helper, {"text": "a"})

    assert asked.request.messages[-1].content == '{"text":"a","n":3}'
    with pytest.raises(ValidationError, match=r'arguments of "helper" are refused:\n\$.n'):
        start(helper, {"text": "a", "n": "b"})
    with pytest.raises(ValidationError, match=r'refused:\n\$: unknown "m"; known: n, text'):
        start(helper, {"text": "a", "m": 4})
    with pytest.raises(ValidationError, match="takes text, n: give the arguments by name"):
        start(helper, "a")


@pytest.mark.parametrize("given", ["a b", JsonText("a b"), {"article": "a b"}])
def test_a_text_is_that_of_the_only_parameter(given: Any) -> None:
    agent = loads_one('[s:Agent {instruction: "Sum.", model: "A/b"} | (article::Text)==>(::Text)]')
    _, (asked,), _ = start(agent, given)
    assert [each.content for each in asked.request.messages] == ["a b"]
    assert asked.request.answer is None


def test_the_return_of_a_signature_is_the_type_of_the_answer() -> None:
    helper = BOSS.elements[0]
    state, (asked,), _ = start(helper, {"text": "a"})
    state, (again,) = folded(state, ModelReplied((0,), say("one")))
    assert asked.request.answer is not None
    assert "cannot be used" in again.request.messages[-1].content
    state, _ = folded(state, ModelReplied((1,), say("1")))
    assert (response(state).value, response(state).is_typed) == (1, True)


def test_agents_that_call_each_other_without_end_are_stopped() -> None:
    program = parse(
        """
        [a:Agent {instruction: "A.", model: "A/b"} |
          [b:Agent {instruction: "B.", model: "A/b"} | (b)-[:HANDOFF]->(a)]]
        """
    )
    state, (asked,), _ = start(program, "go")
    for _ in range(40):
        name = asked.request.tools[0].value.identity
        state, (asked,), _ = step(state, ModelReplied(asked.at, say("", (name, {"input": "x"}))))
        if "more than 16 deep" in asked.request.messages[-1].content:
            return
    raise AssertionError("nothing stopped them")


# --- handing over


def test_who_is_handed_over_to_goes_on_with_the_conversation() -> None:
    handed = ModelReplied((0,), say("", ("note", {"text": "x"}), ("billing", {})))
    state, (asked,) = folded(start(resolve(DESK, "triage"), "pay")[0], handed)

    assert asked.at == (1,)
    assert asked.request.instruction == "Bill."
    assert [each.content for each in asked.request.messages] == [
        "pay",
        "",
        "error: not run: a reply that hands the conversation over calls nothing else",
        'the conversation is handed over to "billing"',
    ]
    state, _ = folded(state, ModelReplied((1,), say("Paid.")))
    assert [each.speaker for each in state.context if each.speaker] == ["triage", "billing"]


@pytest.mark.parametrize("back", [True, False])
def test_the_last_speaker_answers_the_next_message(back: bool) -> None:
    text = DESK.text if back else DESK.text.replace("|\n      (billing)-[:HANDOFF]->(triage)", "")
    desk = parse(text)
    state, _, _ = start(desk, "pay", agent="triage")
    events = ModelReplied((0,), say("", ("billing", {}))), ModelReplied((1,), say("Paid."))
    state, _ = folded(state, *events)
    _, (asked,), _ = start(desk, "and now?", state.context, agent="triage")
    assert asked.request.instruction == "Bill."


def test_handing_over_for_ever_reaches_the_limit() -> None:
    state, _, _ = start(DESK, "pay", agent="triage", limits=Limits(iterations=4))
    for turn in range(5):
        other = ["billing", "triage"][turn % 2]
        state, effects = folded(state, ModelReplied((turn,), say("", (other, {}))))
    assert (state.status, effects) == (machine.Status.LIMITED, ())
    assert state.stopped == "4 rounds of tool calls (limit: iterations)"


def test_handing_over_can_be_asked_about() -> None:
    policy = ApprovalPolicy([ApprovalRule("ask", "billing")])
    handed = ModelReplied((0,), say("", ("billing", {}), ("note", {"text": "x"})))
    state, (ask,) = folded(start(DESK, "pay", agent="triage", policy=policy)[0], handed)
    _, (asked,) = folded(state, Decided(ask.at, True))
    _, (again,) = folded(state, Decided(ask.at, False))
    assert asked.request.instruction == "Bill."
    assert again.request.instruction == "Sort."


def test_an_agent_that_hands_over_to_one_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValidationError, match="billing"):
        start(DESK.patterns[0], "pay")


def test_an_answer_of_any_type_is_json() -> None:
    agent = loads_one('[s:Agent {instruction: "Sum.", model: "A/b"} | (text::Text)==>(::Any)]')
    state, _, _ = start(agent, "a b")
    state, (again,) = folded(state, ModelReplied((0,), say("plain words")))
    assert "it is not JSON" in again.request.messages[-1].content
