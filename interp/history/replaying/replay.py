"""A recorded run as something to watch."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from ...errors import ReplayError
from ...execution import (
    Observation,
    ReasoningDelta,
    ToolStarted,
    finished,
    observations,
    under_way,
)
from ...machine import CallTool, ModelReplied, State, pending
from ..records import RecordedRun, RecordedStep


@frozen
class Replay:
    """A recorded run that can be watched again; nothing is performed.

    Attributes:
        run: the run.
    """

    run: RecordedRun

    @property
    def state(self) -> State:
        """The State of the run after what was shown."""
        return self.run.state

    def stream(self, *, words: bool = True) -> Iterator[Observation]:
        """What there was to see of the run; its replies come whole. See `Run.stream`.

        Raises:
            ReplayError: the recording was changed after the run, or ends before the run does.
            LimitError, ApprovalNeeded, ModelError: the run ended so.
        """
        self.run.check()  # all of it, before anything is seen
        yield from under_way(self.run.first)
        for step in self.run.steps:
            yield from _seen(step)
        if pending(self.state) and not self.state.asks:
            waits, steps = self.state.status.value, self.run.steps
            told = f"the recording ends here: the run is {waits}; gram resume goes on"
            raise ReplayError(self.run.placed(told, steps[-1] if steps else None))
        yield finished(self.state)


def _seen(step: RecordedStep) -> Iterator[Observation]:
    """What there was to see of a step."""
    if isinstance(step.effect, CallTool):
        yield ToolStarted(step.effect)
    if isinstance(step.event, ModelReplied) and step.event.reasoning:
        yield ReasoningDelta(step.event.at, step.event.reasoning)
    yield from observations(step.event, step.taken)
