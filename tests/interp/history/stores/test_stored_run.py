"""Runs in stores: nothing recorded is asked or run again, whatever ended the run."""

from __future__ import annotations

from typing import Any

import pytest

import interp
from gram import GramError
from interp import ModelError, Run, ScriptedModel, begin, resume_run
from interp.errors import RunTakenError, StoreError
from interp.history import RunStore
from interp.history.stores import StoredRun
from interp.history.stores.leases import Lease
from interp.machine import fold
from tests.interp.counting import AGENT, CALLS, counting

LIBRARY = counting([])


def beginning(store: RunStore, *replies: Any) -> Run:
    """A run of the counter that is recorded in the store."""
    return begin(AGENT, "go", LIBRARY, model=ScriptedModel(replies), record=store)


def stopped(store: RunStore, *replies: Any, by: type[BaseException] = ModelError) -> Run:
    """One that something has stopped."""
    begun = beginning(store, *replies)
    with pytest.raises(by):
        begun.finish()
    return begun


def test_a_store_holds_a_run_as_it_was(store: RunStore) -> None:
    begun = beginning(store, CALLS, "done")
    begun.finish()
    kept = store.recorded(begun.state.run_id)
    row = store.row(begun.state.run_id)
    assert kept.state == begun.state
    assert fold(kept.first, kept.events) == begun.state
    assert interp.run(AGENT, "go", LIBRARY, handler=interp.recorded(kept)).content == "done"
    assert (row.status, row.facts.agent, row.facts.model) == ("done", "counter", "A/b")


def test_a_run_that_failed_is_resumed_by_its_id(store: RunStore, address: str) -> None:
    run_id = stopped(store, CALLS, KeyboardInterrupt(), by=KeyboardInterrupt).state.run_id
    row, done = store.row(run_id), list[int]()
    assert (row.status, row.reason) == ("stopped", "interrupted")
    response = resume_run(run_id, counting(done), model=ScriptedModel(["done"]), record=address)
    assert (response.content, done) == ("done", [])
    assert store.row(run_id).status == "done"
    assert resume_run(run_id, LIBRARY, model=ScriptedModel([]), record=store).content == "done"


def test_a_process_whose_run_went_on_elsewhere_ruins_nothing_ever(store: RunStore) -> None:
    begun = stopped(store, CALLS)
    log, kept = StoredRun.of(store, begun.state.run_id)
    late = Run(kept.state, LIBRARY, model=ScriptedModel(["late"]), record=log)
    with pytest.raises(ModelError):
        resume_run(kept.state.run_id, LIBRARY, model=ScriptedModel([CALLS]), record=store)
    with pytest.raises(RunTakenError, match="has gone on with it since it was read"):
        late.finish()
    resume_run(kept.state.run_id, LIBRARY, model=ScriptedModel(["done"]), record=store)
    entries, row = store.entries(kept.state.run_id), store.row(kept.state.run_id)

    for stale in (begun, late) * 2:
        with pytest.raises(RunTakenError, match="has gone on with it since it was read"):
            stale.finish()

    assert store.entries(row.id) == entries
    assert (store.row(row.id).status, store.row(row.id).usage) == ("done", row.usage)


def test_a_run_that_would_be_folded_otherwise_is_refused_with_its_place(store: RunStore) -> None:
    run_id = stopped(store, CALLS).state.run_id
    (head,) = store.ready().execute("SELECT text FROM gram_entries WHERE seq = 0")[0]
    other = head.replace("Count.", "Tell.")
    store.ready().execute("UPDATE gram_entries SET text = ? WHERE seq = 0", other)
    with pytest.raises(GramError) as raised:
        resume_run(run_id, LIBRARY, model=ScriptedModel(["late"]), record=store)
    assert run_id in str(raised.value)


def test_a_run_stands_where_it_is_recorded_not_where_it_got_to(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, append = beginning(store, "done"), Lease.append

    def failing(lease: Lease, *entries: str) -> None:
        if any("ModelReplied" in entry for entry in entries):
            raise StoreError("the store cannot be reached")
        append(lease, *entries)

    with monkeypatch.context() as patch:
        patch.setattr(Lease, "append", failing)
        with pytest.raises(StoreError):
            begun.finish()
    assert store.row(begun.state.run_id).status == "stopped"

    assert begun.finish().content == "done"  # what could not be written is written first
    assert store.row(begun.state.run_id).status == "done"
    assert store.recorded(begun.state.run_id).content == "done"


def test_a_run_that_has_failed_since_it_was_read_is_not_gone_on_with(store: RunStore) -> None:
    run_id = stopped(store).state.run_id
    log, kept = StoredRun.of(store, run_id)
    store.claim(run_id).let_go("failed", interp.Usage(None, None), "its worker died")
    late = Run(kept.state, LIBRARY, model=ScriptedModel(["late"]), record=log)
    with pytest.raises(RunTakenError, match="has gone on with it since it was read"):
        late.finish()
    assert store.row(run_id).status == "failed"
    resume_run(run_id, LIBRARY, model=ScriptedModel(["done"]), record=store)
    assert store.row(run_id).status == "done"
