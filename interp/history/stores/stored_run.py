"""A run in a store, as what a run is recorded in and read from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import ClassVar

from attrs import define, evolve, field

from gram import Pattern

from ...errors import AgentError, StoreError
from ...execution import CANCELLED, WAITS, Folded, Note, Stopped, now
from ...machine import Event, State, Status, Usage, context_before
from ...programs import names_of_models
from ...tools import Tool
from .. import records
from .database import kept_text
from .leases import ENDED, Lease, RunStatus
from .run_store import RunFacts, RunStore


@define(eq=False, repr=False)
class StoredRun:
    """A run of a store, to record it: a new one, or one that is in it; see `RunLog`.

    Whoever writes to it claims it first. What cannot be written is written first the next time.

    Args:
        run: the id of the run; "" for that of the State that it begins with.
        facts: what a list shows of a new run, beside what its State says.
        status: the status of a new run until somebody goes on with it.
    """

    blocks: ClassVar[bool] = True

    store: RunStore
    id: str = field(default="", alias="run")
    _facts: RunFacts = field(default=RunFacts(""), kw_only=True)
    _status: RunStatus = field(default="stopped", kw_only=True)
    has_begun: bool = field(default=False, init=False)
    _claim: Lease | None = field(default=None, init=False)
    _size: int = field(default=1, init=False)
    _fence: int = field(default=0, init=False)
    _had_ended: bool = field(default=False, init=False)
    _events: int = field(default=0, init=False)
    _unwritten: list[str] = field(factory=list, init=False)
    _stopped_by: str | None = field(default=None, init=False)
    _writing: Lock = field(factory=Lock, init=False)

    @property
    def name(self) -> str:
        """How messages name it."""
        return self.store.name_of(self.id)

    def begin(
        self,
        state: State,
        tools: Iterable[Tool | Pattern],
        entries: Sequence[str] | None = None,
        *,
        stopped_by: str | None = None,
        started: datetime | None = None,
    ) -> None:
        """Make the run in the store, with its first entry and the events of the State.

        Args:
            tools: the implementations of its tools, or what a record has of them.
            entries: the entries that lead to the State, if they were written elsewhere.
            stopped_by: what the run was stopped by, if that is the last of them.
            started: when it began, if that is not now.
        """
        if entries is None:
            entries = tuple(records.event_lines(state))
        self.id = self.id or state.run_id
        program, is_turn = state.run.program, self._facts.conversation is not None
        text, filename = records.program_text(program)
        facts = evolve(
            self._facts,
            agent=kept_text(program.value.identity),
            model=kept_text(names_of_models(program, state.beginning.model)),
            filename=kept_text(filename or ""),
            program=sha256(text.encode(errors="surrogatepass")).hexdigest(),
        )
        status = status_of(state) if entries else self._status
        self.store.create(
            self.id,
            records.head_of(state, tools, started or now(), has_context=not is_turn),
            facts,
            before=len(context_before(state)) if is_turn else 0,
            path=kept_text(str(Path(filename).resolve())) if filename else "",
            status="cancelled" if stopped_by == CANCELLED else status,
            entries=entries,
            usage=state.usage if entries else Usage(None, None),
            reason=stopped_by or _WHY.get(status),
        )
        self._size, self._events = 1 + len(entries), len(state.events)
        self._had_ended = status_of(state) in ENDED
        self.has_begun = True
        self.store.rest()

    @classmethod
    def of(cls, store: RunStore, run: str) -> tuple[StoredRun, records.RecordedRun]:
        """Read a run of a store, to go on with it."""
        found, row = store.recorded(run), store.row(run)
        log = cls(store, run, facts=row.facts)
        found.check()
        log.has_begun = True
        log._size, log._had_ended = 1 + len(found.entries), row.status in ENDED
        log._events = len(found.events)
        if status_of(found.state) in ENDED and row.status == "stopped":
            with log.held(lambda: found.state):  # whoever had it did not come to write its status
                pass
        store.rest()
        return log, found

    @contextmanager
    def held(self, standing: Callable[[], State] | None = None) -> Iterator[tuple[Event, ...]]:
        """Claim the run, and let it go at the end with the status that it has then.

        Args:
            standing: gives the State of the run; without it, the run is let go as stopped.
        """
        try:
            if self._claim is not None:  # an interrupt has left it behind
                with suppress(StoreError):
                    self._let_go(self._claim, standing)
            claim = self.store.claim(
                self.id, self._size, fence=self._fence, had_ended=self._had_ended
            )
            self._claim, self._stopped_by = claim, None
        except AgentError:
            self.store.rest()
            raise
        try:
            yield self._taken_up(claim, standing)
        except BaseException:  # raised again, whatever becomes of the claim, which ends alone
            with suppress(StoreError):
                self._let_go(claim, standing)
            raise
        is_turn = self._facts.conversation is not None  # which does not have the answer else
        with nullcontext() if is_turn else suppress(StoreError):  # the entries say the status
            self._let_go(claim, standing)

    def _taken_up(self, claim: Lease, standing: Callable[[], State] | None) -> tuple[Event, ...]:
        """Write what could not be written before; gives the events that the State has not."""
        is_known = claim.size == self._size
        self._write()
        if standing is None:
            return ()
        had = tuple(standing().events)
        if is_known and len(had) == self._events:
            return ()
        recorded = self.store.recorded(self.id).events
        self._events = len(recorded)
        return records.differences(had, recorded)[1]

    def _let_go(self, claim: Lease, standing: Callable[[], State] | None) -> None:
        """Let go of the run; its status is kept with it."""
        if self._claim is not claim:  # which was let go where an interrupt had left it behind
            return
        self._claim, self._size, self._fence = None, claim.size, claim.fence
        state = None if standing is None or self._unwritten else standing()
        usage = state.usage if state else Usage(None, None)
        status = status_of(state) if state else "stopped"
        self._had_ended = status in ENDED
        context = state.context if state else ()
        try:
            claim.let_go(status, usage, self._stopped_by or _WHY.get(status), context=context)
        finally:
            self.store.rest()

    def append(self, folded: Folded) -> None:
        """Write an event, see `RunLog.append`."""
        self._write(records.event_line(folded))
        self._events += 1

    def append_all(self, events: Iterable[records.RecordedStep]) -> None:
        """Write events, all or none; see `append`."""
        lines = [*map(records.event_line, events)]
        self._write(*lines)
        self._events += len(lines)

    def note(self, note: Note) -> None:
        """Write a note, see `RunLog.note`."""
        if isinstance(note, Stopped):
            self._stopped_by = note.error
        if self._claim is not None:
            self._write(records.note_line(note))

    def _write(self, *entries: str) -> None:
        with self._writing:  # calls that run at once are noted by their threads
            self._unwritten += entries
            if self._claim is not None and self._unwritten:
                self._claim.append(*self._unwritten)
                self._unwritten = []


def status_of(state: State) -> RunStatus:
    """The status of a run that nobody goes on with."""
    return _STATUSES.get(state.status) or ("waiting" if state.asks else "stopped")


_WHY: dict[RunStatus, str] = {"waiting": WAITS}
_STATUSES: dict[Status, RunStatus] = {
    Status.DONE: "done",
    Status.LIMITED: "limited",
    Status.FAILED: "failed",
    Status.UNUSABLE: "failed",
}
