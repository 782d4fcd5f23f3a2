"""A run that another process records, while it happens."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

from gram.documents import resolved
from gram.errors import expect

from ...execution import Stopped
from ...machine import Status
from ..records import PathLike, RecordedRun, is_recorded
from ..stores import RunStore, StoreLike, address_of_run, load_run, opened, run_named
from .entries import Timeline
from .timeline import timeline

_PAUSE = 0.1  # seconds between two looks
_PATIENCE = 2.0  # seconds in which a file that nobody writes may find a writer


def follow(run: PathLike, *, record: StoreLike | None = None) -> Iterator[Timeline]:
    """Yield the timeline of a run as it is recorded, again whenever it has gone on, until it ends.

    It ends when the run is done, when it stopped, or when no process goes on with it any more. A
    run of a store that is queued is waited for.

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
