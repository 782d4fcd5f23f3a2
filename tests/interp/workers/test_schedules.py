"""Runs that are submitted at times."""

from __future__ import annotations

import re
from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from attrs import evolve

from gram import GramError
from interp import hello_world_tool_library, submit
from interp.history import RunStore
from interp.workers import Worker, read_schedules
from interp.workers.submission import submit_due
from tests.interp.worker_processes import TALKER, ended, until, worker
from tests.interp.worker_threads import at_work
from tests.paths import EXAMPLES

EACH_MINUTE = """
{name: "What runs when"}
[greeting:Schedule {
  cron: "* * * * *", program: "hello_world.gram", input: "Hello, I am Alice",
  model: "Offline/rehearsal", tenant: "acme", priority: 2
}]
"""


MINUTE = 1_800_000_000 // 60 * 60


@pytest.fixture
def schedules(tmp_path: Path) -> Path:
    (tmp_path / "hello_world.gram").write_bytes((EXAMPLES / "hello_world.gram").read_bytes())
    return tmp_path / "schedules.gram"


def test_workers_that_are_given_a_file_run_what_was_due_last(
    database: str, store: RunStore, schedules: Path
) -> None:
    schedules.write_text(EACH_MINUTE, "utf-8")
    with worker(database, "--schedule", str(schedules)), worker(database):
        until(lambda: bool(list(store.rows())))
        first = min(store.rows(), key=lambda row: row.id)
        until(ended(store, first.id))
    assert (first.facts.tenant, first.facts.priority) == ("acme", 2)
    assert re.fullmatch(r"greeting-\d{8}T\d{4}00Z", first.id)


def test_each_time_is_run_once_however_many_workers_have_it(
    database: str, store: RunStore, schedules: Path
) -> None:
    schedules.write_text(EACH_MINUTE, "utf-8")
    (each_minute,) = read_schedules(schedules)
    each_second = evolve(each_minute, cron="* * * * * *")
    times = ([each_second], [each_second], [])
    workers = [Worker(database, hello_world_tool_library, schedules=each) for each in times]

    def done() -> list[datetime]:
        ended = sorted(row.id for row in store.rows() if row.status == "done")
        return [datetime.strptime(each, "greeting-%Y%m%dT%H%M%SZ") for each in ended]

    def three_have_ended() -> bool:
        times = done()
        return bool(times) and {times[0] + timedelta(seconds=n) for n in range(3)} <= set(times)

    with ExitStack() as working:
        for each in workers:
            working.enter_context(at_work(each))
        until(three_have_ended)


def test_a_time_that_another_file_has_submitted_is_logged(
    store: RunStore, schedules: Path, caplog: pytest.LogCaptureFixture
) -> None:
    schedules.write_text(EACH_MINUTE, "utf-8")
    (changed,) = read_schedules(schedules)
    submit(TALKER, "As it was.", store=store, run_id=changed.run_at(MINUTE))
    submit_due([changed], store, None, MINUTE + 90)
    assert {row.id for row in store.rows()} == {changed.run_at(MINUTE), changed.run_at(MINUTE + 60)}
    submit_due([changed], store, MINUTE - 1, MINUTE)
    assert "another run was submitted under this id" in caplog.text


@pytest.mark.parametrize(
    ("cron", "after", "until_then", "minutes"),
    [
        pytest.param("* * * * *", None, 90, [1], id="the last alone"),
        pytest.param("* * * * *", None, 60, [1], id="the very second"),
        pytest.param("* * * * *", 0, 180, [1, 2, 3], id="all since"),
        pytest.param("* * * * *", 60, 119, [], id="none since"),
        pytest.param("*/9 * * * *", -3600, 1700, [27], id="not those of ten minutes ago"),
        pytest.param("0 0 29 2 *", None, 90, [], id="years ago"),
    ],
)
def test_times_that_passed_are_made_up_for_ten_minutes(
    schedules: Path, cron: str, after: float | None, until_then: float, minutes: list[int]
) -> None:
    schedules.write_text(EACH_MINUTE.replace("* * * * *", cron), "utf-8")
    (schedule,) = read_schedules(schedules)
    begin = None if after is None else MINUTE + after
    found = list(schedule.times(begin, MINUTE + until_then))
    assert found == [MINUTE + 60 * each for each in minutes]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[a:Agent {}]", "a file of schedules has only [name:Schedule {…}]"),
        ('[a:Schedule {corn: "x"}]', "has no property corn; did you mean cron?"),
        ("[a:Schedule {cron: 5}]", "cron is a text, found 5"),
        ('[a:Schedule {cron: "* * * * *", input: "x"}]', 'schedule "a" has no program'),
        (EACH_MINUTE.replace("* * * * *", "soon"), 'cron "soon" is not like "0 7 * * 1-5"'),
        (EACH_MINUTE.replace("* * * * *", "* * * * * *"), "is not like"),
        (EACH_MINUTE.replace("* * * * *", "R 7 * * *"), "is not like"),
        (EACH_MINUTE.replace("* * * * *", "0 0 30 2 *"), 'cron "0 0 30 2 *" never comes'),
        (EACH_MINUTE.replace("Hello, I am Alice", " "), "message is empty"),
        (EACH_MINUTE.replace("Offline/", "Nobody/"), "Nobody"),
        (EACH_MINUTE.replace("hello_world", "nowhere"), "nowhere.gram: No such file"),
        (EACH_MINUTE + EACH_MINUTE.partition("}")[2], "there are two schedules"),
    ],
)
def test_a_wrong_file_is_told_before_anything_runs(schedules: Path, text: str, said: str) -> None:
    schedules.write_text(text, "utf-8")
    with pytest.raises(GramError) as told:
        read_schedules(schedules)
    assert said in str(told.value)
