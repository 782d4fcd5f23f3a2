"""``gram conversations``: conversations that are kept, listed, shown, exported and removed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from gram import dumps, format_text
from gram.json import Json
from gram.words import counted

from ...errors import StoreError
from ...history import to_pattern
from ...history.stores import Address, Conversation, FileConversation, address_of_run, open_store
from ...machine import Message, call_text
from ..inputs.declaring import argument, command, json_option, option
from ..inputs.record_option import moment, store_option
from ..terminal.console import forbid, note, show, show_result


@click.group("conversations")
def conversations_command() -> None:
    """List, show, export and remove conversations.

    gram run and gram chat keep them in a store with --record STORE and --conversation NAME; a file
    holds one. NAME is the name of one in --record, or its address: talk.gram, runs.db#NAME.
    """


_BEFORE = "Only those that last changed before then, such as 30d."
_most_option: Any = option("How many at most; 50.", default=50)


@command("list", conversations_command)
def list_conversations(
    store: str = store_option,
    before: datetime | None = option(_BEFORE),
    most: int = _most_option,
    as_json: bool = json_option,
) -> None:
    """List conversations, those that changed last first: time, messages, name."""
    if Address.of(store).is_store:
        with open_store(store, must_exist=True) as opened:
            kept = opened.conversations(before=before, limit=most)
            found = [(each.name, len(each), each.changed) for each in kept]
    else:
        one = _of_file(store)
        is_meant = before is None or one.changed < before
        found = [(one.name, len(one), one.changed)] if is_meant else []
    rows = [
        {"name": name, "messages": size, "changed": changed and changed.isoformat()}
        for name, size, changed in found
    ]
    lines = (
        f"{moment(changed) if changed else ''}  {size:6}  {name}" for name, size, changed in found
    )
    show_result(as_json, rows, lines)


@command("show", conversations_command)
def show_conversation(
    name: str | None = None,
    store: str = store_option,
    before: int | None = option(
        "Only messages before the Nth, from 0.", "N", "--before-message", type=click.IntRange(0)
    ),
    most: int = _most_option,
    as_json: bool = json_option,
) -> None:
    """Show a page of a conversation, its last messages unless --before-message says otherwise."""
    with _one(name, store) as conversation:
        size = len(conversation)
        page = conversation.page(before=before, limit=most)
    first = (size if before is None else min(before, size)) - len(page)
    messages = [*enumerate(page, first)]
    rows = [{"number": number, **_message_json(each)} for number, each in messages]
    show_result(as_json, rows, (f"{at:6}  {_message_text(each)}" for at, each in messages))
    if first and not as_json:
        note(f"gram: there are {first} messages before; --before-message {first} shows them")


def _message_text(message: Message) -> str:
    calls = [call_text(call.name, call.arguments) for call in message.tool_calls]
    said = " ".join(filter(None, (message.content, *calls, *map(repr, message.attachments))))
    return f"{' '.join(filter(None, (message.role.name, message.speaker)))}: {said}"


def _message_json(message: Message) -> dict[str, Json]:
    calls = message.tool_calls
    return {
        "role": message.role.name,
        "speaker": message.speaker,
        "content": message.content,
        "calls": [{"id": it.id, "tool": it.name, "arguments": it.arguments} for it in calls],
        "call_id": message.call_id,
        "attachments": [file.to_json() for file in message.attachments],
    }


@command("export", conversations_command)
def export_conversation(name: str | None = None, store: str = store_option) -> None:
    """Print a conversation as [:Conversation …], which -c goes on with in a file."""
    with _one(name, store) as conversation:
        show(format_text(dumps(to_pattern(conversation.context))), nl=False)


@command("import", conversations_command)
def import_conversation(
    name: str,
    file: str,
    program: str | None = option(
        "The program that it is with, so that -c finds it; by default that of its last turn.",
        "FILE",
    ),
    store: str = store_option,
) -> None:
    """Begin the conversation NAME with the messages of another: of a file, or of a store.

    FILE has a [:Conversation …] or turns, or is the address of one in a store, such as runs.db#al.
    """
    with _one(file, store) as conversation:
        context, known = conversation.context, conversation.program
    if program is not None:
        known = str(Path(program).resolve(strict=True))
    address = address_of_run(name, store)
    forbid(not address.is_store, f"{address} is a file: gram conversations export prints one")
    with open_store(address.place) as opened:
        new = opened.conversation(address.run)
        if len(new):
            raise StoreError(f"{opened.name}: there is a conversation {new.name} already")
        new.extend(context, program=known and str(Path(known).resolve()))
    note(f"gram: the conversation {name} has {counted(len(context), 'message')}")


@command("remove", conversations_command)
def remove(names: tuple[str, ...] = argument("NAME..."), store: str = store_option) -> None:
    """Remove conversations for good, with the runs that are their turns.

    One is not removed while a turn of it is queued or under way.
    """
    with ExitStack() as opened:
        for each in [opened.enter_context(_one(name, store)) for name in names]:
            each.remove()
            note(f"gram: the conversation {each.name} is removed")


@command("prune", conversations_command)
def prune(
    store: str = store_option,
    before: datetime = option(_BEFORE, required=True),
    as_json: bool = json_option,
) -> None:
    """Remove conversations that are old, for good, with the runs that are their turns.

    Those with a turn that is queued or under way stay.
    """
    if Address.of(store).is_store:
        with open_store(store, must_exist=True) as opened:
            removed = opened.prune_conversations(before)
    else:
        one = _of_file(store)
        removed = int(one.changed < before)
        if removed:
            one.remove()
    show_result(as_json, {"removed": removed}, ())
    note(f"gram: {counted(removed, 'conversation')} removed")


@contextmanager
def _one(name: str | None, record: str) -> Iterator[Conversation | FileConversation]:
    """The conversation that an argument means: its address, or its name in the record."""
    address = Address.of(record) if name is None else address_of_run(name, record)
    forbid(address.is_store and not address.run, f"{address} is a store: name a conversation")
    why = f"{address.place} is a file: its conversation has no name"
    forbid(address.run and not address.is_store, why)
    if not address.is_store:
        yield _of_file(address.place)
        return
    with open_store(address.place, must_exist=True) as store:
        conversation = store.conversation(address.run)
        if not len(conversation):
            raise StoreError(f"{store.name}: there is no conversation {address.run}")
        yield conversation


def _of_file(path: str) -> FileConversation:
    Path(path).stat()  # it has to be there
    return FileConversation(path)
