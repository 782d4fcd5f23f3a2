"""What goes back of a reply: its items, to the server and the model that sent them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from attrs import evolve

from interp import Message, UserRole
from interp.errors import ModelError
from interp.machine import ConversationContext, Request
from interp.models.responses import items_of, read_response
from lenses_ext import Model

REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VhbGVk"}
SAID = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "phase": "commentary",
    "content": [{"type": "output_text", "text": "One moment."}],
}
CALL = {
    "type": "function_call", "id": "fc_1", "call_id": "c1", "name": "sayHello",
    "arguments": '{"personName": "Al"}',
}  # fmt: skip
ASKED = Request(Model("OpenAI", "m"), "x", ConversationContext([Message(UserRole, "hi")]))


def reply_of(*items: dict[str, Any]) -> Message:
    """What a server says in some items."""
    data = {"status": "completed", "output": list(items)}
    return read_response(data, ASKED, server="here").message


def test_a_reply_that_calls_tools_goes_back_as_it_came() -> None:
    message = reply_of(REASONING, SAID, CALL)

    assert items_of(message, "here", "m", True) == [REASONING, SAID, CALL]


@pytest.mark.parametrize(("server", "model"), [("there", "m"), ("here", "n")])
def test_another_server_or_model_gets_only_what_was_said(server: str, model: str) -> None:
    message = reply_of(REASONING, SAID, CALL)

    assert [each["type"] for each in items_of(message, server, model, True)] == [
        "message",
        "function_call",
    ]
    sent = json.dumps(items_of(message, server, model, True))
    assert "c2VhbGVk" not in sent
    assert "fc_1" not in sent


def test_reasoning_that_nobody_can_read_is_left_out() -> None:
    unreadable = {"type": "reasoning", "id": "rs_2", "summary": [{"text": "Hm"}]}
    plain = {
        "type": "reasoning",
        "id": "rs_3",
        "content": [{"type": "reasoning_text", "text": "H"}],
    }

    assert items_of(reply_of(unreadable, CALL), "here", "m", True) == [CALL]
    assert items_of(reply_of(plain, CALL), "here", "m", True) == [plain, CALL]


def test_where_encrypted_reasoning_is_refused_only_plain_reasoning_goes_back() -> None:
    both = {**REASONING, "content": [{"type": "reasoning_text", "text": "Hm"}]}

    assert items_of(reply_of(REASONING, CALL), "here", "m", False) == [CALL]
    (kept, _) = items_of(reply_of(both, CALL), "here", "m", False)
    assert "encrypted_content" not in kept


def test_an_edited_message_is_sent_as_it_is_now() -> None:
    edited = evolve(reply_of(REASONING, SAID, CALL), content="Wait.")

    sent = items_of(edited, "here", "m", True)

    assert sent[0]["content"] == [{"type": "output_text", "text": "Wait."}]
    assert "c2VhbGVk" not in json.dumps(sent)


def test_a_call_without_an_id_goes_back_with_the_one_that_its_result_names() -> None:
    nameless = {key: value for key, value in CALL.items() if key != "call_id"}
    message = reply_of(nameless, nameless)

    ids = [each["call_id"] for each in items_of(message, "here", "m", True)]

    assert ids == [call.id for call in message.tool_calls] == ["call_0", "call_1"]


def test_the_phase_of_an_answer_goes_back() -> None:
    message = reply_of(SAID)

    assert items_of(message, "here", "m", True) == [SAID]
    assert reply_of({**SAID, "phase": None}).echo is None


@pytest.mark.parametrize(
    "echo", ["", "no json", "[]", '{"output": 3}', '{"output": [{"type": 1}]}']
)
def test_an_echo_that_somebody_wrote_by_hand_is_no_harm(echo: str) -> None:
    message = evolve(reply_of(CALL), echo=echo)

    assert items_of(message, "here", "m", True)[0]["arguments"] == CALL["arguments"]


def test_a_call_without_a_name_is_an_error() -> None:
    with pytest.raises(ModelError, match="does not name a tool"):
        reply_of({"type": "function_call", "arguments": "{}"})
