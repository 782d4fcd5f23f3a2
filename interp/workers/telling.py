"""Telling workers at once what others did with a run; else they find it when they look."""

from __future__ import annotations

from contextlib import suppress

from ..errors import ConfigurationError
from ..stores import RunStore
from .queue import IS_OVER, RunQueue, with_workers


def put_again(store: RunStore, run: str) -> None:
    """Put in a job for a run that can go on, or for the turn that waited for one that has ended.

    Nothing is done in a store that has no workers, or where Procrastinate is not installed.

    Args:
        store: any store.
        run: the id of the run.

    Raises:
        StoreError: the store cannot be written.
    """
    database = with_workers(store)
    if database is None:
        return
    with suppress(ConfigurationError):
        queue, status = RunQueue(database), store.row(run).status
        if status in IS_OVER:
            queue.ended(run)
        elif status == "stopped":
            queue.put([run])
