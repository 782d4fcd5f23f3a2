"""Going on with one run of a store, as far as it goes."""

from __future__ import annotations

import logging
from contextlib import nullcontext, suppress
from typing import Final

from attrs import define, field

from gram import GramError
from gram.words import counted
from lenses_ext.schemas import Match

from ..concurrency import call_in_thread
from ..errors import ApprovalNeeded, ConfigurationError, LimitError, RunTakenError, StoreError
from ..execution import Driver as RunDriver, LiveHandler, Telemetry, log_fields
from ..history.records import RecordedRun, position_text
from ..history.stores import RunRow, RunStatus, RunStore, StoredRun, process_of
from ..machine import CallModel, Usage
from ..running import budget_of
from ..secrets import without_keys
from ..tools import ToolLibrary
from .database_errors import is_of_database, log_event, reason_of
from .limits import LimitedHandler, SharedLimits
from .looking import WorkerMetrics
from .queue import IS_OVER, SOON, LaterError, RunQueue, pause_after
from .submission import why_not_with

_FAILURES: Final = 5
"""How often a run may fail in a way that may pass, such as a provider that is down."""

_DEATHS: Final = 5
"""How many workers may die with a run, one after the other, at the same place."""

_SUSPECTED: Final = 2
"""After how many of them a worker takes it only when it drives no other such run: the runs that
were driven beside one that kills its workers would else be taken for what did it."""

_IS_FREE: Final = ("queued", "stopped")
"""The statuses of runs that a worker may take."""


@define(eq=False)
class Driver:
    """Goes on with runs of a store, which is asked in threads."""

    store: RunStore
    queue: RunQueue
    library: ToolLibrary
    match: Match
    limits: SharedLimits
    telemetry: Telemetry | None = None
    metrics: WorkerMetrics | None = None
    _suspect: str | None = field(default=None, init=False)

    async def go_on(self, run: str) -> None:
        """Go on with a run; a `LaterError` where it has not ended, and is to go on later."""
        row = await call_in_thread(lambda: self._to_drive(run))
        if row is not None:
            with log_fields(run=run, conversation=row.facts.conversation):
                await self._go_on(run)

    async def _go_on(self, run: str) -> None:
        try:
            with suppress(ApprovalNeeded, LimitError):  # the store has its status
                await self._drive(run)
        except Exception as error:  # a run of a user may raise anything
            if is_of_database(error) or (isinstance(error, LaterError) and not error.held):
                raise
            failure = error
            await call_in_thread(lambda: self._after_failure(run, failure))
        row = await call_in_thread(lambda: self.store.row(run))
        if row.status in (*IS_OVER, "waiting"):
            why = f": {row.reason}" if row.reason and row.status != "done" else ""
            level = logging.WARNING if row.status in ("failed", "limited") else logging.INFO
            log_event(f"run_{row.status}", f"{row.facts.agent}: {row.status}{why}", level)
            if self.metrics:
                self.metrics.ended(row)
        if await call_in_thread(lambda: self._to_drive(run)):
            raise LaterError("it can go on", SOON)

    def _to_drive(self, run: str) -> RunRow | None:
        """A run that is to go on now; None if workers have nothing more to do with it.

        Where it cannot now (a `LaterError`), whoever changes that puts in a job at once.
        """
        try:
            row = self.store.row(run)
        except StoreError as error:
            if is_of_database(error):
                raise
            return None  # it was removed from the store
        if row.status in IS_OVER:
            self.queue.ended(run)
            return None
        if row.status == "running":
            raise LaterError("another process goes on with it", SOON)
        if row.status == "waiting":
            raise LaterError("it waits for approval", self.queue.patience(run))
        for other, is_driven_here in self.queue.goes_first(run):
            seconds = self.queue.patience(run) if is_driven_here else SOON
            raise LaterError(f"run {other} goes first", seconds)
        return row

    async def _drive(self, run: str) -> None:
        row, log, kept, deaths = await call_in_thread(lambda: self._taken_up(run))
        if deaths >= _DEATHS:
            reason = _where_workers_die(kept, deaths)
            return await call_in_thread(lambda: self.let_go(run, "failed", reason))
        went_on = f" after {counted(len(kept.steps), 'event')}" if kept.steps else ""
        log_event("run_begun", f"{row.facts.agent} begins{went_on}")
        if deaths < _SUSPECTED:
            return await self._finish(row, log, kept)
        if self._suspect is not None:
            raise LaterError(f"run {self._suspect} is driven first", SOON)
        self._suspect = row.id
        try:
            await self._finish(row, log, kept)
        finally:
            self._suspect = None

    def _taken_up(self, run: str) -> tuple[RunRow, StoredRun, RecordedRun, int]:
        """A run to go on with, and how many workers have died with it."""
        row = self.store.row(run)
        if row.facts.conversation is not None:
            self.queue.follow(run)  # a turn that has not begun follows the conversation so far
        log, kept = StoredRun.of(self.store, run)
        if reason := why_not_with(kept, self.library, self.match):
            self._say_why(run, reason)
            raise LaterError(reason, 0.0, is_elsewhere=True)
        if row.status != "stopped":
            return row, log, kept, 0
        deaths = self.queue.deaths(run, len(kept.steps), row.left_by)
        if row.left_by is not None:
            left_by = process_of(row.left_by)
            told = f"{row.facts.agent} is taken over: {left_by} was not heard of any more"
            log_event("run_taken_over", told, logging.WARNING)
            if self.metrics:
                self.metrics.takeovers.add(1)
        return row, log, kept, deaths

    async def _finish(self, row: RunRow, log: StoredRun, kept: RecordedRun) -> None:
        state, telemetry = kept.state, self.telemetry
        live = LiveHandler.of(state, self.library, match=self.match)
        driver = RunDriver(
            state,
            LimitedHandler(live, self.limits, row.facts.tenant),
            tools=live.tools,
            log=log,
            budget=budget_of(state, {}),
            telemetry=telemetry,
        )
        with telemetry.going_on(row.facts.trace) if telemetry else nullcontext():
            await driver.finish()

    def _after_failure(self, run: str, error: Exception) -> None:
        """Have a run go on later if its failure may pass; else it has failed for good.

        One whose model does not answer waits; where others are answered, it has failed.
        """
        if isinstance(error, LaterError):
            reason = without_keys(str(error))
            if error.may_be_of_run and self.queue.failed_again(run) >= _FAILURES:
                return self.let_go(run, "failed", reason)
            self._say_why(run, reason)
            raise error
        reason = reason_of(error)
        if isinstance(error, RunTakenError) and not self.queue.has_gone_on(run):
            return  # whoever has it does the rest
        # one of this worker rather than of the run, such as a file that it cannot read
        may_pass = isinstance(error, ConfigurationError) or not isinstance(error, GramError)
        if may_pass and (failures := self.queue.failed_again(run)) < _FAILURES:
            self._say_why(run, reason)
            raise LaterError(reason, pause_after(failures - 1), logging.WARNING)
        if self.store.row(run).status in _IS_FREE:
            with suppress(RunTakenError):
                self.let_go(run, "failed", reason)

    def _say_why(self, run: str, reason: str) -> None:
        """Have a list show why a run did not go on, where that is not known yet."""
        row = self.store.row(run)
        if row.status in _IS_FREE and reason not in (row.reason or ""):
            self.let_go(run, row.status, reason)

    def let_go(self, run: str, status: RunStatus, reason: str) -> None:
        """Write the status of a run that nobody has claimed, and why it has that."""
        try:
            usage = self.store.recorded(run).state.usage
        except Exception as error:
            if is_of_database(error):
                raise
            usage = Usage(None, None)
        try:
            claim = self.store.claim(run)
        except RunTakenError:
            if self.store.row(run).status not in _IS_FREE:
                raise
            claim = self.store.take_over(run)  # it does not follow its conversation any more
        claim.let_go(status, usage, reason)


def _where_workers_die(kept: RecordedRun, deaths: int) -> str:
    named = (
        f"{'the model' if isinstance(each, CallModel) else each.name} at {position_text(each.at)}"
        for each in kept.unanswered
    )
    told = f"its worker died {counted(deaths, 'time')} at the same place"
    return ": ".join(filter(None, (told, ", ".join(named))))
