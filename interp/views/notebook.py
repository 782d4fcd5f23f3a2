"""Notebooks: what they show of runs and conversations, and ``%load_ext interp``."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any, Final

from gram import Diagnostic, GramDecodeError, GramError, Pattern, only_errors, syntax_errors
from gram.checks import syntax_fault
from gram.display import Content, Markup, element
from gram.errors import expect
from gram.words import counted
from lenses_ext import is_runnable, parse_program
from lenses_ext.names import find_runnables

from ..history.records import RecordedRun
from ..history.replaying import Entry, Timeline, timeline
from ..machine import AgentResponse, ConversationContext, FunctionRole, Message, call_text
from ..models import check_program
from ..programs import the_agent
from ..running import run
from ..shown import shortened
from .runs import said_of

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
    return {"text/plain": repr(run), "text/html": _rows(rows)}


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
    return {"text/plain": repr(shown), "text/html": _rows(rows)}


def _of_message(message: Message) -> tuple[Content, ...]:
    role, said = message.role, shortened(message.content, _MOST_TEXT)
    if isinstance(role, FunctionRole):
        return role.name, element("code", said)
    calls = [call_text(call.name, call.arguments) for call in message.tool_calls]
    beside = [shortened(each, _MOST_TEXT) for each in (*calls, *map(str, message.attachments))]
    return role.name, [said, *(element("div", element("code", each)) for each in beside)]


def _rows(rows: Iterable[Iterable[Content]]) -> Markup:
    style = "text-align:left;vertical-align:top;white-space:pre-wrap"
    return element(
        "table", (element("tr", (element("td", cell, style=style) for cell in row)) for row in rows)
    )


# --- cells

_CELL = "<cell>"


def load_ipython_extension(shell: Any) -> None:
    """Teach a notebook ``%%gram`` and ``%gram_chat``; IPython calls this.

    ``%%gram [NAME]`` reads its cell as a program, shows what is wrong or draws it, and binds each
    agent and workflow under its own name; with NAME, the one that nothing else refers to under
    that. ``%gram_chat NAME MESSAGE`` says something to one of them; the next message goes on with
    that conversation. Where the notebook has a variable ``tools``, the agent has these.
    """
    from IPython import display as shown

    display: Any = shown.display
    conversations: dict[str, ConversationContext] = {}

    def say(text: str) -> None:
        display({"text/plain": text}, raw=True)

    def gram(line: str, cell: str) -> None:
        name = line.strip()
        try:
            faults = check_program(parse_program(cell, _CELL))
        except GramDecodeError:
            faults = tuple(map(syntax_fault, syntax_errors(cell, _CELL)))
        for fault in faults:
            display(_form(fault), raw=True)
        if only_errors(faults):
            return
        document = parse_program(cell, _CELL)
        names = [name] if name else [each.value.identity for each in find_runnables(document)]
        for each in names:
            if not each.isidentifier():
                say(f"{each} is no name of a variable: %%gram NAME binds it to another")
                continue
            try:
                agent = shell.user_ns[each] = the_agent(document, None if name else each, by="gram")
            except GramError as error:  # a notebook would show all of its traceback
                say(str(error))
                continue
            conversations.pop(each, None)
            display(agent)

    def gram_chat(line: str) -> AgentResponse | None:
        name, _, message = line.strip().partition(" ")
        agent = shell.user_ns.get(name)
        if not _is_program(agent) or not message.strip():
            known = ", ".join(each for each, it in shell.user_ns.items() if _is_program(it))
            say(f"write %gram_chat NAME MESSAGE; the agents here are: {known or 'none yet'}")
            return None
        context, tools = conversations.get(name), shell.user_ns.get("tools")
        try:
            response = run(agent, message.strip(), tools, context)
        except GramError as error:  # a notebook would show all of its traceback
            say(str(error))
            return None
        conversations[name] = response.context
        return response

    shell.register_magic_function(gram, "cell")
    shell.register_magic_function(gram_chat, "line")


def _is_program(value: object) -> bool:
    return isinstance(value, Pattern) and is_runnable(value)


def _form(fault: Diagnostic) -> dict[str, str]:
    """A fault as a notebook shows it: its line, with a mark below the part that is meant."""
    told = f"{fault} - {fault.hint}" if fault.hint else str(fault)
    excerpt: list[Content] = []
    if fault.excerpt:
        line, marks = fault.excerpt.rsplit("\n", 1)
        excerpt = [line, "\n", element("b", marks, style="color:#d33"), "\n"]
    shown = element("pre", excerpt, told, style="white-space:pre-wrap")
    return {"text/plain": told, "text/html": shown}
