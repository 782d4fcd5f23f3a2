"""Workers are killed at random, and nothing is lost or recorded twice."""

from __future__ import annotations

from benchmarks.killed_workers import carry_out


def test_no_run_is_lost_or_recorded_twice_when_workers_are_killed(database: str) -> None:
    report = carry_out(database, runs=90, workers=3, every=0.8, at_once=4)

    assert report.kills > 0
    assert (report.lost, report.repeated) == ([], [])
