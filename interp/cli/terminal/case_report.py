"""Reports the results of cases: on the terminal, as JSON, as JUnit XML."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from time import monotonic
from typing import Any

from attrs import asdict

from gram import write_atomically

from ...evaluation import experiments, testing
from ...evaluation.cases import Case
from ...history.replaying import timeline
from ...views import lines
from ..failures import NO
from ..process import uninterrupted
from .answers import as_json_answer
from .console import Styled, is_quiet, show, show_json, unstyled

_SIDES = {"-": "removed", "+": "added"}
"""The styles of what a message compares, by how its lines begin."""


class Report:
    """Reports cases while they are run, and all of them at the end of its ``with``.

    Args:
        at_least: how many runs of a case have to pass.
        by: the columns whose slices are told.
    """

    def __init__(
        self,
        cases: Mapping[str, Sequence[Case]],
        at_least: int = 1,
        repeats: int = 1,
        by: Sequence[str] = (),
        *,
        as_json: bool,
        junit: str | None,
    ) -> None:
        self._cases, self._as_json, self._junit = cases, as_json, junit
        self._at_least, self._repeats, self._by = at_least, repeats, by
        if repeats > 1 or by:
            experiments.require_statistics()
        for column in by:
            experiments.require_column([*chain.from_iterable(cases.values())], column)
        self._results: list[testing.CaseResult] = []
        self._began = monotonic()
        self._write_junit()  # what an earlier command wrote is never taken for this one's

    def __enter__(self) -> Report:
        return self

    def add(self, result: testing.CaseResult) -> None:
        """Report a case that was run."""
        self._results.append(result)
        if not self._as_json and not (is_quiet() and result.is_passed):
            took = f"{result.seconds:.2f} s"
            told = f"{self._share(result)}  {took:>9}  {_line(result.case.name)}"
            show([_mark(result), (told, "")])

    def _share(self, result: testing.CaseResult) -> str:
        """How many runs of a case passed, with the interval of its rate."""
        if self._repeats == 1:
            return ""
        within = experiments.wilson(result.passed, len(result.runs))
        rate = f"{experiments.percent(within.low)} to {experiments.percent(within.high)}"
        return f"  {result.passed}/{len(result.runs)} ({rate})"

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        order = {id(case): n for n, case in enumerate(chain.from_iterable(self._cases.values()))}
        self._results.sort(key=lambda each: order[id(each.case)])  # several may have run at once
        with uninterrupted():
            self._write_junit()
            if self._as_json:
                show_json(self._as_object())
            else:
                self._show_failures()
                show(self._closing())
                if self._has_figures:
                    for line in experiments.pass_rate_text(
                        *self._scores(), self._at_least, self._by
                    ):
                        show(line)
        if kind is None and not all(each.is_passed for each in self._results):
            sys.exit(NO)

    def _write_junit(self) -> None:
        if self._junit is not None:
            text = testing.junit_xml(self._cases, self._results, shown_run)
            write_atomically(Path(self._junit), text)

    def _show_failures(self) -> None:
        for result in self._results:
            if result.is_passed:
                continue
            name, place = f"  {_line(result.case.name)}", result.case.place
            show([("\n", ""), _mark(result), (name, "place"), (f" ({place})" if place else "", "")])
            for line in chain.from_iterable(each.split("\n") for each in result.messages):
                show([(f"  {line}", _SIDES.get(line[:1], ""))])
            for told in _trace_of(result):
                show([("    ", ""), *([(told, "")] if isinstance(told, str) else told)])

    def _closing(self) -> Styled:
        counts = self._counts()
        style = "added" if counts["passed"] == sum(counts.values()) else "failed"
        said = (
            f"{count} {what.replace('_', ' ')}"
            for what, count in counts.items()
            if count or what == "passed"
        )
        return [("\n", ""), (f"{', '.join(said)} in {monotonic() - self._began:.2f} s", style)]

    def _scores(self) -> tuple[list[Case], list[list[float]]]:
        """The cases that were run, and 1 for each of their runs that passed, else 0."""
        cases = [each.case for each in self._results]
        return cases, [[float(run.is_passed) for run in each.runs] for each in self._results]

    def _counts(self) -> dict[str, int]:
        passed = sum(each.is_passed for each in self._results)
        left = sum(map(len, self._cases.values())) - len(self._results)
        return {"passed": passed, "failed": len(self._results) - passed, "not_run": left}

    def _as_object(self) -> dict[str, Any]:
        rows = [_as_row(each) for each in self._results]
        told = {"cases": rows, **self._counts(), "seconds": monotonic() - self._began}
        if not self._has_figures:
            return told
        cases, passed = self._scores()
        parts = [asdict(each) for each in experiments.slices(cases, passed, self._by)]
        return {**told, "pass_rate": asdict(experiments.pass_rate(cases, passed)), "slices": parts}

    @property
    def _has_figures(self) -> bool:
        return bool(self._results) and (self._repeats > 1 or bool(self._by))


def _as_row(result: testing.CaseResult) -> dict[str, Any]:
    run = result.shown
    return {
        "name": result.case.name,
        "place": result.case.place,
        "input": result.case.input,
        "passed": result.is_passed,
        "runs": len(result.runs),
        "runs_passed": result.passed,
        "failures": [asdict(each) for each in run.failures],
        "error": run.error and {"type": type(run.error).__name__, "message": str(run.error)},
        **(as_json_answer(run.response) if run.response else {"answer": None}),
        "seconds": result.seconds,
        "cost": run.cost,
        "tags": list(result.case.tags),
        "cluster": result.case.cluster,
        "columns": dict(result.case.columns),
    }


def shown_run(result: testing.CaseResult) -> str:
    """The run of a case as `gram trace` shows it."""
    return "\n".join(map(unstyled, _trace_of(result)))


def _trace_of(result: testing.CaseResult) -> Sequence[Styled]:
    return lines(timeline(result.shown.run)) if result.shown.run else []


def _mark(result: testing.CaseResult) -> tuple[str, str]:
    return ("passed", "added") if result.is_passed else ("FAILED", "failed")


def _line(name: str) -> str:
    return " ".join(name.split())
