"""Runs that are submitted at times."""

from __future__ import annotations

from pathlib import Path

import pytest

from gram import GramError
from interp import RunStore, read_schedules
from tests.interp.worker_processes import ended, until, worker
from tests.paths import EXAMPLES

EACH_MINUTE = """
{name: "What runs when"}
[greeting:Schedule {
  cron: "* * * * *", program: "hello_world.gram", input: "Hello, I am Alice",
  model: "Offline/rehearsal", tenant: "acme", priority: 2
}]
"""


@pytest.fixture
def schedules(tmp_path: Path) -> Path:
    (tmp_path / "hello_world.gram").write_bytes((EXAMPLES / "hello_world.gram").read_bytes())
    return tmp_path / "schedules.gram"


def test_each_time_is_run_once_however_many_workers_have_it(
    database: str, store: RunStore, schedules: Path
) -> None:
    schedules.write_text(EACH_MINUTE, "utf-8")
    options = ("--schedule", str(schedules))
    with worker(database, *options), worker(database, *options), worker(database):
        until(lambda: bool(list(store.rows())))
        (first,) = (row.id for row in store.rows())
        until(ended(store, first))
        until(lambda: len(list(store.rows())) > 1, 70)
        rows = sorted(store.rows(), key=lambda row: row.id)

    assert [(row.facts.tenant, row.facts.priority) for row in rows] == [("acme", 2)] * 2
    times = [int(row.id.removeprefix("greeting-").replace("T", "")[:12]) for row in rows]
    assert times[0] < times[1]  # one a minute, each under its own time


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[a:Agent {}]", "schedules.gram:1:1: a file of schedules has only [name:Schedule {…}]"),
        ('[a:Schedule {corn: "x"}]', "has no property corn; did you mean cron?"),
        ("[a:Schedule {cron: 5}]", "cron is a text, found 5"),
        ('[a:Schedule {cron: "* * * * *", input: "x"}]', 'schedule "a" has no program'),
        (EACH_MINUTE.replace("* * * * *", "soon"), 'cron "soon" is not like "0 7 * * 1-5"'),
        (EACH_MINUTE.replace("* * * * *", "* * * * * *"), "is not like"),
        (EACH_MINUTE.replace("Hello, I am Alice", " "), "message is empty"),
        (EACH_MINUTE.replace("Offline/", "Nobody/"), "Nobody"),
        (EACH_MINUTE + EACH_MINUTE.partition("}")[2], "there are two schedules"),
    ],
)
def test_a_wrong_file_is_told_before_anything_runs(schedules: Path, text: str, said: str) -> None:
    schedules.write_text(text, "utf-8")

    with pytest.raises(GramError) as told:
        read_schedules(schedules)
    assert said in str(told.value)


def test_a_program_that_is_not_there_is_told(schedules: Path) -> None:
    schedules.write_text(EACH_MINUTE.replace("hello_world", "nowhere"), "utf-8")

    with pytest.raises(FileNotFoundError, match=r"nowhere\.gram"):
        read_schedules(schedules)
