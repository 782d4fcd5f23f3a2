"""Runs a case, recorded or replayed or neither, and judges its runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from time import monotonic
from typing import Unpack, cast
from xml.etree import ElementTree as ET

from attrs import field, frozen

from gram import GramError, Pattern

from ...errors import said_by
from ...execution import Spending
from ...history.records import RecordedRun
from ...machine import AgentResponse
from ...running import BeginOptions, RunOptions, begin
from ...tools import ToolLibrary
from ..cases import Case, Checks, Failure, RubricJudge, Seen, failures_of
from .runs_of_test import Recording


@frozen
class RunResult:
    """What became of one run of a case.

    Attributes:
        response: the response; None if the run broke off.
        failures: what is not as expected.
        error: what the run raised, or None.
        seconds: how long it took; of a run that is replayed, how long its steps took then.
        cost: what it cost in US dollars, or None if that is not known.
        run: the run, to be shown; None if it did not begin.
    """

    response: AgentResponse | None
    failures: tuple[Failure, ...]
    error: GramError | OSError | None
    seconds: float
    cost: float | None
    run: RecordedRun | None = field(repr=False)

    @property
    def is_passed(self) -> bool:
        """Whether the run is what the case expects."""
        return self.error is None and not self.failures

    @property
    def messages(self) -> list[str]:
        """What is to be said of a run that did not pass."""
        if self.error is not None:
            return [f"the run broke off: {said_by(self.error)}"]
        return [each.message for each in self.failures]


@frozen
class CaseResult:
    """What became of a case.

    Attributes:
        case: the case.
        runs: its runs, at least one.
        at_least: how many of them have to pass.
    """

    case: Case
    runs: tuple[RunResult, ...]
    at_least: int = 1

    @property
    def passed(self) -> int:
        """How many runs passed."""
        return sum(each.is_passed for each in self.runs)

    @property
    def is_passed(self) -> bool:
        """Whether as many runs passed as have to."""
        return self.passed >= self.at_least

    @property
    def shown(self) -> RunResult:
        """The run that stands for all: the first that did not pass, else the first."""
        return next((each for each in self.runs if not each.is_passed), self.runs[0])

    @property
    def seconds(self) -> float:
        """How long all runs took together."""
        return sum(each.seconds for each in self.runs)

    @property
    def messages(self) -> list[str]:
        """What is to be said of a case that did not pass."""
        if len(self.runs) == 1:
            return self.shown.messages
        number = self.runs.index(self.shown) + 1
        told = f"{self.passed} of {len(self.runs)} runs passed, at least {self.at_least} have to"
        return [f"{told}; run {number}:", *self.shown.messages]


async def run_case(
    case: Case,
    agent: Pattern,
    library: ToolLibrary,
    checks: Checks,
    recording: Recording,
    judge: RubricJudge | None = None,
    **options: Unpack[RunOptions],
) -> RunResult:
    """Run a case and judge its run; a run that fails is a result too.

    Args:
        case: the case.
        agent: the agent that it is for.
        library: the implementations of the agent's tools.
        checks: the user's functions by name.
        recording: where the run is recorded or replayed.
        judge: what judges rubrics.
        **options: see `interp.run`, but for `watch`.
    """
    response, error, spending, began = None, None, Spending(), monotonic()
    chosen = cast(BeginOptions, {**options, "watch": spending.count})
    try:
        with recording.around(chosen) as added:
            given = case.given_to(agent)
            response = await begin(agent, given, library, case.after, **added).afinish()
    except (GramError, OSError) as raised:
        error = raised
    seconds = monotonic() - began
    if recording.run and recording.was_replayed:
        seconds = sum(each.seconds or 0.0 for each in recording.run.steps)
    cost = spending.cost(spending.replies[0][0]) if spending.replies else 0.0
    failures: tuple[Failure, ...] = ()
    if response:
        verdicts = {}
        if case.rubrics and judge:
            verdicts = await judge.verdicts(case, response, recording.around_judge)
        failures = failures_of(Seen(case, response, checks, seconds, cost, verdicts))
    return RunResult(response, failures, error, seconds, cost, recording.run)


_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(
    cases: Mapping[str, Sequence[Case]],
    results: Sequence[CaseResult],
    shown: Callable[[CaseResult], str],
) -> str:
    """The results as JUnit XML: a suite for each file, a case that was not run as skipped.

    Args:
        cases: the cases of each file.
        results: what became of those that were run.
        shown: the run of a case that did not pass, as text.
    """
    of_cases = {id(each.case): each for each in results}
    root = ET.Element("testsuites", name="gram test")
    for file, own in cases.items():
        suite = ET.SubElement(root, "testsuite", name=_text(file))
        for case in own:
            found = ET.SubElement(suite, "testcase", classname=_text(file), name=_text(case.name))
            found.set("file", _text(file))
            if case.row:
                found.set("line", str(case.row.source.position(case.row.span.start)[0]))
            result = of_cases.get(id(case))
            found.set("time", f"{result.seconds if result else 0:.3f}")
            if result is None:
                ET.SubElement(found, "skipped", message="not run")
            elif not result.is_passed:
                run, messages = result.shown, result.messages
                kind = type(run.error).__name__ if run.error else run.failures[0].part
                inside = ET.SubElement(found, "error" if run.error else "failure", type=kind)
                inside.set("message", _text(messages[0].split("\n")[0]))
                inside.text = _text("\n\n".join([*messages, shown(result)]))
        _count(suite)
        suite.set("timestamp", datetime.now(UTC).isoformat(timespec="seconds"))
    _count(root)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _count(element: ET.Element) -> None:
    """Set the counts and the time of a suite, or of all suites."""
    cases = list(element.iter("testcase"))
    element.set("tests", str(len(cases)))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(attribute, str(len(list(element.iter(tag)))))
    element.set("time", f"{sum(float(each.get('time', 0)) for each in cases):.3f}")


def _text(text: str) -> str:
    """A text without the characters that XML cannot have."""
    return _NOT_XML.sub("\ufffd", text)
