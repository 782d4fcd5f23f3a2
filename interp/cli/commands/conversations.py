"""``gram conversations``: conversations that are kept, listed, shown, exported and removed."""

from __future__ import annotations

import errno
from datetime import datetime
from pathlib import Path

import click

from gram import dumps, format_text
from gram.json import Json
from gram.plurals import counted

from ...errors import StoreError
from ...history import to_pattern
from ...history.records import load_context, save_context
from ...history.stores import Address, Conversation, RunStore, open_conversation, open_store
from ...machine import Message, call_text
from ..completion.completing import complete_files
from ..inputs.file_options import json_option
from ..inputs.record_option import Age, store_option
from ..terminal.output import note, show, show_json

_MOST = 50  # what is shown unless told otherwise


@click.group("conversations")
def command() -> None:
    """List, show, export and remove the conversations of a store.

    gram run and gram chat keep one there with --record STORE and --conversation NAME.
    """


_limit_option = click.option(
    "--most",
    "limit",
    type=click.IntRange(1),
    default=_MOST,
    show_default=True,
    help="How many at most.",
)


@command.command("list")
@store_option()
@click.option("--before", type=Age(), help="Only those that last changed before then.")
@_limit_option
@json_option
def list_conversations(store: str, before: datetime | None, limit: int, as_json: bool) -> None:
    """List conversations, those that changed last first: time, messages, name."""
    with open_store(store, must_exist=True) as opened:
        found = [(each, len(each)) for each in opened.conversations(before=before, limit=limit)]
    if as_json:
        show_json(
            [
                {
                    "name": each.name,
                    "messages": size,
                    "changed": each.changed.isoformat() if each.changed else None,
                }
                for each, size in found
            ]
        )
        return
    for each, size in found:
        changed = each.changed.astimezone().strftime("%Y-%m-%d %H:%M:%S") if each.changed else ""
        show(f"{changed}  {size:6}  {each.name}")


@command.command("show")
@click.argument("name")
@store_option()
@click.option(
    "--before-message",
    "before",
    type=click.IntRange(0),
    metavar="N",
    help="Only messages before the Nth, from 0.",
)
@_limit_option
@json_option
def show_conversation(name: str, store: str, before: int | None, limit: int, as_json: bool) -> None:
    """Show a page of a conversation, its last messages unless --before-message says otherwise."""
    with open_store(store, must_exist=True) as opened:
        conversation = _that_is_there(opened, name)
        size = len(conversation)
        page = conversation.page(before=before, limit=limit)
    end = size if before is None else min(before, size)
    first = end - len(page)
    if as_json:
        show_json([_message_json(number, each) for number, each in enumerate(page, first)])
        return
    for number, each in enumerate(page, first):
        who = f"{each.role.name} {each.speaker}" if each.speaker else each.role.name
        calls = [call_text(call.name, call.arguments) for call in each.tool_calls]
        files = map(repr, each.attachments)
        show(f"{number:6}  {who}: {' '.join(filter(None, (each.content, *calls, *files)))}")
    if first > 0:
        note(f"gram: there are {first} messages before; --before-message {first} shows them")


@command.command("export")
@click.argument("name")
@click.argument("out", required=False, shell_complete=complete_files)
@store_option()
def export(name: str, out: str | None, store: str) -> None:
    """Write a conversation as [:Conversation …] to the file OUT, or to standard output.

    NAME may be a run file, which has one conversation.
    """
    if Path(name).is_file() and not Address.of(name).is_store:
        context = open_conversation(name, True, None).context
    else:
        with open_store(store, must_exist=True) as opened:
            context = _that_is_there(opened, name).context
    if out is None:
        show(format_text(dumps(to_pattern(context))), nl=False)
    else:
        if Path(out).exists():
            reason = "exists already; a conversation is exported to a new file"
            raise FileExistsError(errno.EEXIST, reason, out)
        save_context(out, context)


@command.command("import")
@click.argument("name")
@click.argument("file", shell_complete=complete_files)
@store_option()
def import_file(name: str, file: str, store: str) -> None:
    """Begin the conversation NAME with the messages of a file that has a [:Conversation …]."""
    context = load_context(file)
    with open_store(store) as opened:
        conversation = opened.conversation(name)
        if len(conversation):
            raise StoreError(f"{opened.name}: there is a conversation {name} already")
        conversation.extend(context)
    note(f"gram: the conversation {name} has {counted(len(context), 'message')}")


@command.command("remove")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@store_option()
def remove(names: tuple[str, ...], store: str) -> None:
    """Remove conversations for good, with the runs that are their turns.

    One is not removed while a turn of it is queued or under way.
    """
    with open_store(store, must_exist=True) as opened:
        for each in [_that_is_there(opened, name) for name in names]:
            each.remove()
            note(f"gram: the conversation {each.name} is removed")


@command.command("prune")
@store_option()
@click.option(
    "--before", type=Age(), required=True, help="Only those that last changed before then."
)
@json_option
def prune(store: str, before: datetime, as_json: bool) -> None:
    """Remove conversations that are old, for good, with the runs that are their turns.

    Those with a turn that is queued or under way stay.
    """
    with open_store(store, must_exist=True) as opened:
        removed = opened.prune_conversations(before)
    if as_json:
        show_json({"removed": removed})
    note(f"gram: {counted(removed, 'conversation')} removed")


def _message_json(number: int, message: Message) -> Json:
    calls: list[Json] = [
        {"id": call.id, "tool": call.name, "arguments": call.arguments}
        for call in message.tool_calls
    ]
    return {
        "number": number,
        "role": message.role.name,
        "speaker": message.speaker,
        "content": message.content,
        "calls": calls,
        "call_id": message.call_id,
        "attachments": [file.to_json() for file in message.attachments],
    }


def _that_is_there(store: RunStore, name: str) -> Conversation:
    conversation = store.conversation(name)
    if not len(conversation):
        raise StoreError(f"{store.name}: there is no conversation {name}")
    return conversation
