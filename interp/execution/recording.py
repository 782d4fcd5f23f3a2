"""Recording a run while it goes on: its events, and how long each effect took."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from time import monotonic

from attrs import frozen

from ..errors import AgentError
from ..machine import At, Effect, Event, Resumed, State
from ..records import PathLike, RunFile
from ..tools import Tool
from .world import AsyncReport, Report, World


class Recorder:
    """Writes the events of a run to a file.

    Args:
        file: the file.
    """

    def __init__(self, file: RunFile) -> None:
        self._file = file
        self._began: dict[At, float] = {}

    def around(self, world: World) -> World:
        """A world that does the same as another, and whose effects are timed."""
        return _Timed(world, self._began)

    def held(self) -> AbstractContextManager[None]:
        """Lock the file, see `RunFile.held`."""
        return self._file.held()

    def write(self, effect: Effect | None, event: Event) -> None:
        """Write an event that has been folded.

        Raises:
            AgentError: the file cannot be written; what was recorded before is whole.
        """
        began = self._began.pop(effect.at, None) if effect else None
        try:
            self._file.append(event, None if began is None else monotonic() - began)
        except OSError as error:
            reason = error.strerror or str(error)
            raise AgentError(
                f"{self._file.path}: the run is no longer recorded: {reason}"
            ) from error


def recorder_of(
    record: PathLike | RunFile, state: State, tools: Iterable[Tool], change: Resumed | None
) -> Recorder:
    """What records a run from now on.

    Args:
        record: a new file, or the one that the run was recorded in before.
        state: the State that the run goes on from.
        tools: the implementations of its tools.
        change: what led to that State after it was read from its file.

    Raises:
        OSError: the new file exists, or the file cannot be written.
    """
    if not isinstance(record, RunFile):
        return Recorder(RunFile.create(record, state, tools))
    recorder = Recorder(record)
    with recorder.held():
        if change:
            recorder.write(None, change)
    return recorder


@frozen
class _Timed:
    world: World
    began: dict[At, float]

    def perform(self, effect: Effect, report: Report | None) -> Event:
        self.began[effect.at] = monotonic()
        return self.world.perform(effect, report)

    async def aperform(self, effect: Effect, report: AsyncReport | None) -> Event:
        self.began[effect.at] = monotonic()
        return await self.world.aperform(effect, report)
