"""The steps of a recorded run, whose States are folded again when somebody looks at them.

A long run has thousands of States. They take memory where they are kept, and Python looks through
them whenever it looks for garbage.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from attrs import define, field, fields, frozen

from ..machine import (
    At,
    Effect,
    Ending,
    Event,
    Passed,
    State,
    all_endings,
    pending,
    step_with_endings,
)
from ..reprs import repr_without_keys
from .seals import Folded

_BLOCK = 32
"""How many steps are folded when one of them is looked at."""


@repr_without_keys
@frozen(eq=False)
class Step:
    """One step of a recorded run.

    Attributes:
        before: the State that the event was folded into.
        effect: the effect that the event answers; None for `Resumed` and `TimeUp`.
        event: the event.
        state: the State that it led to.
        seconds: how long the effect took, or None.
        request: the fingerprint of the request that a reply answered, or None.
        start: the offset of its entry in the text that it was read from, or None.
    """

    before: State
    effect: Effect | None
    event: Event
    state: State
    seconds: float | None
    request: str | None = None
    start: int | None = field(default=None, repr=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Step) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    @property
    def endings(self) -> Sequence[Ending | Passed]:
        """What the event has ended inside the run, those inside first; see `all_endings`."""
        return all_endings(self.before, self.event)

    def __reduce__(self) -> tuple[Any, ...]:
        return Step, tuple(getattr(self, each.name) for each in fields(Step))

    @property
    def folded(self) -> Folded:
        """The event, and what it led to."""
        return Folded.of(self.before, self.event, self.effect)

    def _parts(self) -> tuple[Any, ...]:
        return (self.event, self.before, self.effect, self.state, self.seconds, self.request)


class Course:
    """The States that a run goes through, of which few are kept.

    Those around the events that were taken last are at hand, so that looking at each step as it is
    taken folds nothing again.

    Args:
        first: the one that it begins with.
    """

    def __init__(self, first: State) -> None:
        self._now = _Standing(first, {each.at: each for each in pending(first)})
        self._events: list[Event] = []
        self._kept: list[_Standing] = []
        self._last: list[Around] = []
        self._block: tuple[int, list[Around]] = (-1, [])

    @property
    def state(self) -> State:
        """Where the run stands after the events that were taken."""
        return self._now.state

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
        now = self._now
        if len(self._events) % _BLOCK == 0:
            standing, last = _Standing(now.state, dict(now.waiting)), [now.fold(event)]
            self._kept.append(standing)
            self._last = last
        else:
            self._last.append(now.fold(event))
        self._events.append(event)
        return _FoldedStep.of(self, len(self._events) - 1, event, seconds, request, start)

    def around(self, index: int) -> Around:
        """What an event was folded into, and what that gave."""
        number, place = divmod(index, _BLOCK)
        if number == len(self._kept) - 1:
            return self._last[place]
        known, block = self._block
        if number != known:
            standing = self._kept[number]
            now = _Standing(standing.state, dict(standing.waiting))
            events = self._events[number * _BLOCK : (number + 1) * _BLOCK]
            block = [now.fold(each) for each in events]
            self._block = number, block
        return block[place]


class Around(NamedTuple):
    """The parts of a `Step` that are folded."""

    before: State
    effect: Effect | None
    state: State
    new: Sequence[Effect]
    endings: Sequence[Ending | Passed]


@define
class _Standing:
    """Where a run stands, and what it waits for."""

    state: State
    waiting: dict[At, Effect]

    def fold(self, event: Event) -> Around:
        """Go on by an event."""
        before = self.state
        self.state, new, ended = step_with_endings(before, event)
        effect = self.waiting.pop(event.at, None)
        for each in new:
            self.waiting[each.at] = each
        return Around(before, effect, self.state, new, ended)


class _FoldedStep(Step):
    """A step whose States are folded when somebody looks at them."""

    __slots__ = ("_course", "_index")

    _course: Course
    _index: int

    def __new__(cls, *parts: Any, **named: Any) -> Step:  # type: ignore[misc]  # a Step without more
        return Step(*parts, **named)  # a changed copy keeps the States themselves

    @classmethod
    def of(
        cls,
        course: Course,
        index: int,
        event: Event,
        seconds: float | None,
        request: str | None,
        start: int | None,
    ) -> Step:
        """The step of an event."""
        made = object.__new__(cls)
        put = object.__setattr__  # a step is frozen
        put(made, "_course", course)
        put(made, "_index", index)
        put(made, "event", event)
        put(made, "seconds", seconds)
        put(made, "request", request)
        put(made, "start", start)
        return made

    @property
    def before(self) -> State:
        return self._course.around(self._index).before

    @property
    def effect(self) -> Effect | None:
        return self._course.around(self._index).effect

    @property
    def state(self) -> State:
        return self._course.around(self._index).state

    @property
    def folded(self) -> Folded:
        around = self._course.around(self._index)
        return Folded(self.event, around.effect, around.state, around.new)

    @property
    def endings(self) -> Sequence[Ending | Passed]:
        return self._course.around(self._index).endings


_FoldedStep.__name__ = _FoldedStep.__qualname__ = "Step"  # as messages and reprs name it
