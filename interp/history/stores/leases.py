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
from weakref import WeakSet

from attrs import define, field

from ...errors import RunTakenError, StoreError
from ...machine import Message, Usage
from .conversations import add_turn, gone_on, size_of
from .database import Database, Rows, anew_after_fork
from .run_rows import ENDED, RunStatus, is_dead, name_of, new_owner, no_run

LEASE: Final = 10.0
"""The seconds after which a run whose owner is not heard of may be claimed by others."""

RENEWAL: Final = 3.0
"""The seconds between two signs of life of an owner."""


@define(eq=False)
class Lease:
    """The right to write to a run, of one thread at a time, for as long as somebody holds this.

    Attributes:
        database: the database of the store.
        run: the id of the run.
        fence: the number that its entries carry.
        size: how many entries the run has.
        is_held: False when it was let go, or somebody else was seen to have claimed the run.
        owner: names it in the store.
    """

    database: Database
    run: str
    fence: int = 0
    size: int = 0
    is_held: bool = True
    owner: str = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.owner = new_owner(self)

    def append(self, *entries: str) -> None:
        """Write entries, all or none.

        Raises:
            RunTakenError: somebody else has claimed the run since.
            StoreError: the store cannot be written.
        """
        places = range(self.size, self.size + len(entries))
        if not self.database.together(lambda: all(map(self._is_written, entries, places))):
            self.is_held = False
            raise _taken(self.database, self.run)
        self.size += len(entries)

    def _is_written(self, entry: str, place: int) -> bool:
        return bool(
            self.database.execute(
                "INSERT INTO gram_entries (run, seq, fence, text) SELECT id, ?, fence, ? "
                f"FROM gram_runs WHERE id = ? AND fence = ?{self.database.row_lock} "
                "ON CONFLICT (run, seq) DO NOTHING RETURNING seq",
                place,
                entry,
                self.run,
                self.fence,
            )
            or self.database.execute(  # written before, where its success could not be told
                "SELECT seq FROM gram_entries WHERE run = ? AND seq = ? AND fence = ? AND text = ?",
                self.run,
                place,
                self.fence,
                entry,
            )
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

    def claim(self, size: int | None, fence: int, had_ended: bool) -> None:
        """Claim a run that nobody has, see `RunStore.claim`."""
        database, run = self.database, self.run
        found = database.execute(
            "SELECT status, COALESCE(owner, ''), leased_until, "
            f"owner IS NULL OR leased_until < {database.clock}, conversation, messages "
            "FROM gram_runs WHERE id = ?",
            run,
        )
        if not found:
            raise no_run(database, run)
        status, holder, until, is_free, conversation, before = found[0]
        if status == "cancelled":
            raise _taken(database, run)
        if before is not None and status != "done":
            _expect_turn(database, run, conversation, before)
        is_free = is_free or holder == self.owner or is_dead(holder)
        is_as_it_was = "(COALESCE(owner, '') = ? AND leased_until = ? OR owner = ?)"
        if not is_free or not self.take(is_as_it_was, holder, until, self.owner):
            raise RunTakenError(
                f"{name_of(database, run)}: another process goes on with it\n"
                f"  hint: it can be taken over {LEASE:.0f} seconds after that one was last heard of"
            )
        has_ended = status in ENDED and not had_ended
        if size is not None and (has_ended or self._has_gone_on(size, fence)):
            raise RunTakenError(
                f"{name_of(database, run)}: another process has gone on with it since it was read\n"
                "  hint: resume it again, from what is recorded now"
            )

    def take_over(self) -> None:
        """Claim a run even if somebody else has it, see `RunStore.take_over`."""
        if not self.take(f"status NOT IN ({', '.join('?' * len(ENDED))})", *ENDED):
            found = self.database.execute("SELECT status FROM gram_runs WHERE id = ?", self.run)
            if not found:
                raise no_run(self.database, self.run)
            name = name_of(self.database, self.run)
            raise StoreError(f"{name} is {found[0][0]}: it has ended")

    def take(self, condition: str, *values: object) -> bool:
        """Become the owner of the run where a condition holds."""
        claimed = self.database.execute(
            "UPDATE gram_runs SET fence = fence + 1, owner = ?, status = 'running', reason = NULL, "
            f"leased_until = {self.database.clock} + ?, changed = {self.database.clock} "
            f"WHERE id = ? AND {condition} RETURNING fence, "
            "(SELECT max(seq) + 1 FROM gram_entries WHERE run = id)",
            self.owner,
            LEASE,
            self.run,
            *values,
        )
        if claimed:
            self.fence, size = claimed[0]
            self.size = size or 0
        return bool(claimed)

    def _has_gone_on(self, size: int, fence: int) -> bool:
        """Whether somebody else has written to the run since it had so many entries.

        What was written since with the fence of the last lease was written by its new owner.
        """
        if self.size == size:
            return False
        others = self.database.execute(
            "SELECT 1 FROM gram_entries WHERE run = ? AND seq >= ? AND fence <> ? LIMIT 1",
            self.run,
            size,
            fence,
        )
        return self.size < size or bool(others)


def _taken(database: Database, run: str) -> RunTakenError:
    """What is told of a run that its owner may write to no more."""
    found = database.execute("SELECT status FROM gram_runs WHERE id = ?", run)
    told = "was taken over by another process"
    if not found:
        told = "was removed"
    elif found[0][0] == "cancelled":
        told = "was cancelled"
    return RunTakenError(f"{name_of(database, run)} {told}")


def _expect_turn(database: Database, run: str, conversation: str, before: int) -> None:
    """Refuse a turn if another one is under way, or went before it."""
    if size_of(database, conversation)[0] != before:
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


# --- renewing


def renew(database: Database, leases: Sequence[Lease]) -> None:
    """Renew leases; those whose runs somebody else has, or nobody any more, are held no more."""
    for lease in leases:
        renewed = database.execute(
            f"UPDATE gram_runs SET leased_until = {database.clock} + ? "
            "WHERE owner IS NOT NULL AND id = ? AND fence = ? RETURNING id",
            LEASE,
            lease.run,
            lease.fence,
        )
        lease.is_held = lease.is_held and bool(renewed)


class Keeper:
    """Renews the leases of one process, in a thread of its own while any are held.

    One that nobody holds any more, such as after an interrupt, is not renewed.

    Args:
        ready: gives the database.
    """

    def __init__(self, ready: Callable[[], Database]) -> None:
        self._ready = ready
        self.after_fork()
        anew_after_fork(self)

    def after_fork(self) -> None:
        """Begin without leases; those of a parent are the parent's to renew."""
        self._leases: WeakSet[Lease] = WeakSet()
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
                leases = [each for each in self._leases if each.is_held]
                if not leases:
                    self._thread = None
                    return
            with suppress(StoreError):  # the next entry or renewal may reach the store again
                renew(self._ready(), leases)
            del leases
