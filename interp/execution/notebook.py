"""What notebooks show of conversations and responses."""

from __future__ import annotations

from html import escape

from gram import counted, expect

from ..machine import (
    AgentResponse,
    ConversationContext,
    FunctionRole,
    Message,
    call_text,
)
from ..reprs import shortened

_MOST_MESSAGES = 100
_MOST_TEXT = 5_000

_ROW = (
    '<tr><td style="vertical-align:top;text-align:right;color:#8a8a8a">{}</td>'
    '<td style="text-align:left;white-space:pre-wrap">{}</td></tr>'
)


def conversation_form(shown: ConversationContext | AgentResponse) -> dict[str, str]:
    """The forms of a conversation, or of the conversation of a response, for a notebook.

    Known keys are replaced, and what people, models and tools wrote is never taken as HTML.
    """
    expect(shown, (ConversationContext, AgentResponse), "shown", by="conversation_form")
    context = shown.context if isinstance(shown, AgentResponse) else shown
    rows = [_row(message) for message in context[-_MOST_MESSAGES:]]
    if len(context) > len(rows):
        rows.insert(0, _ROW.format("", f"… {counted(len(context) - len(rows), 'message')} before"))
    if isinstance(shown, AgentResponse) and shown.truncated:
        rows.append(_ROW.format("", "… cut off at the length limit"))
    return {"text/plain": repr(shown), "text/html": f"<table>{''.join(rows)}</table>"}


def _row(message: Message) -> str:
    role = message.role
    if isinstance(role, FunctionRole):
        return _ROW.format(_shown(role.name), f"<code>{_shown(message.content)}</code>")
    calls = [call_text(call.name, call.arguments) for call in message.tool_calls]
    parts = [_shown(message.content)] if message.content else []
    parts += [f"<code>{_shown(each)}</code>" for each in (*calls, *map(str, message.attachments))]
    return _ROW.format(role.name, "<br>".join(parts))


def _shown(text: str) -> str:
    return escape(shortened(text, _MOST_TEXT))
