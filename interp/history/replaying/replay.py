"""A recorded run as something to watch: again, or while another process records it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

from attrs import frozen

from gram.documents import resolved
from gram.errors import expect

from ...errors import ReplayError
from ...execution import (
    Observation,
    ReasoningDelta,
    Stopped,
    ToolStarted,
    finished,
    observations,
    under_way,
)
from ...machine import CallTool, ModelReplied, State, Status, pending
from ..records import PathLike, RecordedRun, RecordedStep, is_recorded
from ..stores import RunStore, StoreLike, address_of_run, load_run, opened, run_named
from .entries import Timeline
from .timeline import timeline


@frozen
class Replay:
    """A recorded run that can be watched again; nothing is performed.

    Attributes:
        run: the run.
    """

    run: RecordedRun

    @property
    def state(self) -> State:
        """The State of the run after what was shown."""
        return self.run.state

    def stream(self, *, words: bool = True) -> Iterator[Observation]:
        """What there was to see of the run; its replies come whole. See `Run.stream`.

        Raises:
            ReplayError: the recording was changed after the run, or ends before the run does.
            LimitError, ApprovalNeeded, ModelError: the run ended so.
        """
        self.run.check()  # all of it, before anything is seen
        yield from under_way(self.run.first)
        for step in self.run.steps:
            yield from _seen(step)
        if pending(self.state) and not self.state.asks:
            waits, steps = self.state.status.value, self.run.steps
            told = f"the recording ends here: the run is {waits}; gram resume goes on"
            raise ReplayError(self.run.placed(told, steps[-1] if steps else None))
        yield finished(self.state)


def _seen(step: RecordedStep) -> Iterator[Observation]:
    """What there was to see of a step."""
    if isinstance(step.effect, CallTool):
        yield ToolStarted(step.effect)
    if isinstance(step.event, ModelReplied) and step.event.reasoning:
        yield ReasoningDelta(step.event.at, step.event.reasoning)
    yield from observations(step.event, step.taken)


_PAUSE = 0.1  # seconds between two looks
_PATIENCE = 2.0  # seconds in which a file that nobody writes may find a writer


def follow(run: PathLike, *, record: StoreLike | None = None) -> Iterator[Timeline]:
    """Yield the timeline of a run whenever it has gone on, until it ends.

    It ends when the run is done or stopped, or when no process goes on with it any more. A queued
    run of a store is waited for.

    Args:
        run: its address, such as ``hello.run.gram`` or ``runs.db#4f2a``; or its id.
        record: the store that has the id, or where that is.

    Raises:
        OSError: the file cannot be read.
        StoreError: there is no such run in the store, or the store cannot be read.
        GramDecodeError: what is recorded is not gram.
        ValidationError: what is recorded is no run; the fault has its place.
        ReplayError: an event does not fit the run.
    """
    expect(run, (str, os.PathLike), "run", by="follow")
    expect(record, (RunStore, str, os.PathLike, type(None)), "record", by="follow")
    if isinstance(record, RunStore):
        return _of_store(record, os.fspath(run))
    address = address_of_run(run, record)
    if address.is_store:
        return _of_store(address.place, address.run)
    resolved(Path(address.place))  # refuses what is no path
    return _of_file(address.place)


def _of_store(store: StoreLike, run: str) -> Iterator[Timeline]:
    with opened(store) as found:
        run = run_named(found, run)
        seen = 0
        while True:
            began, row = monotonic(), found.row(run)
            if row.entries != seen:
                seen = row.entries
                yield timeline(found.recorded(run))
            elif row.status not in ("queued", "running"):
                return
            sleep(max(_PAUSE, 2 * (monotonic() - began)))  # a long run is read less often


def _of_file(path: PathLike) -> Iterator[Timeline]:
    seen, changed = 0, monotonic()
    while True:
        is_written, size = is_recorded(path), Path(path).stat().st_size
        began = monotonic()
        if size != seen and (seen or b"\n" in Path(path).read_bytes()):
            seen, changed = size, began
            run = load_run(path)
            yield timeline(run)
            if not is_written and _has_ended(run):
                return
        elif is_written:
            changed = began
        elif began - changed > _PATIENCE:
            if not seen:
                load_run(path)  # says what is wrong with a file in which no run begins
            return
        sleep(max(_PAUSE, 2 * (monotonic() - began)))  # a long file is read less often


def _has_ended(run: RecordedRun) -> bool:
    last = run.entries[-1] if run.entries else None
    return run.state.status is Status.DONE or isinstance(last, Stopped)
