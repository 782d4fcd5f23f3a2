"""Leases: who may write to a run of a store, and for how long.

A lease has a fence, a number that every entry carries. Whoever claims the run next has a higher
one, and nothing with a lower one is written any more.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from time import sleep
from typing import TYPE_CHECKING, Final, Literal, TypeAlias
from weakref import WeakSet, WeakValueDictionary

from attrs import define, field

from ...errors import RunTakenError, StoreError
from ...machine import Message, Usage
from .conversations import Conversation
from .database import SQL, Rows, anew_after_fork, kept_text

if TYPE_CHECKING:
    from .run_store import RunStore

LEASE: Final = 10.0
"""The seconds after which a run whose owner is not heard of may be claimed by others."""

RENEWAL: Final = 3.0
"""The seconds between two signs of life of an owner."""

RunStatus: TypeAlias = Literal[
    "queued", "running", "stopped", "waiting", "limited", "failed", "done", "cancelled"
]
"""The status of a run: submitted and not begun; claimed by somebody; claimed by nobody, so that it
can be resumed; waiting for approval; at a limit; failed or done or cancelled, for good."""

ENDED: Final = ("failed", "done", "cancelled")
"""The statuses of runs that nothing goes on with."""


_living: WeakValueDictionary[str, object] = WeakValueDictionary()
"""The leases of this process by their owners, each of which lives as long as its lease."""


def new_owner() -> str:
    """A name for an owner of runs, from which others on this machine tell if its process lives."""
    return f"{this_process()}/{os.urandom(4).hex()}"


def this_process() -> str:
    """How the leases of this process begin: with its id and start, in its own space of ids."""
    return "/".join([_machine(), str(os.getpid()), _started(os.getpid())])


def process_of(owner: str) -> str:
    """How messages name the process of an owner."""
    machine, pid, *_ = [*owner.split("/"), ""]
    return f"process {pid} of {machine.partition(':')[0]}"


def is_dead(named: str) -> bool:
    """Whether an owner is known to be dead: its process is no more, or has let go of its lease."""
    if named.startswith(f"{this_process()}/"):
        return named not in _living
    machine, pid, started, *_ = [*named.split("/"), "", ""]
    if machine != _machine() or not pid.isdecimal() or not started:
        return False  # elsewhere; only its lease tells
    return _started(int(pid)) != started


def _machine() -> str:
    """This machine, since its start, and the space of process ids that this process sees."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{socket.gethostname()}:{boot}:{Path('/proc/self/ns/pid').readlink()}"
    except OSError:  # not on Linux
        return f"{socket.gethostname()}:?"


def _started(pid: int) -> str:
    """When a process was started, as the system counts; ``""`` if there is no such process."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text("ascii", errors="replace")
    except OSError:
        return ""
    after_name = told.rpartition(")")[2].split()
    return "" if after_name[0] in "ZX" else after_name[19]


@define(eq=False)
class Lease:
    """The right to write to a run, of one thread at a time, for as long as somebody holds this.

    Where somebody else has claimed the run since, writing is a `RunTakenError`.

    Attributes:
        fence: the number that its entries carry.
        size: how many entries the run has.
        is_held: False when it was let go, or somebody else was seen to have claimed the run.
    """

    store: RunStore
    run: str
    fence: int = 0
    size: int = 0
    is_held: bool = True
    owner: str = field(factory=new_owner, init=False)

    def __attrs_post_init__(self) -> None:
        _living[self.owner] = self

    def append(self, *entries: str) -> None:
        """Write entries, all or none."""
        places = range(self.size, self.size + len(entries))
        if not self.store.database.together(lambda: all(map(self._is_written, entries, places))):
            self.is_held = False
            raise self._taken()
        self.size += len(entries)

    def _is_written(self, entry: str, place: int) -> bool:
        database = self.store.database
        if database.execute(SQL["append"], place, entry, self.run, self.fence):
            return True
        # written before, where its success could not be told
        sql = "SELECT seq FROM gram_entries WHERE run = ? AND seq = ? AND fence = ? AND text = ?"
        return bool(database.execute(sql, self.run, place, self.fence, entry))

    def let_go(
        self,
        status: RunStatus,
        usage: Usage = Usage(None, None),
        reason: str | None = None,
        *,
        context: Sequence[Message] = (),
    ) -> None:
        """Give the lease up, and say what the status of the run is.

        Args:
            usage: the tokens that it has used; what is unknown stays as it was.
            context: the conversation at its end; a turn that is done adds what is new of it.
        """
        self.is_held, database = False, self.store.database

        def work() -> Rows:
            told = (usage.input_tokens, usage.output_tokens, reason and kept_text(reason))
            left = database.execute(SQL["let_go"], status, *told, self.run, self.fence)
            if left and status == "done" and left[0][1] is not None:
                conversation, before = left[0]
                Conversation(self.store, conversation).add_turn(self.run, before, context)
            return left

        if not database.together(work):
            raise self._taken()

    def claim(self, size: int | None, fence: int, had_ended: bool) -> None:
        """Claim a run that nobody has, see `RunStore.claim`."""
        name = self.store.name_of(self.run)
        found = self.store.database.execute(SQL["holder"], self.run)
        if not found:
            raise self.store.no_run(self.run)
        status, holder, until, is_free, conversation, before = found[0]
        if status == "cancelled":
            raise self._taken()
        if before is not None and status != "done":
            expect_turn(self.store, self.run, conversation, before)
        is_free = is_free or holder == self.owner or is_dead(holder)
        is_as_it_was = "(COALESCE(owner, '') = ? AND leased_until = ? OR owner = ?)"
        if not is_free or not self._take(is_as_it_was, holder, until, self.owner):
            raise RunTakenError(
                f"{name}: another process goes on with it\n"
                f"  hint: it can be taken over {LEASE:.0f} seconds after that one was last heard of"
            )
        has_ended = status in ENDED and not had_ended
        if size is not None and (has_ended or self._has_gone_on(size, fence)):
            raise RunTakenError(
                f"{name}: another process has gone on with it since it was read\n"
                "  hint: resume it again, from what is recorded now"
            )

    def take_over(self) -> None:
        """Claim a run even if somebody else has it, see `RunStore.take_over`."""
        if not self._take(f"status NOT IN ({', '.join('?' * len(ENDED))})", *ENDED):
            row = self.store.row(self.run)
            raise StoreError(f"{self.store.name_of(self.run)} is {row.status}: it has ended")

    def _take(self, condition: str, *values: object) -> bool:
        """Become the owner of the run where a condition holds."""
        sql = SQL["claim"].replace("{condition}", condition)
        claimed = self.store.database.execute(sql, self.owner, LEASE, self.run, *values)
        for fence, size in claimed:
            self.fence, self.size = fence, size or 0
        return bool(claimed)

    def _has_gone_on(self, size: int, fence: int) -> bool:
        """Whether others than the holder of the last fence wrote since it had so many entries."""
        sql = "SELECT 1 FROM gram_entries WHERE run = ? AND seq >= ? AND fence <> ? LIMIT 1"
        return self.size < size or (
            self.size > size and bool(self.store.database.execute(sql, self.run, size, fence))
        )

    def _taken(self) -> RunTakenError:
        """What is told of a run that its owner may write to no more."""
        status = self.store.database.value("SELECT status FROM gram_runs WHERE id = ?", self.run)
        told = {None: "was removed", "cancelled": "was cancelled"}
        said = told.get(status, "was taken over by another process")
        return RunTakenError(f"{self.store.name_of(self.run)} {said}")

    def renew(self) -> None:
        """Renew it; where somebody else has the run, or nobody any more, it is held no more."""
        renewed = self.store.database.execute(SQL["renew"], LEASE, self.run, self.fence)
        self.is_held = self.is_held and bool(renewed)


def expect_turn(store: RunStore, run: str, name: str, before: int) -> None:
    """Refuse a turn if another one is under way in a living process, or went before it."""
    conversation = Conversation(store, name)
    if conversation.locked()[0] != before:
        raise RunTakenError(f"{store.name}: {conversation.gone_on}")
    for other, owner in store.database.execute(SQL["other_turns_under_way"], name, run):
        if not is_dead(owner):
            told = f"another turn of the conversation {name} is under way: run {other}"
            raise RunTakenError(f"{store.name}: {told}")


class Keeper:
    """Renews the leases of one process, in a thread of its own while any are held.

    One that nobody holds any more, such as after an interrupt, is not renewed.
    """

    def __init__(self) -> None:
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
                while leases:
                    leases.pop().renew()
            del leases
