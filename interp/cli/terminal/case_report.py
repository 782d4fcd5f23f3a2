"""Reports the results of cases: on the terminal, as JSON, as JUnit XML."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from time import monotonic
from typing import Any

from gram import write_atomically

from ...evaluation.cases import Case
from ...evaluation.testing import CaseResult, junit_xml
from ...history.replaying import timeline
from ..commands.trace import lines
from ..failures import NO
from ..process import uninterrupted
from .json_answers import as_json_answer
from .output import Styled, is_quiet, show, show_json, unstyled


class Report:
    """Reports cases while they are run, and all of them at the end of its ``with``.

    Args:
        cases: the cases by their files.
        as_json: print one JSON object at the end.
        junit: the file for JUnit XML, or None.

    Raises:
        OSError: the file for JUnit XML cannot be written.
        SystemExit: at the end, a case did not pass.
    """

    def __init__(
        self, cases: Mapping[str, Sequence[Case]], *, as_json: bool, junit: str | None
    ) -> None:
        self._cases, self._as_json, self._junit = cases, as_json, junit
        self._results: list[CaseResult] = []
        self._began = monotonic()
        self._write_junit()  # what an earlier command wrote is never taken for this one's

    def __enter__(self) -> Report:
        return self

    def add(self, result: CaseResult) -> None:
        """Report a case that was run."""
        self._results.append(result)
        if not self._as_json and not (is_quiet() and result.is_passed):
            took = f"{result.seconds:.2f} s"
            show([_mark(result), (f"  {took:>9}  {_line(result.case.name)}", "")])

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
        if kind is None and not all(each.is_passed for each in self._results):
            sys.exit(NO)

    def _write_junit(self) -> None:
        if self._junit is not None:
            text = junit_xml(self._cases, self._results, shown_run)
            write_atomically(Path(self._junit), text)

    def _show_failures(self) -> None:
        for result in self._results:
            if result.is_passed:
                continue
            place = f" ({result.case.place})" if result.case.place else ""
            show(
                [("\n", ""), _mark(result), (f"  {_line(result.case.name)}", "place"), (place, "")]
            )
            for message in result.messages:
                show(_indented(message))
            if result.run:
                for line in lines(timeline(result.run)):
                    show([("    ", ""), *([(line, "")] if isinstance(line, str) else line)])

    def _closing(self) -> Styled:
        passed, failed, left = self._counts()
        counts = [f"{passed} passed"]
        counts += [f"{failed} failed"] if failed else []
        counts += [f"{left} not run"] if left else []
        style = "failed" if failed or left else "added"
        return [("\n", ""), (f"{', '.join(counts)} in {monotonic() - self._began:.2f} s", style)]

    def _counts(self) -> tuple[int, int, int]:
        """How many passed, failed, and were not run."""
        passed = sum(each.is_passed for each in self._results)
        total = sum(map(len, self._cases.values()))
        return passed, len(self._results) - passed, total - len(self._results)

    def _as_object(self) -> dict[str, Any]:
        passed, failed, left = self._counts()
        return {
            "cases": [_as_row(each) for each in self._results],
            "passed": passed,
            "failed": failed,
            "not_run": left,
            "seconds": monotonic() - self._began,
        }


def _as_row(result: CaseResult) -> dict[str, Any]:
    error = result.error and {"type": type(result.error).__name__, "message": str(result.error)}
    return {
        "name": result.case.name,
        "place": result.case.place,
        "input": result.case.input,
        "passed": result.is_passed,
        "failures": [
            {"part": each.part, "check": each.check, "message": each.message}
            for each in result.failures
        ],
        "error": error,
        **(as_json_answer(result.response) if result.response else {"answer": None}),
        "seconds": result.seconds,
        "columns": dict(result.case.columns),
    }


def shown_run(result: CaseResult) -> str:
    """The run of a case as `gram trace` shows it."""
    if result.run is None:
        return ""
    return "\n".join(map(unstyled, lines(timeline(result.run))))


def _mark(result: CaseResult) -> tuple[str, str]:
    return ("passed", "added") if result.is_passed else ("FAILED", "failed")


def _line(name: str) -> str:
    return " ".join(name.split())


def _indented(text: str) -> Styled:
    """A message with its sides in colours."""
    styles = {"-": "removed", "+": "added"}
    parts = []
    for line in text.split("\n"):
        parts.append((f"  {line}\n", styles.get(line[:1], "")))
    last, style = parts[-1]
    return [*parts[:-1], (last.removesuffix("\n"), style)]
