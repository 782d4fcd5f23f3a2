"""The machine: a pure fold whose outcome no order of answers changes."""

from __future__ import annotations

import itertools
import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gram import Pattern, loads_one
from interp import (
    TRANSITIONS,
    AssistantRole,
    CallFailed,
    CallModel,
    CallTool,
    FunctionRole,
    Limits,
    Message,
    ModelReplied,
    ProtocolError,
    State,
    Status,
    ToolCall,
    ToolReturned,
    ValidationError,
    pending,
    response,
    resume,
    start,
    step,
)

AGENT = loads_one(
    """
    [a:Agent {instruction: "Help.", model: "Offline/rehearsal"} |
      [add:ToolSpecification {description: "Adds"} |
        (x::Integer)==>(y::Integer {default: 1})==>(::Integer)],
      [say:Tool {description: "Says"} | (text::String)==>(::String)]]
    """
)


def calls(*named: tuple[str, Any]) -> Message:
    """A reply that calls tools."""
    return Message(
        AssistantRole,
        "",
        tuple(
            ToolCall(f"c{i}", name, args if isinstance(args, str) else json.dumps(args))
            for i, (name, args) in enumerate(named)
        ),
    )


def told(state: State) -> list[str]:
    """What the tools' messages say."""
    return [m.content for m in state.context if isinstance(m.role, FunctionRole)]


def after(reply: Message, **more: Any) -> tuple[State, tuple[Any, ...]]:
    """The step after a first reply."""
    state, _ = start(AGENT, "hi", **more)
    return step(state, ModelReplied(0, reply))


def test_a_run_begins_by_asking_the_model_with_what_the_pattern_says() -> None:
    state, (effect,) = start(AGENT, "hi")

    assert isinstance(effect, CallModel)
    assert effect.request.instruction == "Help."
    assert [m.content for m in effect.request.messages] == ["hi"]
    assert effect.request.tools == AGENT.elements
    assert state.agent is AGENT


def test_a_reply_without_calls_ends_the_run() -> None:
    state, effects = after(Message(AssistantRole, "hello"))

    assert effects == ()
    assert state.status is Status.DONE
    assert response(state).content == "hello"


def test_calls_become_effects_with_defaults_filled_in() -> None:
    _, effects = after(calls(("add", {"x": 2}), ("say", {"text": "ok"})))

    assert [(e.index, e.name, e.args) for e in effects] == [
        (0, "add", {"x": 2, "y": 1}),
        (1, "say", {"text": "ok"}),
    ]


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
        (
            "add",
            {"x": "1"},
            'error: arguments of "add" are refused:\n$.x: "1" is not of type "integer"',
        ),
        ("add", "", 'error: arguments of "add" are refused:\n$: missing required "x"'),
    ],
)
def test_the_models_mistakes_are_told_to_it(name: str, arguments: Any, expected: str) -> None:
    state, (effect,) = after(calls((name, arguments)))

    assert told(state) == [expected]
    assert isinstance(effect, CallModel)
    assert state.invocations[0].error is not None


def test_calls_of_a_reply_that_was_cut_off_are_not_run() -> None:
    state, _ = start(AGENT, "hi")

    state, (effect,) = step(state, ModelReplied(0, calls(("add", {"x": 1})), truncated=True))

    assert isinstance(effect, CallModel)
    assert "cut off" in told(state)[0]


@given(st.permutations(range(4)), st.lists(st.booleans(), min_size=4, max_size=4))
def test_any_order_of_answers_ends_in_the_same_state(order: list[int], fails: list[bool]) -> None:
    reply = calls(("say", {"text": "a"}), ("nope", {}), ("add", {"x": 1}), ("say", {"text": "b"}))

    def folded(indices: list[int]) -> State:
        state, effects = after(reply)
        waiting = {e.index for e in effects if isinstance(e, CallTool)}
        for index in indices:
            if index in waiting:
                answer = (
                    CallFailed(0, index, "broke") if fails[index] else ToolReturned(0, index, "1")
                )
                state, _ = step(state, answer)
        return state

    assert folded(order) == folded(sorted(order))
    assert folded(order).status is Status.AWAITING_MODEL


def test_results_are_told_in_the_order_of_the_calls() -> None:
    state, _ = after(calls(("say", {"text": "a"}), ("say", {"text": "b"})))

    state, _ = step(state, ToolReturned(0, 1, '"second"'))
    state, _ = step(state, ToolReturned(0, 0, '{"k":[1]}'))

    assert told(state) == ['{"k":[1]}', "second"]
    assert [m.call_id for m in state.context if m.call_id] == ["c0", "c1"]


def test_a_state_can_be_pickled_at_every_step_and_goes_on_the_same() -> None:
    state, effects = start(AGENT, "hi")
    events = [
        ModelReplied(0, calls(("say", {"text": "a"}), ("add", {"x": 1}))),
        ToolReturned(0, 1, "2"),
        CallFailed(0, 0, "broke"),
        ModelReplied(1, Message(AssistantRole, "done")),
    ]
    for event in events:
        copied = pickle.loads(pickle.dumps(state))
        assert copied == state
        assert pending(copied) == pending(state)
        assert step(copied, event) == step(state, event)
        state, effects = step(state, event)

    assert effects == ()
    assert response(state).content == "done"


def test_the_eleventh_round_of_calls_is_the_limit_and_more_can_be_allowed() -> None:
    state, _ = start(AGENT, "hi")
    for turn in range(10):
        state, _ = step(state, ModelReplied(turn, calls(("say", {"text": "a"}))))
        state, _ = step(state, ToolReturned(turn, 0, "1"))

    state, effects = step(state, ModelReplied(10, calls(("say", {"text": "a"}))))
    assert (state.status, effects) == (Status.LIMITED, ())
    assert state.stopped == "10 rounds of tool calls (limit: iterations)"

    state, effects = resume(state, Limits(iterations=11))
    assert [type(effect) for effect in effects] == [CallTool]


def test_the_limit_of_tool_calls_counts_all_rounds() -> None:
    state, effects = after(calls(("say", {"text": "a"}), ("nope", {})), limits=Limits(tool_calls=1))

    assert (state.status, effects) == (Status.LIMITED, ())
    assert state.stopped == "1 tool calls (limit: tool_calls)"


def _states() -> dict[Status, State]:
    begun, _ = start(AGENT, "hi")
    acting, _ = after(calls(("say", {"text": "a"})))
    done, _ = after(Message(AssistantRole, "hello"))
    limited, _ = after(calls(("say", {"text": "a"})), limits=Limits(iterations=0))
    agent = loads_one('[a:Agent {instruction: "x", model: "A/b"} | (:Answer:Integer)]')
    unusable, _ = start(agent, "hi")
    for turn in range(2):
        unusable, _ = step(unusable, ModelReplied(turn, Message(AssistantRole, "no number")))
    return {state.status: state for state in (begun, acting, done, limited, unusable)}


EVENTS = [
    ModelReplied(0, Message(AssistantRole, "x")),
    ToolReturned(0, 0, "1"),
    CallFailed(0, 0, "e"),
]


@pytest.mark.parametrize(("status", "event"), list(itertools.product(Status, EVENTS)))
def test_every_pair_of_status_and_event_is_in_the_table_or_refused(
    status: Status, event: Any
) -> None:
    state = _states()[status]

    if type(event) in TRANSITIONS[status]:
        assert step(state, event)[0] != state
    else:
        with pytest.raises(ProtocolError):
            step(state, event)


def test_an_answer_to_another_turn_or_call_is_refused() -> None:
    state = _states()[Status.AWAITING_TOOLS]

    for event in (ToolReturned(1, 0, "1"), ToolReturned(0, 7, "1")):
        with pytest.raises(ProtocolError):
            step(state, event)


def test_only_an_agent_can_be_run(hello_world: Pattern) -> None:
    with pytest.raises(ValidationError, match="only an Agent can be run"):
        start(hello_world.elements[0], "hi")


def test_a_step_shares_the_conversation_instead_of_copying_it() -> None:
    from interp import ConversationContext, UserRole

    context = ConversationContext([Message(UserRole, f"m{i}") for i in range(2000)])
    state, (effect,) = start(AGENT, "hi", context)

    assert effect.request.messages is state.context
    assert all(a is b for a, b in zip(context, state.context, strict=False))
