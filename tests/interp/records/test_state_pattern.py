"""States as gram: every State comes back equal, and nothing else is read as one."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from gram import GramError, Pattern, dumps, loads_one
from interp import (
    ApprovalPolicy,
    ApprovalRule,
    Ask,
    AssistantRole,
    CallFailed,
    CallModel,
    CallTool,
    Decided,
    Limits,
    Message,
    Model,
    ModelReplied,
    Resumed,
    State,
    TimeUp,
    ToolCall,
    ToolReturned,
    Usage,
    ValidationError,
    start,
    state_from_pattern,
    state_to_pattern,
    step,
)
from lenses_ext.labels import AGENT
from tests.gram.strategies import patterns

AGENT_PATTERN = loads_one("""
[helper:Agent {instruction: "Help.", model: "A/b"} |
  [add:Tool {description: "Adds"} | (x::Integer)==>(::Integer)],
  [send:Tool {description: "Sends"} | (to::Text {default: "a\\nb"})==>(::Any)]
]
""")
ARGUMENTS = ['{"x": 1}', "{}", '{"x": "one"}', "not JSON", '{"to": "\\u0000"}', ""]


def states(random: Random) -> list[State]:
    """The States of one run, in which models, tools and people answer by chance."""
    state, effects = start(
        AGENT_PATTERN,
        "hello",
        limits=Limits(iterations=2, run_seconds=random.choice([None, 0.5]), tool_seconds=30),
        policy=ApprovalPolicy([ApprovalRule("ask", "send", {"to": "*"})]),
        model=random.choice([None, Model("C", "d/e")]),
        settings=random.choice([None, {"temperature": 0.5, "seed": None}]),
    )
    seen, waiting = [state], list(effects)
    while waiting and len(seen) < 12:
        effect = waiting.pop(random.randrange(len(waiting)))
        if random.random() < 0.05:
            event: object = TimeUp()
        elif isinstance(effect, CallModel):
            calls = [
                ToolCall(f"c{n}", random.choice(["add", "send", "gone"]), random.choice(ARGUMENTS))
                for n in range(random.choice([0, 1, 3]))
            ]
            message = Message(AssistantRole, random.choice(["", "text\n\0"]), calls)
            usage = random.choice([Usage(), Usage(3, 4)])
            event = ModelReplied(effect.at, message, usage, random.random() < 0.1)
        elif isinstance(effect, Ask):
            event = Decided(effect.at, random.random() < 0.5, "no\ud800")
        elif isinstance(effect, CallTool) and random.random() < 0.5:
            event = ToolReturned(effect.at, random.choice(["1", '{"a":[null]}', '"text"']))
        else:
            event = CallFailed(effect.at, "it failed")
        state, effects = step(state, event)  # type: ignore[arg-type]  # one of the events above
        seen.append(state)
        waiting = [] if isinstance(event, TimeUp) else [*waiting, *effects]
    if state.stopped and random.random() < 0.5:
        seen.append(step(state, Resumed(Limits()))[0])
    return seen


@given(st.randoms(use_true_random=False))
def test_every_state_comes_back_equal_from_text(random: Random) -> None:
    for state in states(random):
        text = dumps(state_to_pattern(state))

        back = state_from_pattern(loads_one(text))

        assert back == state
        assert back.run_id == state.run_id


@settings(max_examples=25)  # a State is large, and one broken part says what many do
@given(st.randoms(use_true_random=False), st.data())
def test_a_changed_state_is_read_or_refused_with_an_error_of_ours(
    random: Random, data: st.DataObject
) -> None:
    pattern = state_to_pattern(states(random)[-1])
    elements = list(pattern.elements)
    index = data.draw(st.integers(0, len(elements) - 1))
    elements[index] = data.draw(patterns())

    try:
        state_from_pattern(Pattern(pattern.value, elements))
    except GramError:
        pass
    else:
        assert index == 0  # any pattern may be the agent; a run refuses what is none


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ('status: "sleeping"', '"sleeping" is not a status'),
        ('model: "none"', "model"),
        ("limits: {iterations: -1}", "iterations"),
        ("limits: {colour: 1}", "colour"),
        ("usage: {input_tokens: 1.5}", "whole numbers"),
        ("turn: true", "whole number"),
        ("unset: [1]", "array of names"),
        ("extra: 1", "has no property extra"),
    ],
)
def test_what_is_no_state_is_refused_with_its_place(change: str, message: str) -> None:
    state, _ = start(AGENT_PATTERN, "hello")
    text = dumps(state_to_pattern(state))
    key = change.partition(":")[0]
    pattern = loads_one(text)
    changed = loads_one(f"({{{change}}})").value.properties[key]
    subject = pattern.value
    broken = Pattern(
        type(subject)(subject.identity, subject.labels, subject.properties.set(key, changed)),
        pattern.elements,
    )

    with pytest.raises(ValidationError, match=message):
        state_from_pattern(broken)


def test_other_patterns_are_refused() -> None:
    with pytest.raises(ValidationError, match="expected RunState"):
        state_from_pattern(AGENT_PATTERN)
    assert AGENT_PATTERN.value.labels == {AGENT}
