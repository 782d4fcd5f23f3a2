"""The steps of a recorded run, whose States are folded again when somebody looks at them.

A long conversation has thousands of States, each with a vector of all that was said. If all of
them were kept, Python would look through all these vectors whenever it looks for garbage: reading a
long run would take most of its time so, and everything after it would be slow.
"""

from __future__ import annotations

from typing import Any, TypeAlias, Union

from attrs import define, field, fields, frozen

from ..machine import At, Effect, Event, State, pending, step

_BLOCK = 32
"""How many steps are folded when one of them is looked at."""


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

    def __reduce__(self) -> tuple[Any, ...]:
        return Step, tuple(getattr(self, each.name) for each in fields(Step))

    def _parts(self) -> tuple[Any, ...]:
        return (self.event, self.before, self.effect, self.state, self.seconds, self.request)


class Course:
    """The States that a run goes through, of which few are kept.

    Args:
        first: the one that it begins with.
    """

    def __init__(self, first: State) -> None:
        self._now = _Standing(first, {each.at: each for each in pending(first)})
        self._events: list[Event] = []
        self._kept: list[_Standing] = []
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
            self._kept.append(_Standing(now.state, dict(now.waiting)))
        now.fold(event)
        self._events.append(event)
        return _FoldedStep.of(self, len(self._events) - 1, event, seconds, request, start)

    def around(self, index: int) -> Around:
        """The State before an event, what the event answers, and the State after it."""
        known, block = self._block
        number, place = divmod(index, _BLOCK)
        if number != known or place >= len(block):
            standing = self._kept[number]
            now = _Standing(standing.state, dict(standing.waiting))
            events = self._events[number * _BLOCK : (number + 1) * _BLOCK]
            block = [(now.state, *now.fold(each)) for each in events]
            self._block = number, block
        return block[place]


Around: TypeAlias = tuple[State, Union[Effect, None], State]


@define
class _Standing:
    """Where a run stands, and what it waits for."""

    state: State
    waiting: dict[At, Effect]

    def fold(self, event: Event) -> tuple[Effect | None, State]:
        """Go on by an event; gives what it answers, and the State that it leads to."""
        self.state, new = step(self.state, event)
        effect = self.waiting.pop(event.at, None)
        for each in new:
            self.waiting[each.at] = each
        return effect, self.state


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
        return self._course.around(self._index)[0]

    @property
    def effect(self) -> Effect | None:
        return self._course.around(self._index)[1]

    @property
    def state(self) -> State:
        return self._course.around(self._index)[2]


_FoldedStep.__name__ = _FoldedStep.__qualname__ = "Step"  # as messages and reprs name it
