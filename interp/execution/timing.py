"""A world around a world that limits the time of its tools."""

from __future__ import annotations

from attrs import frozen

from ..concurrency import Clock, TookTooLongError, in_thread, within
from ..machine import CallFailed, CallTool, Effect, Event
from .world import AsyncReport, Report, World


@frozen
class Timed:
    """A world whose tools may take so many seconds; a call that takes longer fails.

    Attributes:
        world: what performs the effects.
        seconds: how long one tool may take; None is no limit, and tools that block then run in
            the thread of the caller.
        run: the clock of the run. When it runs out first, `TookTooLongError` is raised.
    """

    world: World
    seconds: float | None
    run: Clock

    def perform(self, effect: Effect, report: Report | None) -> Event:
        """Perform an effect."""
        if not isinstance(effect, CallTool) or self.seconds is None:
            return self.world.perform(effect, report)
        try:
            return in_thread(lambda: self.world.perform(effect, report), self.seconds, self.run)
        except TookTooLongError:
            if self.run.left == 0:
                raise
            return too_late(effect, self.seconds)

    async def aperform(self, effect: Effect, report: AsyncReport | None) -> Event:
        """Perform an effect without blocking; whoever awaits it keeps the time of the run."""
        if not isinstance(effect, CallTool) or self.seconds is None:
            return await self.world.aperform(effect, report)
        try:
            return await within(self.world.aperform(effect, report), self.seconds)
        except TookTooLongError:
            return too_late(effect, self.seconds)


def too_late(call: CallTool, seconds: float) -> CallFailed:
    """What a call has come to that took longer than it may."""
    return CallFailed(call.at, f'tool "{call.name}" did not answer within {seconds:g} s')
