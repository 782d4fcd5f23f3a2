"""The entries of runs in a store.

A run that is a turn of a conversation has its first entry without the messages before it: those are
kept in the conversation.
"""

from __future__ import annotations

from ...errors import StoreError
from ...machine import ConversationContext, empty_context
from ..records import RecordedRun, head_of, messages_of, read_run
from .database import Database
from .run_rows import name_of, no_run


def entries_of(database: Database, run: str) -> list[str]:
    """The entries of a run, as they are kept.

    Raises:
        StoreError: there is no such run, or the store cannot be read.
    """
    found = database.execute("SELECT text, seq FROM gram_entries WHERE run = ? ORDER BY seq", run)
    if not found:
        raise no_run(database, run)
    for place, (_, seq) in enumerate(found):
        if seq != place:
            raise StoreError(
                f"{name_of(database, run)}: its entry {place} is missing: was it removed?"
            )
    return [text for text, _ in found]


def recorded_run(database: Database, run: str) -> RecordedRun:
    """What is recorded of a run, see `RunStore.recorded`."""
    before = empty_context
    for conversation, size in _turns(database, run):
        before = messages_between(database, conversation, 0, size)
        if len(before) < size:
            raise StoreError(
                f"the conversation {conversation} was removed, which the run is a turn of"
            )
    lines = (f"{each}\n" for each in entries_of(database, run))
    return read_run("".join(lines), name_of(database, run), before)


def whole_entries(database: Database, run: str) -> list[str]:
    """The entries of a run; the first one has the messages before it."""
    head, *others = entries_of(database, run)
    if _turns(database, run):
        kept = recorded_run(database, run)
        head = head_of(kept.first, kept.library, kept.started)
    return [head, *others]


def _turns(database: Database, run: str) -> list[tuple[str, int]]:
    """The conversation of a run and how many messages that had before it, if it had any."""
    found: list[tuple[str, int]] = database.execute(
        "SELECT conversation, messages FROM gram_runs WHERE id = ? AND messages > 0", run
    )
    return found


def messages_between(
    database: Database, conversation: str, begin: int, end: int
) -> ConversationContext:
    """The messages of a conversation from one on to before another."""
    found = database.execute(
        "SELECT text FROM gram_messages WHERE conversation = ? AND seq >= ? AND seq < ? "
        "ORDER BY seq",
        conversation,
        begin,
        end,
    )
    return messages_of(text for (text,) in found)
