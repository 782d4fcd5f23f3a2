"""Folds the events of a recorded run one by one."""

from __future__ import annotations

from attrs import field, frozen

from ...execution import Folded
from ...machine import At, CallBegun, Effect, Event, Happened, Resumed, State, Step, pending, step


@frozen
class RecordedStep:
    """One step of a recorded run.

    Attributes:
        before: the State that the event was folded into.
        effect: the effect that the event answers; None for `CallBegun`, `Resumed` and `TimeUp`.
        event: the event.
        state: the State that it led to.
        effects: what is new to do since.
        happened: what has happened, in order.
        seconds: how long the effect took, or None.
        request: the fingerprint of the request that a reply answered, or None.
        start: the offset of its entry in the text that it was read from, or None.
    """

    before: State
    effect: Effect | None
    event: Event
    state: State
    effects: tuple[Effect, ...] = field(eq=False, repr=False)
    happened: tuple[Happened, ...] = field(eq=False, repr=False)
    seconds: float | None = None
    request: str | None = None
    start: int | None = field(default=None, eq=False, repr=False)

    @property
    def taken(self) -> Step:
        """What the machine gave for the event."""
        return Step(self.state, self.effects, self.happened)

    @property
    def folded(self) -> Folded:
        """What is written of it."""
        return Folded(self.event, self.effect, self.state)


class Replayer:
    """A run that goes on event by event.

    Args:
        first: the State that it begins with.

    Attributes:
        state: the State after the events that were taken.
    """

    def __init__(self, first: State) -> None:
        self.state = first
        self._waiting: dict[At, Effect] = {each.at: each for each in pending(first)}

    def take(
        self,
        event: Event,
        seconds: float | None = None,
        request: str | None = None,
        start: int | None = None,
    ) -> RecordedStep:
        """Fold the next event, and give its step; see `RecordedStep`.

        Raises:
            GramError: the run does not come to this event.
        """
        before = self.state
        self.state, effects, happened = step(before, event)
        effect = None if isinstance(event, CallBegun) else self._waiting.pop(event.at, None)
        if isinstance(event, Resumed):  # whose effects are all that there is to do
            self._waiting.clear()
        self._waiting.update((each.at, each) for each in effects)
        given = (seconds, request, start)
        return RecordedStep(before, effect, event, self.state, effects, happened, *given)
