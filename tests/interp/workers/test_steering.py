"""Runs of a store are answered, cancelled, forked, and moved to files and back."""

from __future__ import annotations

import stat
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import interp
from gram import ArgumentError, Pattern, loads, loads_one
from interp import ApprovalNeeded, ScriptedModel, ToolLibrary, ValidationError, begin, resume_run
from interp.errors import RunTakenError, StoreError
from interp.execution import WAITS, Folded
from interp.history import RunStore
from interp.history.stores import StoredRun
from interp.machine import TimeUp, step
from interp.workers import Result, cancel_run, decide_run, export_run, fork_run, import_run
from lenses_ext import ProgramLike
from tests.interp.counting import counting

with_add = partial(counting, once=True)
PROGRAM = """
[counter:Agent {{instruction: "{instruction}", model: "A/b"}} |
  [add:Tool {{description: "Adds one."}} | (x::Integer)==>(::Integer)]]
"""


def counter(instruction: str = "Count.") -> Pattern:
    return loads_one(PROGRAM.format(instruction=instruction))


def calls(*numbers: int) -> dict[str, object]:
    each = [
        {"id": str(n), "function": {"name": "add", "arguments": f'{{"x": {n}}}'}} for n in numbers
    ]
    return {"choices": [{"message": {"role": "assistant", "content": "", "tool_calls": each}}]}


def began(
    store: RunStore, program: ProgramLike, *replies: object, ends: Any = None, **options: Any
) -> str:
    """The id of a run that is driven to its end, which may be an error."""
    begun = begin(program, "go", model=ScriptedModel(replies), record=store, **options)
    with pytest.raises(ends) if ends else nullcontext():
        begun.finish()
    return begun.state.run_id


def waiting_run(store: RunStore, *numbers: int) -> str:
    """A run that waits for approval of calls."""
    options = {"tools": with_add([]), "policy": interp.ask_all, "ends": ApprovalNeeded}
    return began(store, counter(), calls(*numbers), **options)


def done_run(store: RunStore) -> str:
    return began(store, counter(), calls(1), "two", tools=with_add([]))


def resumed(
    store: RunStore, run: str, done: list[int], *replies: object
) -> interp.AgentResponse[Any]:
    return resume_run(run, with_add(done), model=ScriptedModel(replies), record=store)


def test_calls_are_answered_from_outside(store: RunStore) -> None:
    run, done = waiting_run(store, 1, 2, 3), list[int]()
    left = decide_run(store, run, {(0, 0): True, (0, 1): "too much"})
    assert [ask.at for ask in left] == [(0, 2)]
    assert (store.row(run).status, store.row(run).reason) == ("waiting", WAITS)
    assert decide_run(store, run, False) == ()
    assert store.row(run).status == "stopped"
    response = resumed(store, run, done, "done")
    assert done == [1]
    assert [each.error is None for each in response.tools_used] == [True, False, False]
    assert "too much" in str(response.tools_used[1].error)


def test_a_result_is_taken_instead_of_a_call(store: RunStore) -> None:
    run, done = waiting_run(store, 1), list[int]()
    decide_run(store, run, {(0, 0): Result(7)})
    response = resumed(store, run, done, "done")
    assert (response.tools_used[0].result, done) == (7, [])


def stopped_in_its_tool(store: RunStore) -> str:
    """The id of a run whose tool had begun, and is to run only once."""

    @interp.tool(once=True)
    def add(x: int) -> int:
        """Adds one."""
        raise KeyboardInterrupt

    tools = ToolLibrary.of(add)
    return began(store, counter(), calls(1), tools=tools, ends=KeyboardInterrupt)


def test_a_call_that_may_have_run_is_asked_about_and_answered(store: RunStore) -> None:
    run, done = stopped_in_its_tool(store), list[int]()
    with pytest.raises(ApprovalNeeded):
        resumed(store, run, done)
    assert store.row(run).status == "waiting"
    (asked,) = (
        each for each in interp.timeline(store.recorded(run)).in_order if each.how == "asked"
    )
    assert asked.may_have_run
    decide_run(store, run, {(0, 0): Result(2)})
    resumed(store, run, done, "done")
    assert done == []


def end_its_time(store: RunStore, run: str) -> None:
    """Have the time of a run be up."""
    log, kept = StoredRun.of(store, run)
    out_of_time = Folded(TimeUp(), None, step(kept.state, TimeUp()).state)
    with log.held(lambda: out_of_time.state):
        log.append(out_of_time)


def test_a_run_at_a_limit_is_listed_as_limited_also_with_an_open_question(store: RunStore) -> None:
    run = waiting_run(store, 1)
    end_its_time(store, run)
    assert [each.name for each in store.recorded(run).state.asks] == ["add"]
    assert store.row(run).status == "limited"


def test_an_answer_to_no_question_is_told(store: RunStore) -> None:
    run = waiting_run(store, 1)
    with pytest.raises(ValidationError, match=r"no call waits for approval at 0.7; .*0\.0"):
        decide_run(store, run, {(0, 7): True})
    with pytest.raises(ValidationError, match="the run waits for no approval"):
        decide_run(store, done_run(store), {(0, 0): True})
    with pytest.raises(ValidationError, match="waits for approval: the run is done"):
        decide_run(store, done_run(store), True)


def test_a_cancelled_run_has_ended_whoever_had_it(store: RunStore) -> None:
    @interp.tool
    def add(x: int) -> int:
        """Adds one."""
        cancel_run(store, begun.state.run_id)
        return x + 1

    model = ScriptedModel([calls(1), "done"])
    begun = begin(counter(), "go", ToolLibrary.of(add), model=model, record=store)
    with pytest.raises(RunTakenError, match="was cancelled"):
        begun.finish()
    run = begun.state.run_id

    assert store.row(run).status == "cancelled"
    assert store.recorded(run).notes[-1].error == "cancelled"  # type: ignore[union-attr]  # a note of a failure
    with pytest.raises(RunTakenError, match="was cancelled"):
        resumed(store, run, [], "late")
    with pytest.raises(StoreError, match="is cancelled: nothing is left to cancel"):
        cancel_run(store, run)


def test_a_fork_has_what_is_the_same_and_leaves_the_other_run_as_it_is(store: RunStore) -> None:
    run, done = done_run(store), list[int]()
    before = store.entries(run)
    same = fork_run(store, run)
    changed = fork_run(store, run, counter("Count twice."))
    assert store.recorded(same).events == store.recorded(run).events
    assert store.recorded(changed).events == ()
    assert [store.row(each).facts.parent for each in (same, changed)] == [run, run]
    assert resumed(store, changed, done, calls(5), "six").content == "six"
    assert (done, store.entries(run)) == ([5], before)


def test_a_fork_asks_about_what_had_begun_in_the_other_run(store: RunStore) -> None:
    run, done = stopped_in_its_tool(store), list[int]()
    fork, other = fork_run(store, run), fork_run(store, run, counter("Count twice."))
    with pytest.raises(ApprovalNeeded):
        resumed(store, fork, done)
    assert [each.may_have_run for each in store.recorded(fork).state.asks] == [True]
    resumed(store, other, done, calls(1), "done")  # another request, and so a call of its own
    assert done == [1]


def test_a_fork_asks_again_about_a_call_that_was_allowed_and_has_not_begun(store: RunStore) -> None:
    run, done = waiting_run(store, 1, 2, 3), list[int]()
    decide_run(store, run, {(0, 0): True, (0, 1): "too much", (0, 2): Result(7)})

    fork = fork_run(store, run)

    assert [ask.at for ask in store.recorded(fork).state.asks] == [(0, 0)]
    assert (store.row(fork).status, store.row(fork).reason) == ("waiting", WAITS)
    store.recorded(fork).check()
    decide_run(store, fork, False)
    response = resumed(store, fork, done, "done")
    assert ([each.result for each in response.tools_used], done) == ([None, None, 7], [])
    resumed(store, run, done, "done")
    assert done == [1]
    both = store.recorded(fork_run(store, run))
    assert (both.events, both.state.asks) == (store.recorded(run).events, ())


BOSS = """
[boss:Agent {instruction: "Ask.", model: "A/b"} |
  [add:Agent {description: "Adds one.", instruction: "Add.", model: "A/b"} |
    (x::Integer)==>(::String)]]
"""


def allowed(store: RunStore) -> str:
    run = waiting_run(store, 1)
    decide_run(store, run, True)
    return run


def allowed_at_a_limit(store: RunStore) -> str:
    run = allowed(store)
    end_its_time(store, run)
    return run


def allowed_twice(store: RunStore) -> str:
    run = stopped_in_its_tool(store)
    with pytest.raises(ApprovalNeeded):
        resumed(store, run, [])
    decide_run(store, run, True)
    return run


@pytest.mark.parametrize("make", [allowed, allowed_at_a_limit, allowed_twice])
def test_a_fork_asks_about_allowed_calls(store: RunStore, make: Callable[[RunStore], str]) -> None:
    (asked,) = store.recorded(fork_run(store, make(store))).state.asks
    assert asked.may_have_run == (make is allowed_twice)


def test_a_fork_asks_again_about_an_agent_that_has_not_begun(store: RunStore) -> None:
    options = {"policy": interp.ask_all, "ends": ApprovalNeeded}
    run = began(store, loads_one(BOSS), calls(1), **options)
    decide_run(store, run, True)
    before = fork_run(store, run)
    with pytest.raises(interp.ModelError):
        resume_run(run, model=ScriptedModel([]), record=store)
    after = fork_run(store, run)
    assert [len(store.recorded(each).state.asks) for each in (before, after)] == [1, 0]


def test_a_fork_goes_on_from_where_requests_first_differ(store: RunStore) -> None:
    greeter = """
    [pair:Workflow | first, second, (first)-->(second)]
    [first:Agent {{instruction: "Begin.", model: "A/b"}}]
    [second:Agent {{instruction: "{instruction}", model: "A/b"}}]
    """
    run = began(store, loads(greeter.format(instruction="End.")), "one", "two")
    fork = fork_run(store, run, loads(greeter.format(instruction="Finish.")))
    assert store.recorded(fork).events == store.recorded(run).events[:1]
    assert resume_run(fork, model=ScriptedModel(["three"]), record=store).content == "three"


def test_runs_go_to_files_and_back_without_loss(store: RunStore, tmp_path: Path) -> None:
    run, file = done_run(store), tmp_path / "a.run.gram"

    export_run(store, run, file)
    assert interp.load_run(file) == store.recorded(run)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with pytest.raises(FileExistsError, match="exists already"):
        export_run(store, run, file)
    entries = store.entries(run)
    assert import_run(store, file) == run  # it is there already
    other = tmp_path / "other.run.gram"
    other.write_text("\n".join(entries[:-1]) + '\n(:Stopped {error: "x", time: "2026-01-01"})\n')
    with pytest.raises(StoreError, match=r"other.run.gram: .* has run \w+ already, with other"):
        import_run(store, other)
    assert store.entries(run) == entries

    assert store.prune(datetime.now(UTC)) == 1
    assert import_run(store, file) == run
    assert store.entries(run) == entries
    assert store.row(run).status == "done"


def test_a_torn_file_is_imported_and_resumed(store: RunStore, tmp_path: Path) -> None:
    file, done = tmp_path / "a.run.gram", list[int]()
    begun = begin(counter(), "go", with_add(done), model=ScriptedModel([calls(1)]), record=file)
    with pytest.raises(interp.ModelError):
        begun.finish()
    with file.open("a") as torn:
        torn.write("[:ModelReplied {at")
    run = import_run(store, file)
    assert resumed(store, run, done, "two").content == "two"
    assert done == [1]


def test_a_run_that_is_held_cannot_be_answered(store: RunStore) -> None:
    run = waiting_run(store, 1)
    claim = store.claim(run)
    with pytest.raises(RunTakenError, match="another process goes on with it"):
        decide_run(store, run, True)
    assert claim.is_held


def test_cancelling_may_come_too_late(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    run = done_run(store)
    with monkeypatch.context() as patch:
        patch.setattr("interp.workers.steering.ENDED", ())  # as if it ended after the look
        with pytest.raises(StoreError, match="it has ended"):
            cancel_run(store, run)
    assert store.row(run).status == "done"


def test_a_run_that_cannot_be_replayed_can_be_cancelled(store: RunStore) -> None:
    run = waiting_run(store, 1)
    store.ready().execute("UPDATE gram_entries SET text = '(:Nonsense)' WHERE seq = 1")
    cancel_run(store, run)
    assert store.row(run).status == "cancelled"


def test_an_import_that_fails_leaves_nothing(store: RunStore, tmp_path: Path) -> None:
    run, file = done_run(store), tmp_path / "a.run.gram"
    export_run(store, run, file)
    store.prune(datetime.now(UTC))
    execute = store.database.execute

    def failing(sql: str, *values: object) -> Any:
        if values[1:2] == (2,):
            raise StoreError("the disk is full")
        return execute(sql, *values)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store.database, "execute", failing)
        with pytest.raises(StoreError, match="the disk is full"):
            import_run(store, file)

    assert list(store.rows()) == []
    assert import_run(store, file) == run
    assert store.row(run).status == "done"


def test_a_cancelled_run_stays_so_when_it_is_imported(store: RunStore, tmp_path: Path) -> None:
    run, file = waiting_run(store, 1), tmp_path / "a.run.gram"
    cancel_run(store, run)
    export_run(store, run, file)
    store.prune(datetime.now(UTC))
    assert import_run(store, file) == run
    assert (store.row(run).status, store.row(run).reason) == ("cancelled", "cancelled")


@pytest.mark.parametrize("wrong", [{(0, 0): 3}, {(0, 0): None}, {"0.0": True}, {0: True}])
def test_a_decision_that_is_none_is_refused(wrong: Any, store: RunStore) -> None:
    run = waiting_run(store, 1)
    with pytest.raises(ArgumentError):
        decide_run(store, run, wrong)
    assert store.row(run).status == "waiting"
