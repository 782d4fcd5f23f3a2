"""What was performed last, remembered in the thread that did it: an interrupt cannot lose it."""

from __future__ import annotations

from attrs import define

from ..machine import Effect, Event
from .world import AsyncReport, Report, World


@define
class Remembering:
    """A world that remembers what it has performed last.

    Attributes:
        world: what performs the effects.
        last: the effect that was performed last, with its event; None at first.
    """

    world: World
    last: tuple[Effect, Event] | None = None

    def perform(self, effect: Effect, report: Report | None) -> Event:
        """Perform an effect."""
        event = self.world.perform(effect, report)
        self.last = effect, event
        return event

    async def aperform(self, effect: Effect, report: AsyncReport | None) -> Event:
        """Perform an effect without blocking; its task remembers the event."""
        return await self.world.aperform(effect, report)
