"""Recording a run while it goes on: its events, and how long each effect took."""

from __future__ import annotations

from contextlib import AbstractContextManager
from time import monotonic

from attrs import frozen

from ..errors import AgentError
from ..machine import At, Effect, Event
from ..records import RunFile
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
