"""Messages and conversations: what they consist of."""

from __future__ import annotations

from enum import StrEnum

import interp
from interp import Message, UserRole

# --- how they are shown


def test_reprs_are_short_and_say_what_counts() -> None:
    call = interp.ToolCall("1", "greet", '{"name": "Al"}')
    asked = interp.Message(interp.AssistantRole, "", [call])
    context = interp.ConversationContext([interp.Message(interp.UserRole, "hi"), asked])
    used = [interp.ToolInvocation("greet", {"name": "Al"}, "Hello")] * 7
    response = interp.AgentResponse("x" * 100, used, context, truncated=True)

    assert repr(asked) == '<Message assistant: greet(name: "Al")>'
    assert repr(context) == f"<ConversationContext of 2 messages, last: {asked!r}>"
    assert repr(response).startswith(f"<AgentResponse '{'x' * 80}…', greet(name: \"Al\"), ")
    assert repr(response).endswith(", … 2 more calls, truncated>")


def test_a_notebook_never_takes_a_conversation_as_html() -> None:
    call = interp.ToolCall("1", "greet", '{"name": "<b>"}')
    context = interp.ConversationContext(
        [
            interp.Message(interp.UserRole, "<script> there"),
            interp.Message(interp.AssistantRole, "I call", [call]),
            interp.Message(interp.FunctionRole("<i>"), "done"),
        ]
    )

    for shown in (context, interp.AgentResponse("done", (), context, truncated=True)):
        form = shown._repr_mimebundle_()
        assert form["text/plain"] == repr(shown)
        assert "&lt;script&gt; there" in form["text/html"]
        assert "greet(name: &quot;&lt;b&gt;&quot;)" in form["text/html"]
        assert not {"<script>", "<b>", "<i>"} & set(form["text/html"].split())


def test_a_text_of_a_class_of_its_own_is_a_plain_text_of_a_message() -> None:
    class Verdict(StrEnum):
        GOOD = "good"

    said = Message(UserRole, Verdict.GOOD)

    assert type(said.content) is str
    assert repr(said.content) == "'good'"
