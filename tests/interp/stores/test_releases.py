"""The stores of each release are read, replayed and gone on with."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from interp import (
    ScriptedModel,
    decide_run,
    hello_world_tool_library,
    load,
    open_store,
    recorded,
    resume_run,
    run,
)
from tests.paths import DATA, EXAMPLES

RELEASES = sorted((DATA / "stores").glob("*.db"))


@pytest.fixture(params=RELEASES, ids=lambda path: path.stem)
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of the store of a release."""
    return Path(shutil.copy(request.param, tmp_path / "runs.db"))


def test_there_is_a_store_of_a_release() -> None:
    assert [path.stem for path in RELEASES] == ["0.1.0"]


def test_what_it_has_is_replayed(kept: Path) -> None:
    agent = load(EXAMPLES / "hello_world.gram")
    with open_store(kept) as store:
        rows = [*store.rows(conversation="al")]
        said = [each.content for each in store.conversation("al").context]
        for row in rows:
            found = store.recorded(row.id)
            asked = found.first.context[-1].content
            before = found.first.context[:-1]
            again = run(agent, asked, hello_world_tool_library, before, world=recorded(found))
            assert again.content == found.content == "Hi, Al."

    assert [row.status for row in rows] == ["done", "done"]
    assert said[::4] == ["hello 0", "hello 1"]


def test_what_was_left_is_gone_on_with(kept: Path) -> None:
    with open_store(kept) as store:
        (stopped,) = store.rows(status=["stopped"])
        (waiting,) = store.rows(status=["waiting"])
        decide_run(store, waiting.id, True)
        for row in (stopped, waiting):
            answer = resume_run(
                row.id, hello_world_tool_library, model=ScriptedModel(["Hi."]), store=store
            )
            assert answer.content == "Hi."
            assert len(answer.tools_used) == 1


def test_pruning_it_leaves_what_other_runs_use(kept: Path) -> None:
    with open_store(kept) as store:
        whole = {row.id: store.entries(row.id) for row in store.rows()}
        store.ready().execute("UPDATE gram_texts SET used = 0")
        store.prune(datetime.now(UTC), status=["done"])

        left = [row.id for row in store.rows()]
        assert 0 < len(left) < len(whole)
        assert {run: store.entries(run) for run in left} == {run: whole[run] for run in left}
