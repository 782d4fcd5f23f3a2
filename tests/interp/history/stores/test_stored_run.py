"""Runs in stores: nothing recorded is asked or run again, whatever ended the run."""

from __future__ import annotations

import pytest

from gram import GramError
from interp import (
    ApprovalNeeded,
    ModelError,
    Run,
    ScriptedModel,
    ToolLibrary,
    Usage,
    ask_all,
    begin,
    load_run,
    open_store,
    recorded,
    resume_run,
    run,
    tool,
)
from interp.errors import RunTakenError, StoreError
from interp.history import RunStore
from interp.history.records import RunFile
from interp.history.stores import StoredRun
from interp.history.stores.leases import Lease
from interp.machine import fold
from tests.interp.counting import AGENT, CALLS, counting


def test_a_store_holds_a_run_as_it_was(store: RunStore) -> None:
    begun = begin(AGENT, "go", counting([]), model=ScriptedModel([CALLS, "done"]), record=store)
    begun.finish()

    kept = store.recorded(begun.state.run_id)
    row = store.row(begun.state.run_id)

    assert kept.state == begun.state
    assert fold(kept.first, kept.events) == begun.state
    assert run(AGENT, "go", counting([]), handler=recorded(kept)).content == "done"
    assert (row.status, row.facts.agent, row.facts.model) == ("done", "counter", "A/b")


def test_a_run_that_failed_is_resumed_by_its_id(store: RunStore, address: str) -> None:
    done: list[int] = []
    model = ScriptedModel([CALLS, KeyboardInterrupt()])
    begun = begin(AGENT, "go", counting(done), model=model, record=store)
    with pytest.raises(KeyboardInterrupt):
        begun.finish()
    run_id = begun.state.run_id
    row = store.row(run_id)
    assert (row.status, row.reason) == ("stopped", "interrupted")

    response = resume_run(run_id, counting(done), model=ScriptedModel(["done"]), record=address)

    assert (response.content, done) == ("done", [1])
    assert store.row(run_id).status == "done"
    again = resume_run(run_id, counting(done), model=ScriptedModel([]), record=store)
    assert again.content == "done"


def test_a_run_that_waits_for_approval_says_so(store: RunStore) -> None:
    done: list[int] = []
    model = ScriptedModel([CALLS, "done"])
    begun = begin(AGENT, "go", counting(done), model=model, policy=ask_all, record=store)
    with pytest.raises(ApprovalNeeded):
        begun.finish()
    assert store.row(begun.state.run_id).status == "waiting"

    library = counting(done)
    resume_run(begun.state.run_id, library, model=model, approve=lambda _: True, record=store)

    assert (store.row(begun.state.run_id).status, done) == ("done", [1])


def test_an_owner_that_lost_its_run_records_nothing_more(store: RunStore, address: str) -> None:
    taken: list[str] = []

    @tool
    def add(x: int) -> int:
        """Adds one."""
        with open_store(address) as other:
            other.take_over(begun.state.run_id)
        taken.extend(store.entries(begun.state.run_id))
        return x + 1

    model = ScriptedModel([CALLS, "done"])
    begun = begin(AGENT, "go", ToolLibrary.of(add), model=model, record=store)
    with pytest.raises(RunTakenError, match="was taken over by another process"):
        begun.finish()

    assert store.entries(begun.state.run_id) == taken
    assert len(model.requests) == 1


def test_a_process_whose_run_went_on_elsewhere_ruins_nothing_however_often_it_tries(
    store: RunStore,
) -> None:
    begun = begin(AGENT, "go", counting([]), model=ScriptedModel([CALLS]), record=store)
    with pytest.raises(ModelError):
        begun.finish()
    log, kept = StoredRun.of(store, begun.state.run_id)
    late = Run(kept.state, counting([]), model=ScriptedModel(["late"]), record=log)
    with pytest.raises(ModelError):
        resume_run(kept.state.run_id, counting([]), model=ScriptedModel([CALLS]), record=store)
    with pytest.raises(RunTakenError, match="has gone on with it since it was read"):
        late.finish()
    resume_run(kept.state.run_id, counting([]), model=ScriptedModel(["done"]), record=store)
    entries, row = store.entries(kept.state.run_id), store.row(kept.state.run_id)

    for stale in (begun, late) * 2:
        with pytest.raises(RunTakenError, match="has gone on with it since it was read"):
            stale.finish()

    assert store.entries(row.id) == entries
    assert (store.row(row.id).status, store.row(row.id).usage) == ("done", row.usage)


def test_a_store_holds_the_same_entries_as_a_file(store: RunStore, tmp_path: object) -> None:
    path = f"{tmp_path}/a.gram"
    model = ScriptedModel([CALLS, "done"])
    begin(AGENT, "go", counting([]), model=model, record=path).finish()
    model = ScriptedModel([CALLS, "done"])
    begun = begin(AGENT, "go", counting([]), model=model, record=store)
    begun.finish()

    file, stored = load_run(path), store.recorded(begun.state.run_id)
    assert [type(each) for each in file.entries] == [type(each) for each in stored.entries]
    assert file.events == stored.events
    assert file.state == stored.state
    assert RunFile.of(path)[1].program == stored.program


def test_a_run_that_would_be_folded_otherwise_is_refused_with_its_place(store: RunStore) -> None:
    model = ScriptedModel([CALLS, KeyboardInterrupt()])
    begun = begin(AGENT, "go", counting([]), model=model, record=store)
    with pytest.raises(KeyboardInterrupt):
        begun.finish()
    run_id = begun.state.run_id
    (head,) = store.ready().execute("SELECT text FROM gram_entries WHERE seq = 0")[0]
    other = head.replace("Count.", "Tell.")
    store.ready().execute("UPDATE gram_entries SET text = ? WHERE seq = 0", other)

    with pytest.raises(GramError) as raised:
        resume_run(run_id, counting([]), model=ScriptedModel(["late"]), record=store)
    assert run_id in str(raised.value)


def test_a_run_stands_where_it_is_recorded_not_where_it_got_to(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = begin(AGENT, "go", counting([]), model=ScriptedModel(["done"]), record=store)
    append = Lease.append

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
    begun = begin(AGENT, "go", counting([]), model=ScriptedModel([OSError("down")]), record=store)
    with pytest.raises(Exception, match="down"):
        begun.finish()
    log, kept = StoredRun.of(store, begun.state.run_id)
    store.claim(begun.state.run_id).let_go("failed", Usage(None, None), "its worker died")

    late = Run(kept.state, counting([]), model=ScriptedModel(["late"]), record=log)
    with pytest.raises(RunTakenError, match="has gone on with it since it was read"):
        late.finish()
    assert store.row(begun.state.run_id).status == "failed"
    resume_run(begun.state.run_id, counting([]), model=ScriptedModel(["done"]), record=store)
    assert store.row(begun.state.run_id).status == "done"
