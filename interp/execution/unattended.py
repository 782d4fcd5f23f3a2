"""The steps of a run that nobody watches, taken one after another in one thread.

What a limit of time is about runs in a thread that can be left behind. Changing threads costs more
than all that a run does between two effects. So where nobody is told of the steps, that thread
takes them too, and whoever waits for it only keeps the time.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from threading import Lock
from typing import Final

from ..clocks import Clock, TookTooLongError, least
from ..errors import ApprovalNeeded
from ..machine import Ask, CallTool, Effect, Event
from ..threads import in_thread, is_awaited
from .scheduling import startable

_LEAST_SLICE: Final = 0.01  # seconds


class Unattended:
    """Performs what waits and takes the steps, until somebody has to be asked.

    Args:
        waiting: the effects to perform; those that a step adds are added to it.
        is_wanted: whether an effect is still waited for; it is dropped if not.
        perform: performs an effect.
        fold: takes the step of an event, and adds to ``waiting`` what is new to do.
        tool_seconds: how long one tool may take.
        run: the clock of the run.

    Attributes:
        under_way: the effect that is performed, or None between two.
    """

    def __init__(
        self,
        waiting: list[Effect],
        is_wanted: Callable[[Effect], bool],
        perform: Callable[[Effect], Event],
        fold: Callable[[Effect, Event], None],
        tool_seconds: float,
        run: Clock,
    ) -> None:
        self._waiting = waiting
        self._is_wanted = is_wanted
        self._perform = perform
        self._fold = fold
        self._tool_seconds = tool_seconds
        self._run = run
        self._tool: Clock | None = None
        self._lock = Lock()  # a step is taken as a whole, or not at all
        self._is_left_behind = False
        self.under_way: Effect | None = None

    def go_on(self) -> None:
        """Take the steps in another thread, and wait for it.

        Raises:
            TookTooLongError: what is ``under_way`` took too long, and was left behind.
        """
        try:
            in_thread(self._take_steps, None, self)
            if self._is_left_behind:  # it ended just then
                raise TookTooLongError
        finally:
            with self._lock:
                self._is_left_behind = True

    @property
    def left(self) -> float | None:
        """The seconds until something may have taken too long; at 0 the thread is left behind."""
        with self._lock:
            clocks = [self._run, self._tool] if self._tool else [self._run]
            left = least(*clocks)
            if left == 0:
                self._is_left_behind = True
            elif self._tool is None:  # the next tool may begin right now
                left = min(left or _LEAST_SLICE, max(self._tool_seconds, _LEAST_SLICE))
            return left

    def _take_steps(self) -> None:
        while (effect := self._begun()) is not None:
            try:
                event = copy_context().run(self._perform, effect)
            except ApprovalNeeded:  # it stays open; the others go on
                continue
            with self._lock:
                if self._is_left_behind:
                    return
                self.under_way = self._tool = None
                self._fold(effect, event)

    def _begun(self) -> Effect | None:
        """The next effect; None where somebody has to be asked, and at the end."""
        with self._lock:
            while (effects := startable(self._waiting)) and not self._is_wanted(effects[0]):
                self._waiting.remove(effects[0])
            if self._is_left_behind or not is_awaited() or not effects:
                return None
            effect = effects[0]
            if isinstance(effect, Ask):
                return None
            self._waiting.remove(effect)
            self.under_way = effect
            if self._run.left == 0:
                raise TookTooLongError
            self._tool = Clock(self._tool_seconds) if isinstance(effect, CallTool) else None
            return effect
