"""Conversations that are kept: what the next message goes on from, and what it is recorded in.

A turn that failed after its tools had run, or whose process was killed, is taken up: what its tools
did is in the conversation when the next turn begins.
"""

from __future__ import annotations

import errno
import os
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import TypeAlias, Union

from attrs import frozen

from ...errors import ConfigurationError
from ...machine import ConversationContext, Status, context_before, empty_context
from .. import records
from .addresses import Address, RecordLike, store_of_a_run
from .conversations import Conversation, page_of
from .run_store import RunFacts, RunStore
from .stored_run import StoredRun


class FileConversation:
    """The conversation of a file: a ``[:Conversation …]``, or turns one after another, or both."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self.name = str(self._path)
        self._turns: list[records.Turn] = []
        self._log: records.RunFile | None = None
        self._given = empty_context
        self._begun = 0
        self.program = ""
        self._is_there = self._path.exists() and not records.has_nothing_begun(self._path)
        if self._is_there:
            if not self._path.is_file() and not self._path.is_dir():
                raise OSError(errno.EINVAL, "this is not a file that can be written", path)
            turns = records.load_turns(path, may_be_empty=True)
            self._given = turns.given
            self._turns = [records.Turn(each.state, each.library) for each in turns.talk]
            self._begun = len(turns.runs)
            if turns.runs:
                self.program = turns.runs[-1].filename or ""

    @property
    def changed(self) -> datetime:
        """When the file was written last."""
        return datetime.fromtimestamp(self._path.stat().st_mtime, UTC)

    @property
    def context(self) -> ConversationContext:
        """The conversation that the next message goes on from: at the end of its last turn."""
        self._take()
        return self._turns[-1].context if self._turns else self._given

    def __len__(self) -> int:
        return len(self.context)

    def page(self, *, before: int | None = None, limit: int | None = None) -> ConversationContext:
        """Some of its messages, the last ones at first, see `Conversation.page`."""
        begin, end = page_of(len(self), before, limit)
        return self.context[begin:end]

    def remove(self) -> None:
        """Remove the file."""
        if records.is_recorded(self._path):
            raise OSError(errno.EBUSY, "a process records a run in it", self.name)
        self._path.unlink()

    def log(self) -> records.RunFile:
        """The file, to record the next turn in it."""
        self._take()
        if self._log is not None and self._log.has_begun:
            self._begun, self._log = self._begun + 1, None
        if not self._begun and not self._is_there:
            self._log = records.RunFile(self._path)
            return self._log
        after = self._turns[-1] if self._turns else None
        self._log = records.RunFile.at_the_end(self._path, after, self._begun)
        return self._log

    def cut(self, context: ConversationContext) -> None:
        """Take back what was said since a turn ended with a context; entries stay in the file."""
        self._take()
        taken = None
        while self._turns and self._turns[-1].context != context:
            taken = self._turns.pop()
        self._given = context
        if taken is not None:
            records.add_to_file(self._path, records.taken_back_line(taken.state.run_id))

    def _take(self) -> None:
        """Take the turn that was recorded last."""
        if self._log is None or (turn := self._log.turn) is None:
            return
        if self._turns and self._turns[-1].state.run_id == turn.state.run_id:
            self._turns[-1] = turn
        else:
            self._turns.append(turn)
        self._log.turn = None


@frozen
class StoredConversation(Conversation):
    """A conversation of a store, to go on with."""

    @property
    def context(self) -> ConversationContext:
        """Its messages, and what the tools did in a last turn that has no answer."""
        unfinished = self._unfinished()
        context = unfinished[1] if unfinished else self.page(limit=None)
        self.store.rest()
        return context

    def log(self) -> StoredRun:
        """A new run of the store, which is its next turn."""
        if unfinished := self._unfinished():
            log, context = unfinished
            with log.held():
                pass  # nobody else goes on with it
            self.extend(context, log.id)
        self.store.rest()
        return StoredRun(self.store, facts=RunFacts("", conversation=self.name))

    def _unfinished(self) -> tuple[StoredRun, ConversationContext] | None:
        """The last turn and the conversation with what was done in it, if it has no answer."""
        run = self.unfinished_turn()
        if run is None:
            return None
        log, found = StoredRun.of(self.store, run)  # this adds an answer that has come
        context = records.context_after(found.state)
        is_changed = len(context) > len(context_before(found.first))
        return (log, context) if found.state.status is not Status.DONE and is_changed else None


KeptConversation: TypeAlias = Union[FileConversation, StoredConversation]
"""A conversation in a file, or in a store."""


def open_conversation(
    record: RecordLike, conversation: str | bool, program: str | None
) -> KeptConversation:
    """Open a conversation, to go on with it.

    Args:
        record: the address of a file or a store, or a store that is open.
        conversation: its name in the store; True for the last one of the program or file.
        program: the name of the program's file, or None.
    """
    if isinstance(record, RunStore):
        return StoredConversation(record, _named(record, conversation, program))
    if not isinstance(record, (str, os.PathLike)):
        raise ConfigurationError("a conversation goes on in a file or a store: give its address")
    address = Address.of(record)
    if address.is_store:
        store = store_of_a_run(address.place)
        return StoredConversation(store, _named(store, conversation, program))
    if not isinstance(conversation, bool):
        raise ConfigurationError(
            f"{address} is a run file, which has one conversation without a name\n"
            "  hint: give a store, such as runs.db"
        )
    return FileConversation(address.place)


def _named(store: RunStore, conversation: str | bool, program: str | None) -> str:
    if not isinstance(conversation, bool):
        return conversation
    if not program:
        raise ConfigurationError("the program has no file: name its conversation")
    found = store.last_conversation(str(Path(program).resolve()))
    if found is None:
        raise ConfigurationError(
            f"{store.name}: there is no conversation with {program}\n  hint: "
            f"`gram conversations list --record {quote(store.name)}` shows those that there are"
        )
    return found.name
