"""Runs of a store as run files, and back; every entry stays as it is."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from gram import decode, expect

from ..errors import RunExistsError, ValidationError
from ..execution import Stopped
from ..history.records import Head, PathLike, read_run
from ..history.stores import RunFacts, RunStore, StoredRun


def export_run(store: RunStore, run: str, path: PathLike) -> None:
    """Write a run of a store to a new file (mode 0600), which can be resumed and replayed.

    A file does not have its tenant, priority and parent, and not the conversation that it is a
    turn of.

    Args:
        store: the store.
        run: the id of the run.
        path: the file.

    Raises:
        StoreError: there is no such run, or the store cannot be read.
        OSError: the file exists, or cannot be written; nothing of it is left then.
    """
    expect(store, RunStore, "store", by="export_run")
    expect(run, str, "run", by="export_run")
    expect(path, (str, os.PathLike), "path", by="export_run")
    content = "".join(f"{each}\n" for each in store.entries(run)).encode()
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        reason = "exists already; a run is exported to a new file"
        raise FileExistsError(errno.EEXIST, reason, str(path)) from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
    except OSError:
        Path(path).unlink(missing_ok=True)
        raise


def import_run(store: RunStore, path: PathLike, *, tenant: str | None = None) -> str:
    """Take the run of a file into a store, up to its last whole entry; the file stays.

    Nothing is done where the store has these entries already.

    Args:
        store: the store.
        path: the file.
        tenant: whom the run was done for.

    Returns:
        The id of the run.

    Raises:
        OSError: the file cannot be read.
        GramDecodeError: the file is not gram.
        ValidationError: the file is not the record of a run; the fault has its place.
        ReplayError: an event does not fit the run.
        StoreError: the store has other entries of the run, or cannot be written.
    """
    return imported(store, path, tenant=tenant)[0]


def imported(store: RunStore, path: PathLike, *, tenant: str | None = None) -> tuple[str, bool]:
    """The same; gives the id of the run, and whether the store had its entries already."""
    expect(store, RunStore, "store", by="import_run")
    expect(path, (str, os.PathLike), "path", by="import_run")
    expect(tenant, (str, type(None)), "tenant", by="import_run")
    content = Path(path).read_bytes()
    text = decode(content[: content.rfind(b"\n") + 1], str(path))
    found = read_run(text, str(path))
    head, *entries = text.removesuffix("\n").split("\n")
    if len(entries) != len(found.entries):
        raise ValidationError(f"{path}: each entry has to be on a line of its own")
    run = found.first.run_id or os.urandom(8).hex()
    log = StoredRun(store, run, facts=RunFacts("", tenant=tenant))
    last = found.entries[-1] if found.entries else None
    stopped_by = last.error if isinstance(last, Stopped) else None
    try:
        log.begin_with(Head.of(head, found), found.first, entries, found.state, stopped_by)
    except RunExistsError:
        if store.entries(run)[: 1 + len(entries)] == [head, *entries]:
            return run, True
        told = f"{store.name} has run {run} already, with other entries than this file"
        hint = "`gram runs export` writes those of the store to a new file"
        raise RunExistsError(f"{path}: {told}\n  hint: {hint}") from None
    return run, False
