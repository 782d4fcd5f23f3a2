"""A run that another process records, while it happens."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

from gram import expect

from ..machine import Status
from ..records import PathLike, RecordedRun, Stopped, is_recorded, load_run

_PAUSE = 0.1  # seconds between two looks at the file
_PATIENCE = 2.0  # seconds in which a file that nobody writes may find a writer


def follow(path: PathLike) -> Iterator[RecordedRun]:
    """Yield the run of a file, and again whenever it has gone on, until it ends.

    It ends when the run is done, when it stopped, or when no process has the file open any more.

    Raises:
        OSError: the file cannot be read.
        GramDecodeError: the file is not gram.
        ValidationError: the file is not the record of a run; the fault has its place.
        ReplayError: an event does not fit the run.
    """
    expect(path, (str, os.PathLike), "path", by="follow")
    seen, changed = 0, monotonic()
    while True:
        is_written, size = is_recorded(path), Path(path).stat().st_size
        began = monotonic()
        if size != seen and (seen or b"\n" in Path(path).read_bytes()):
            seen, changed = size, began
            run = load_run(path)
            yield run
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
