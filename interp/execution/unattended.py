"""A run that nobody watches: one thread begins it and takes its steps, another keeps the time.

What a limit of time is about runs in a thread that can be left behind. Changing threads costs more
than all that a run does between two effects, and what one thread has written is not in the other
one's cache. So where nobody is told of the steps, that thread does everything but to ask people,
and whoever waits for it only keeps the time.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from threading import Lock
from typing import Final

from ..concurrency import Clock, TookTooLongError, in_thread, is_awaited, least
from ..errors import AgentError, ApprovalNeeded
from ..machine import AgentResponse, Ask, CallTool, Effect, Event, Limits, TimeUp, pending
from .observations import finished
from .progress import Progress
from .scheduling import startable
from .timing import too_late

_LEAST_SLICE: Final = 0.01  # seconds
_NO_LIMIT: Final = Clock(None)


def may_be_unattended(limits: object, *, is_watched: bool) -> bool:
    """Whether nobody is told of a run's steps, and everything in it has a limit of time."""
    if is_watched or not isinstance(limits, Limits):  # wrong ones are told where the run begins
        return False
    return limits.tool_seconds is not None and limits.run_seconds is not None


class Unattended:
    """Begins a run and goes on to its end.

    Args:
        begin: begins the run, or returns one that has begun; called in the other thread.
    """

    _run: Progress

    def __init__(self, begin: Callable[[], Progress]) -> None:
        self._begin = begin
        self._has_begun = False
        self._lock = Lock()  # a step is taken as a whole, or not at all
        self._stretch = 0  # of steps; a thread that still takes those of another is left behind
        self._waiting: list[Effect] = []
        self._under_way: Effect | None = None
        self._run_clock = self._tool_clock = _NO_LIMIT

    def finish(self) -> AgentResponse:
        """Take all steps in another thread, wait for it, and ask people what it has to know.

        Raises:
            AgentError: the run could not begin, or has failed; see `Run.finish`.
        """
        try:
            while True:
                reached = self._go_on()
                if isinstance(reached, AgentResponse):
                    return reached
                if isinstance(reached, Ask):
                    self._ask(reached)
        except BaseException as error:  # what ended is kept, then it is raised again
            if self._has_begun:
                self._run.fold_what_ended()
                if isinstance(error, AgentError):
                    error.state = self._run.state
            raise
        finally:
            if self._has_begun:
                self._run.close()

    @property
    def left(self) -> float | None:
        """The seconds until something may have taken too long; at 0 the thread is left behind."""
        with self._lock:
            if not self._has_begun:  # the first tool may begin right now
                return _LEAST_SLICE
            left = least(self._run_clock, self._tool_clock)
            if left == 0:
                self._stretch += 1
            elif self._tool_clock is _NO_LIMIT:  # so may the next one
                most = self._run.state.limits.tool_seconds or 0
                left = min(left or _LEAST_SLICE, max(most, _LEAST_SLICE))
            return left

    def _go_on(self) -> AgentResponse | Ask | None:
        """Take steps in another thread, and wait for it; returns what they have come to.

        That is the answer, or a question for the caller; None where an effect took too long.
        """
        with self._lock:
            self._stretch += 1
            stretch = self._stretch
        try:
            return in_thread(partial(self._take_steps, stretch), None, self)
        except TookTooLongError:
            pass
        finally:
            with self._lock:
                self._stretch += 1
        self._fold_too_late()
        return None

    def _fold_too_late(self) -> None:
        effect, self._under_way = self._under_way, None
        self._tool_clock = _NO_LIMIT
        seconds = self._run.state.limits.tool_seconds
        if isinstance(effect, CallTool) and seconds and self._run_clock.left != 0:
            self._fold(effect, too_late(effect, seconds))
            return
        self._run_clock = _NO_LIMIT  # what is left is to say so
        self._waiting.clear()
        self._fold(effect, TimeUp())

    def _ask(self, ask: Ask) -> None:
        self._waiting.remove(ask)
        try:
            with self._run_clock.standing_still():
                event = self._run.world.perform(ask, None)
        except ApprovalNeeded:  # it stays open; the others go on
            return
        self._fold(ask, event)

    # --- in the other thread

    def _take_steps(self, stretch: int) -> AgentResponse | Ask:
        if not self._has_begun:
            self._take_up(stretch)
        run, effect, event = self._run, None, None
        while (effect := self._next(stretch, effect, event)) is not None:
            if isinstance(effect, Ask):
                return effect
            try:
                event = copy_context().run(run.perform, effect)
            except ApprovalNeeded:  # it stays open; the others go on
                event = None
        return finished(run.state).response

    def _take_up(self, stretch: int) -> None:
        run = self._begin()
        run.failure = None
        with self._lock:
            if self._stretch == stretch:
                self._run_clock = Clock(run.state.limits.run_seconds)
                self._waiting = list(pending(run.state))
                self._run, self._has_begun = run, True
                return
        run.close()
        raise TookTooLongError

    def _next(self, stretch: int, ended: Effect | None, event: Event | None) -> Effect | None:
        """Take the step of an event, if there is one, and return the next effect; None at the end.

        A question is only looked at.

        Raises:
            TookTooLongError: the time of the run is up, or nobody waits for it any more.
        """
        run = self._run
        with self._lock:
            if self._stretch != stretch:
                raise TookTooLongError
            self._under_way, self._tool_clock = None, _NO_LIMIT
            if event is not None:
                self._fold(ended, event)
            if not is_awaited():
                raise TookTooLongError
            while (effects := startable(self._waiting)) and not run.is_wanted(effects[0]):
                self._waiting.remove(effects[0])
            if not effects:
                return None
            effect = effects[0]
            if isinstance(effect, Ask):
                return effect
            self._waiting.remove(effect)
            self._under_way = effect
            if self._run_clock.left == 0:
                raise TookTooLongError
            if isinstance(effect, CallTool):
                self._tool_clock = Clock(run.state.limits.tool_seconds)
            return effect

    # --- in both

    def _fold(self, effect: Effect | None, event: Event) -> None:
        self._waiting += self._run.fold_or_fail(effect, event)
