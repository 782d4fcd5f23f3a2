"""Ending a run for good, whoever goes on with it."""

from __future__ import annotations

from gram import expect

from ..errors import StoreError
from ..execution import CANCELLED, Stopped
from ..history.records import EntryWriter
from ..history.stores import ENDED, RunStore
from ..machine import Usage
from .queue import tell_workers


def cancel_run(store: RunStore, run: str) -> None:
    """Cancel a run: nothing more of it is recorded, and nothing goes on with it.

    What is under way elsewhere may still end; its process is refused when it records the result.

    Args:
        store: the store.
        run: the id of the run.

    Raises:
        StoreError: there is no such run, it has ended, or the store cannot be written.
    """
    expect(store, RunStore, "store", by="cancel_run")
    expect(run, str, "run", by="cancel_run")
    row = store.row(run)
    if row.status in ENDED:
        raise StoreError(f"{store.name_of(run)} is {row.status}: nothing is left to cancel")
    claim = store.take_over(run)
    store.append(claim, EntryWriter().note(Stopped(CANCELLED)))
    store.let_go(claim, "cancelled", Usage(None, None), CANCELLED)
    tell_workers(store, run)
