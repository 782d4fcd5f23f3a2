"""What notebooks show of conversations, responses and recorded runs."""

from __future__ import annotations

from html import escape

from gram.display import Content, Markup, element
from gram.errors import expect
from gram.words import counted

from ..history.records import RecordedRun
from ..history.replaying import Timeline, timeline
from ..machine import (
    AgentResponse,
    ConversationContext,
    FunctionRole,
    Message,
    call_text,
)
from ..shown import shortened

_MOST_MESSAGES = 100
_MOST_TEXT = 5_000

_MESSAGE_ROW = (
    '<tr><td style="vertical-align:top;text-align:right;color:#8a8a8a">{}</td>'
    '<td style="text-align:left;white-space:pre-wrap">{}</td></tr>'
)
_MOST_ENTRIES = 100
_LONGEST = 300


def run_form(run: RecordedRun | Timeline) -> dict[str, str]:
    """The forms of a recorded run, or of its timeline, for a notebook: a row for each entry.

    Known keys are replaced, and what people, models and tools wrote is never taken as HTML.
    """
    expect(run, (RecordedRun, Timeline), "run", by="run_form")
    found = run if isinstance(run, Timeline) else timeline(run, has_prices=False)
    rows = [_row("you", found.input, "")]
    for entry in found.in_order[:_MOST_ENTRIES]:
        what: Content = entry.result or ", ".join(entry.calls)
        if entry.kind == "tool" or entry.is_frame:
            call = call_text(entry.name, entry.arguments or "{}")
            came = entry.result or entry.error or ""
            what = [element("code", shortened(call, _LONGEST)), " → ", shortened(came, _LONGEST)]
        elif isinstance(what, str):
            what = shortened(what or entry.error or entry.arguments or "", _LONGEST)
        took = "" if entry.seconds is None else f"{entry.seconds:.2f} s"
        rows.append(_row(entry.kind, what, took if entry.how == "done" else entry.how))
    if len(found.in_order) > _MOST_ENTRIES:
        rows.append(_row("", f"… {len(found.in_order) - _MOST_ENTRIES} more", ""))
    return {"text/plain": repr(run), "text/html": element("table", rows)}


def _row(who: str, what: Content, how: str) -> Markup:
    cells = (who, what, how)
    return element("tr", (element("td", cell, style="text-align:left") for cell in cells))


def conversation_form(shown: ConversationContext | AgentResponse) -> dict[str, str]:
    """The forms of a conversation, or of the conversation of a response, for a notebook.

    Known keys are replaced, and what people, models and tools wrote is never taken as HTML.
    """
    expect(shown, (ConversationContext, AgentResponse), "shown", by="conversation_form")
    context = shown.context if isinstance(shown, AgentResponse) else shown
    rows = [_message_row(message) for message in context[-_MOST_MESSAGES:]]
    if len(context) > len(rows):
        rows.insert(
            0, _MESSAGE_ROW.format("", f"… {counted(len(context) - len(rows), 'message')} before")
        )
    if isinstance(shown, AgentResponse) and shown.truncated:
        rows.append(_MESSAGE_ROW.format("", "… cut off at the length limit"))
    return {"text/plain": repr(shown), "text/html": f"<table>{''.join(rows)}</table>"}


def _message_row(message: Message) -> str:
    role = message.role
    if isinstance(role, FunctionRole):
        return _MESSAGE_ROW.format(_shown(role.name), f"<code>{_shown(message.content)}</code>")
    calls = [call_text(call.name, call.arguments) for call in message.tool_calls]
    parts = [_shown(message.content)] if message.content else []
    parts += [f"<code>{_shown(each)}</code>" for each in (*calls, *map(str, message.attachments))]
    return _MESSAGE_ROW.format(role.name, "<br>".join(parts))


def _shown(text: str) -> str:
    return escape(shortened(text, _MOST_TEXT))
