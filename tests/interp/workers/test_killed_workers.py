"""Workers are killed at random, and nothing is lost or recorded twice."""

from __future__ import annotations

import pytest

from benchmarks.killed_workers import carry_out


@pytest.mark.parametrize("runs", [16, pytest.param(200, marks=pytest.mark.nightly)])
def test_no_run_is_lost_or_recorded_twice_when_workers_are_killed(database: str, runs: int) -> None:
    report = carry_out(database, runs=runs, workers=2, every=1.5, at_once=1)
    assert report.kills > 0
    assert (report.lost, report.repeated) == ([], [])
