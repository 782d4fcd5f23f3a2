"""The steps of a recorded run: an event, what it was folded into and what that gave."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import field, frozen

from ..machine import (
    At,
    Effect,
    Ending,
    Event,
    Passed,
    State,
    pending,
    step_with_endings,
)
from .seals import Folded


@frozen
class Step:
    """One step of a recorded run.

    Attributes:
        before: the State that the event was folded into.
        effect: the effect that the event answers; None for `Resumed` and `TimeUp`.
        event: the event.
        state: the State that it led to.
        new: what is to be done since.
        endings: what it has ended inside the run, those inside first; see `all_endings`.
        seconds: how long the effect took, or None.
        request: the fingerprint of the request that a reply answered, or None.
        start: the offset of its entry in the text that it was read from, or None.
    """

    before: State
    effect: Effect | None
    event: Event
    state: State
    new: Sequence[Effect] = field(eq=False, repr=False)
    endings: Sequence[Ending | Passed] = field(eq=False, repr=False)
    seconds: float | None = None
    request: str | None = None
    start: int | None = field(default=None, eq=False, repr=False)

    @property
    def folded(self) -> Folded:
        """The event, and what it led to."""
        return Folded(self.event, self.effect, self.state, self.new, self.before)


class Course:
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
    ) -> Step:
        """Fold the next event, and give its step; see `Step`.

        Raises:
            GramError: the run does not come to this event.
        """
        before = self.state
        self.state, new, endings = step_with_endings(before, event)
        effect = self._waiting.pop(event.at, None)
        self._waiting.update((each.at, each) for each in new)
        return Step(before, effect, event, self.state, new, tuple(endings), seconds, request, start)
