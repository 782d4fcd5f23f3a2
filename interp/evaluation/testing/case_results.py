"""Runs a case, recorded or replayed or neither, and judges its run."""

from __future__ import annotations

from time import monotonic
from typing import Unpack, cast

from attrs import field, frozen

from gram import GramError, Pattern

from ...errors import said_by
from ...history.records import RecordedRun
from ...machine import AgentResponse
from ...running import BeginOptions, RunOptions, begin
from ...tools import ToolLibrary
from ..cases import Case, Checks, Failure, failures_of
from .recordings import Recording


@frozen
class CaseResult:
    """What became of a case.

    Attributes:
        case: the case.
        response: the response; None if the run broke off.
        failures: what is not as expected.
        error: what the run raised, or None.
        seconds: how long it took.
        run: the run, to be shown; None if it did not begin.
    """

    case: Case
    response: AgentResponse | None
    failures: tuple[Failure, ...]
    error: GramError | OSError | None
    seconds: float
    run: RecordedRun | None = field(repr=False)

    @property
    def is_passed(self) -> bool:
        """Whether the run is what the case expects."""
        return self.error is None and not self.failures

    @property
    def messages(self) -> list[str]:
        """What is to be said of a case that did not pass."""
        if self.error is not None:
            return [f"the run broke off: {said_by(self.error)}"]
        return [each.message for each in self.failures]


async def run_case(
    case: Case,
    agent: Pattern,
    library: ToolLibrary,
    checks: Checks,
    recording: Recording,
    **options: Unpack[RunOptions],
) -> CaseResult:
    """Run a case and judge its run; a run that fails is a result too.

    Args:
        case: the case.
        agent: the agent that it is for.
        library: the implementations of the agent's tools.
        checks: the user's functions by name.
        recording: where the run is recorded or replayed.
        **options: see `interp.run`.
    """
    response, error = None, None
    failures: tuple[Failure, ...] = ()
    began = monotonic()
    try:
        with recording.around(cast(BeginOptions, options)) as added:
            response = await begin(agent, case.given_to(agent), library, **added).afinish()
    except (GramError, OSError) as raised:
        error = raised
    else:
        failures = failures_of(case, response, checks)
    return CaseResult(case, response, failures, error, monotonic() - began, recording.run)
