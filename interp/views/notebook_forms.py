"""What notebooks show of conversations, responses and recorded runs."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final

from gram.display import Content, Markup, element
from gram.errors import expect
from gram.words import counted

from ..history.records import RecordedRun
from ..history.replaying import Entry, Timeline, timeline
from ..machine import AgentResponse, ConversationContext, FunctionRole, Message, call_text
from ..shown import shortened
from .run_lines import said_of

_MOST_ROWS: Final = 100
_MOST_TEXT: Final = 5_000


def run_form(run: RecordedRun | Timeline) -> dict[str, str]:
    """The forms of a recorded run, or of its timeline, for a notebook: a row for each entry.

    Known keys are replaced, and what people, models and tools wrote is never taken as HTML.
    """
    expect(run, (RecordedRun, Timeline), "run", by="run_form")
    found = run if isinstance(run, Timeline) else timeline(run, has_prices=False)
    rows = [("you", found.input, ""), *map(_of_entry, islice(found.in_order, _MOST_ROWS))]
    if len(found.in_order) > _MOST_ROWS:
        rows.append(("", f"… {len(found.in_order) - _MOST_ROWS} more", ""))
    return {"text/plain": repr(run), "text/html": _table(rows)}


def _of_entry(entry: Entry) -> tuple[Content, ...]:
    what = "".join(text for text, _ in said_of(entry))
    took = "" if entry.seconds is None else f"{entry.seconds:.2f} s"
    return entry.kind, what, took if entry.how == "done" else entry.how


def conversation_form(shown: ConversationContext | AgentResponse) -> dict[str, str]:
    """The forms of a conversation, or of the conversation of a response, for a notebook.

    Known keys are replaced, and what people, models and tools wrote is never taken as HTML.
    """
    expect(shown, (ConversationContext, AgentResponse), "shown", by="conversation_form")
    context = shown.context if isinstance(shown, AgentResponse) else shown
    rows = [*map(_of_message, context[-_MOST_ROWS:])]
    if len(context) > _MOST_ROWS:
        rows.insert(0, ("", f"… {counted(len(context) - _MOST_ROWS, 'message')} before"))
    if isinstance(shown, AgentResponse) and shown.truncated:
        rows.append(("", "… cut off at the length limit"))
    return {"text/plain": repr(shown), "text/html": _table(rows)}


def _of_message(message: Message) -> tuple[Content, ...]:
    role, said = message.role, shortened(message.content, _MOST_TEXT)
    if isinstance(role, FunctionRole):
        return role.name, element("code", said)
    calls = [call_text(call.name, call.arguments) for call in message.tool_calls]
    beside = [shortened(each, _MOST_TEXT) for each in (*calls, *map(str, message.attachments))]
    return role.name, [said, *(element("div", element("code", each)) for each in beside)]


def _table(rows: Iterable[Iterable[Content]]) -> Markup:
    style = "text-align:left;vertical-align:top;white-space:pre-wrap"
    return element(
        "table",
        (element("tr", (element("td", cell, style=style) for cell in row)) for row in rows),
    )
