"""Conversations, responses and events as gram and back; nothing else is read as one of them."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

import interp
from gram import GramError, Pattern, dumps, loads_one, write_pattern
from gram.writing import ONE_LINE
from interp import AgentResponse, AssistantRole, ConversationContext, Message, ValidationError
from interp.history import from_pattern, to_pattern
from interp.history.records.patterns import event_written, written_event
from interp.machine import Event
from tests.gram.strategies import patterns
from tests.interp import strategies

CONTEXT = ConversationContext(
    [
        Message(interp.UserRole, "hello"),
        Message(AssistantRole, "", (interp.ToolCall("c1", "greet", '{"name": "Al"}'),)),
        Message(interp.FunctionRole("greet"), "Hello, Al!", call_id="c1"),
        Message(AssistantRole, "I said hello."),
    ]
)


def test_a_conversation_reads_as_one() -> None:
    expected = (
        '[:Conversation | (:User {content: "hello"}), '
        '[:Assistant | (:ToolCall {arguments: json`{"name": "Al"}`, id: "c1", name: "greet"})], '
        '(:Function {callId: "c1", content: "Hello, Al!", name: "greet"}), '
        '(:Assistant {content: "I said hello."})]'
    )
    assert dumps(to_pattern(CONTEXT)) == expected


@given(strategies.contexts())
def test_every_conversation_comes_back_from_its_text(context: ConversationContext) -> None:
    assert from_pattern(loads_one(dumps(to_pattern(context)))) == context


@given(strategies.responses())
def test_every_response_comes_back_from_its_text(response: AgentResponse) -> None:
    assert from_pattern(loads_one(dumps(to_pattern(response)))) == response


def test_an_answer_of_a_declared_type_keeps_its_value() -> None:
    used = (interp.ToolInvocation("t", {}, [1]),)
    response = AgentResponse('{"a":1}', used, CONTEXT, is_typed=True)
    assert from_pattern(to_pattern(response)) == response


SECONDS = st.none() | st.floats(0, 1e6).map(lambda seconds: round(seconds, 6))


@given(strategies.events(), SECONDS)
def test_every_event_comes_back_equal_from_one_line(event: Event, seconds: float | None) -> None:
    line = write_pattern(event_written(event, set(), seconds), style=lambda _: ONE_LINE)
    assert "\n" not in line
    assert written_event(loads_one(line), {})[:2] == (event, seconds)
    assert from_pattern(to_pattern(event)) == event


@given(patterns())
def test_any_other_pattern_is_refused_with_an_error_of_ours(pattern: Pattern) -> None:
    with pytest.raises(GramError):
        from_pattern(pattern)


NONE_OF_THEM = [
    ("(:Conversaton)", "3", "did you mean Conversation?"),
    ("(a)", "2", "expected Conversation or AgentResponse or ToolInvocation or "),
    ('(:Conversation {title: "a"})', "24", "Conversation has no property title"),
    ("[:Conversation | (:Usr)]", "20", "expected User or Assistant or Function, found Usr"),
    ('[:Conversation | (:User {contnet: "a"})]', "35", "did you mean content?"),
    ("[:Conversation | (:User {content: 1})]", "35", "content of User must be a string"),
    ("[:Conversation | (:User {content: x`1`})]", "35", "content of User must be a string"),
    ("[:Conversation | (:Function)]", "18", "Function has no name"),
    ('[:Conversation | (:Function {name: ""})]', "36", "the name of Function is empty"),
    ("[:Conversation | [:User | (a)]]", "28", "expected ToolCall, found no label"),
    ('[:Conversation | [:User | (:ToolCall {name: "a"})]]', "27", "has no arguments"),
    ('(:ToolInvocation {tool: "t", args: json`{}`})', "", "either a result or an error"),
    ('(:ToolInvocation {tool: "t", args: json`{`, result: ""})', "", "args of ToolInvocation is"),
    ('(:ToolInvocation {args: "", result: ""})', "", "ToolInvocation has no tool"),
    ('(:AgentResponse {inputTokens: "1"})', "", "AgentResponse must be a whole number"),
    ("(:AgentResponse {typed: 1})", "", "AgentResponse must be true or false"),
    ("(:AgentResponse {typed: true})", "", "AgentResponse is not JSON"),
    ("(:ToolReturned {at: [0, 0], result: json`{`})", "", "result of ToolReturned is not JSON"),
    ("(:ToolReturned {at: [-1], result: json`1`})", "", "array of whole numbers"),
    ("(:ToolReturned {at: [0, 0]})", "", "ToolReturned has no result"),
    ("[:ModelReplied {at: [0]} | (:User), (:User)]", "", "must have one element"),
    ("(:ModelReplied {at: [0]})", "", "must have one element"),
    ('(:Decided {at: [0, 0], allowed: "yes"})', "", "must be true or false"),
    ('(:CallFailed {at: [0, 0], eror: "x"})', "", "has no property eror"),
    ("[:TimeUp | (:User)]", "", "must not have elements"),
    ('(:Resumed {model: "none"})', "", "names no provider"),
    ('(:Resumed {checkResults: "maybe"})', "", "must be true or false"),
    ("(:Replied {at: [0]})", "", "expected"),
    ('(:TimeUp {seconds: "long"})', "", "must be a number"),
]


@pytest.mark.parametrize(("text", "column", "message"), NONE_OF_THEM)
def test_what_is_none_of_them_is_told_with_its_place(text: str, column: str, message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        from_pattern(loads_one("\n" + text))
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"2:{column}")
