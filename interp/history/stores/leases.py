"""Leases: who may write to a run of a store, and for how long.

A lease has a fence, a number that every entry carries. Whoever claims the run next has a higher
one, and nothing with a lower one is written any more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Lock, Thread
from time import sleep
from typing import Final

from attrs import define

from ...errors import RunTakenError, StoreError
from ...machine import Message, Usage
from .conversations import add_turn, gone_on
from .database import Database, Rows
from .forks import anew_after_fork
from .owners import is_dead, new_owner
from .run_rows import ENDED, RunStatus, name_of, no_run

LEASE: Final = 10.0
"""The seconds after which a run whose owner is not heard of may be claimed by others."""

RENEWAL: Final = 3.0
"""The seconds between two signs of life of an owner."""

_AT_ONCE: Final = 10
"""How many leases one statement renews."""


@define(eq=False)
class Lease:
    """The right to write to a run, of one thread at a time.

    Attributes:
        database: the database of the store.
        run: the id of the run.
        fence: the number that its entries carry.
        size: how many entries the run has.
        is_held: False when it was let go, or somebody else was seen to have claimed the run.
        unsure: its last entries, as far as a crash of the database's server may lose them.
    """

    database: Database
    run: str
    fence: int
    size: int
    is_held: bool = True
    unsure: tuple[str, ...] = ()

    def append(self, *entries: str, may_be_lost: bool = False) -> None:
        """Write entries, all or none.

        An entry is written only behind the one before it. Where a crash of the server has lost
        that one, what it may have lost is written again, so that no run has a gap.

        Args:
            entries: the entries.
            may_be_lost: whether they may be lost when the server of the database crashes, so that
                nothing waits for its disk.

        Raises:
            RunTakenError: somebody else has claimed the run since.
            StoreError: the store cannot be written.
        """
        is_written = self._is_appended(self.size, entries, may_be_lost)
        if not is_written and self.unsure:
            place = self.size - len(self.unsure)
            is_written = self._is_appended(place, [*self.unsure, *entries])
            may_be_lost = False
        if not is_written:
            self.is_held = False
            raise _taken(self.database, self.run)
        self.size += len(entries)
        self.unsure = (*self.unsure, *entries) if may_be_lost else ()

    def _is_appended(self, first: int, entries: Sequence[str], may_be_lost: bool = False) -> bool:
        """Write entries from a place on; False if the lease or an entry before them is lost."""
        database = self.database
        insert = (
            "INSERT INTO gram_entries (run, seq, fence, text) "
            f"SELECT id, ?, fence, ? FROM gram_runs{database.unwaited if may_be_lost else ''} "
            "WHERE id = ? AND fence = ? "
            f"AND EXISTS (SELECT 1 FROM gram_entries WHERE run = ? AND seq = ?){database.row_lock} "
            "ON CONFLICT (run, seq) DO NOTHING RETURNING seq"
        )

        def is_written(place: int, entry: str) -> bool:
            written = database.execute(
                insert, place, entry, self.run, self.fence, self.run, place - 1
            ) or database.execute(
                # written before, where its success could not be told
                "SELECT seq FROM gram_entries WHERE run = ? AND seq = ? AND fence = ? AND text = ?",
                self.run,
                place,
                self.fence,
                entry,
            )
            return bool(written)

        if len(entries) == 1:
            return is_written(first, entries[0])
        return database.together(
            lambda: all(is_written(place, entry) for place, entry in enumerate(entries, first))
        )

    def let_go(
        self,
        status: RunStatus,
        usage: Usage,
        reason: str | None = None,
        *,
        context: Sequence[Message] = (),
    ) -> None:
        """Give the lease up, and say what the status of the run is.

        Args:
            status: the status of the run.
            usage: the tokens that it has used; what is unknown stays as it was.
            reason: what it was stopped by, or None.
            context: the conversation at its end; a turn that is done adds what is new of it.

        Raises:
            RunTakenError: somebody else has claimed the run since.
            StoreError: the store cannot be written.
        """
        self.is_held, database = False, self.database

        def work() -> Rows:
            left = database.execute(
                f"UPDATE gram_runs SET owner = NULL, leased_until = 0, changed = {database.clock}, "
                "status = ?, input_tokens = COALESCE(?, input_tokens), "
                "output_tokens = COALESCE(?, output_tokens), reason = ? "
                "WHERE id = ? AND fence = ? RETURNING conversation, messages",
                status,
                usage.input_tokens,
                usage.output_tokens,
                reason,
                self.run,
                self.fence,
            )
            if left and status == "done" and left[0][1] is not None:
                conversation, before = left[0]
                add_turn(database, conversation, self.run, before, context)
            return left

        if not database.together(work):
            raise _taken(database, self.run)


def claim(database: Database, run: str, size: int | None, fence: int) -> Lease:
    """Claim a run that nobody has, see `RunStore.claim`."""
    name = new_owner()
    is_left = f"(owner IS NULL OR owner = ? OR leased_until < {database.clock})"
    known = (size, fence)
    if claimed := _claimed_in_turn(database, run, known, name, is_left, name):
        return claimed
    found = database.execute("SELECT status, owner FROM gram_runs WHERE id = ?", run)
    if not found:
        raise no_run(database, run)
    status, holder = found[0]
    if status == "cancelled":
        raise _taken(database, run)
    if holder is None or is_dead(holder):
        is_left = "(owner IS NULL OR owner IN (?, ?))"
        if claimed := _claimed_in_turn(database, run, known, name, is_left, name, holder):
            return claimed
    raise RunTakenError(
        f"{name_of(database, run)}: another process goes on with it\n"
        f"  hint: it can be taken over {LEASE:.0f} seconds after that one was last heard of"
    )


def take_over(database: Database, run: str) -> Lease:
    """Claim a run even if somebody else has it, see `RunStore.take_over`."""
    has_not_ended = f"status NOT IN ({', '.join('?' * len(ENDED))})"
    claimed = database.together(lambda: _claimed(database, run, new_owner(), has_not_ended, *ENDED))
    if claimed is None:
        found = database.execute("SELECT status FROM gram_runs WHERE id = ?", run)
        if not found:
            raise no_run(database, run)
        raise StoreError(f"{name_of(database, run)} is {found[0][0]}: it has ended")
    return claimed


def _taken(database: Database, run: str) -> RunTakenError:
    """What is told of a run that its owner may write to no more."""
    found = database.execute("SELECT status FROM gram_runs WHERE id = ?", run)
    name = name_of(database, run)
    if not found:
        return RunTakenError(f"{name} was removed")
    if found[0][0] == "cancelled":
        return RunTakenError(f"{name} was cancelled")
    return RunTakenError(f"{name} was taken over by another process")


def _claimed_in_turn(
    database: Database,
    run: str,
    known: tuple[int | None, int],
    owner: str,
    condition: str,
    *values: object,
) -> Lease | None:
    """Claim a run that nobody has gone on with since it was read, where it is its turn.

    It is not if another turn of its conversation is under way, or went before it.

    Raises:
        RunTakenError: somebody has gone on with it, or it is not its turn.
    """
    condition = f"status <> 'cancelled' AND {condition}"

    def work() -> Lease | None:
        turns = database.execute(
            "SELECT conversation, messages FROM gram_runs "
            "WHERE id = ? AND messages IS NOT NULL AND status <> 'done'",
            run,
        )
        for conversation, before in turns:
            _expect_turn(database, run, conversation, before)
        found = _claimed(database, run, owner, condition, *values)
        if found and _is_changed(found, *known):
            raise RunTakenError(
                f"{name_of(database, run)}: another process has gone on with it since it was read\n"
                "  hint: resume it again, from what is recorded now"
            )
        return found

    return database.together(work)


def _is_changed(lease: Lease, size: int | None, fence: int) -> bool:
    """Whether somebody else has written to a run since it had so many entries.

    What was written since with the fence of the last lease was written by whoever claims it now.
    """
    if size is None or lease.size == size:
        return False
    others = lease.database.execute(
        "SELECT 1 FROM gram_entries WHERE run = ? AND seq >= ? AND fence <> ? LIMIT 1",
        lease.run,
        size,
        fence,
    )
    return lease.size < size or bool(others)


def _expect_turn(database: Database, run: str, conversation: str, before: int) -> None:
    ((size,),) = database.execute(
        "INSERT INTO gram_conversations (name, size, run) VALUES (?, 0, '') "
        "ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING size",
        conversation,
    )
    if size != before:
        raise RunTakenError(f"{name_of(database, run)}: {gone_on(conversation)}")
    others = database.execute(
        "SELECT id FROM gram_runs WHERE conversation = ? AND id <> ? "
        f"AND status = 'running' AND leased_until >= {database.clock}",
        conversation,
        run,
    )
    if others:
        raise RunTakenError(
            f"{name_of(database, run)}: another turn of the conversation {conversation} is under "
            f"way: run {others[0][0]}"
        )


def _claimed(
    database: Database, run: str, owner: str, condition: str, *values: object
) -> Lease | None:
    claimed = database.execute(
        "UPDATE gram_runs SET fence = fence + 1, owner = ?, status = 'running', reason = NULL, "
        f"leased_until = {database.clock} + ?, changed = {database.clock} "
        f"WHERE id = ? AND {condition} RETURNING fence",
        owner,
        LEASE,
        run,
        *values,
    )
    if not claimed:
        return None
    ((size,),) = database.execute("SELECT max(seq) + 1 FROM gram_entries WHERE run = ?", run)
    return Lease(database, run, claimed[0][0], size or 0)


# --- renewing


def renew(database: Database, leases: Sequence[Lease]) -> None:
    """Renew leases; those whose runs somebody else has, or nobody any more, are held no more."""
    for first in range(0, len(leases), _AT_ONCE):
        some = leases[first : first + _AT_ONCE]
        renewed = database.execute(
            f"UPDATE gram_runs SET leased_until = {database.clock} + ? "
            f"WHERE owner IS NOT NULL AND ({' OR '.join(['(id = ? AND fence = ?)'] * len(some))}) "
            "RETURNING id, fence",
            LEASE,
            *(value for lease in some for value in (lease.run, lease.fence)),
        )
        for lease in some:
            if (lease.run, lease.fence) not in renewed:
                lease.is_held = False


class Keeper:
    """Renews the leases of one process, in a thread of its own while any are held.

    Args:
        ready: gives the database.
    """

    def __init__(self, ready: Callable[[], Database]) -> None:
        self._ready = ready
        self.after_fork()
        anew_after_fork(self)

    def after_fork(self) -> None:
        """Begin without leases; those of a parent are the parent's to renew."""
        self._leases: set[Lease] = set()
        self._changing = Lock()
        self._thread: Thread | None = None

    def keep(self, lease: Lease) -> Lease:
        """Renew a lease from now on, for as long as it is held."""
        with self._changing:
            self._leases.add(lease)
            if self._thread is None:
                self._thread = Thread(target=self._go_on, name="gram-leases", daemon=True)
                self._thread.start()
        return lease

    def _go_on(self) -> None:
        while True:
            sleep(RENEWAL)
            with self._changing:
                self._leases = {each for each in self._leases if each.is_held}
                if not self._leases:
                    self._thread = None
                    return
                leases = tuple(self._leases)
            with suppress(StoreError):  # the next entry or renewal may reach the store again
                renew(self._ready(), leases)
