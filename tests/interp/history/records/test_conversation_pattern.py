"""Conversations and what runs give, as gram and back."""

from __future__ import annotations

import pytest
from hypothesis import given

from gram import dumps, loads_one
from interp import (
    AgentResponse,
    AssistantRole,
    ConversationContext,
    FunctionRole,
    Message,
    ToolCall,
    ToolInvocation,
    UserRole,
    ValidationError,
)
from interp.history import from_pattern, to_pattern
from tests.interp import strategies

CONTEXT = ConversationContext(
    [
        Message(UserRole, "hello"),
        Message(AssistantRole, "", (ToolCall("c1", "greet", '{"name": "Al"}'),)),
        Message(FunctionRole("greet"), "Hello, Al!", call_id="c1"),
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
    response = AgentResponse('{"a":1}', (ToolInvocation("t", {}, [1]),), CONTEXT, is_typed=True)

    assert from_pattern(to_pattern(response)) == response


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("(:Conversaton)", "1:3", "did you mean Conversation?"),
        ("(a)", "1:2", "expected Conversation or AgentResponse or ToolInvocation or "),
        ('(:Conversation {title: "a"})', "1:24", "Conversation has no property title"),
        ("[:Conversation | (:Usr)]", "1:20", "expected User or Assistant or Function, found Usr"),
        ('[:Conversation | (:User {contnet: "a"})]', "1:35", "did you mean content?"),
        ("[:Conversation | (:User {content: 1})]", "1:35", "content of User must be a string"),
        ("[:Conversation | (:User {content: x`1`})]", "1:35", "content of User must be a string"),
        ("[:Conversation | (:Function)]", "1:18", "Function has no name"),
        ('[:Conversation | (:Function {name: ""})]', "1:36", "the name of Function is empty"),
        ("[:Conversation | [:User | (a)]]", "1:28", "expected ToolCall, found no label"),
        ('[:Conversation | [:User | (:ToolCall {name: "a"})]]', "1:27", "has no arguments"),
    ],
)
def test_what_is_no_conversation_is_told_with_its_place(
    text: str, place: str, message: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        from_pattern(loads_one(text))

    assert message in str(caught.value)
    assert str(caught.value).startswith(place)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('(:ToolInvocation {tool: "t", args: json`{}`})', "either a result or an error"),
        ('(:ToolInvocation {tool: "t", args: json`{`, result: ""})', "args of ToolInvocation is"),
        ('(:ToolInvocation {args: "", result: ""})', "ToolInvocation has no tool"),
    ],
)
def test_what_is_no_invocation_is_told(text: str, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        from_pattern(loads_one(f"[:AgentResponse | {text}]"))


@pytest.mark.parametrize("properties", ['{inputTokens: "1"}', "{typed: 1}", "{typed: true}"])
def test_what_is_no_response_is_told(properties: str) -> None:
    with pytest.raises(ValidationError, match=r"AgentResponse (is not JSON|must be)"):
        from_pattern(loads_one(f"(:AgentResponse {properties})"))
