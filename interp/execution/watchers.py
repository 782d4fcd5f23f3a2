"""Who is told of each step of a run: the log, and whom the options name."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..concurrency import Caller, in_loop_of_user, in_waiting_thread
from ..errors import AgentError, said_by
from ..machine import Effect, Event, Step
from ..tools import is_async
from .logs import log_event
from .options import RunOptions


class Watchers:
    """Tells whoever watches a run of each step, when it is folded and written.

    Args:
        options: those of the run.
        caller: the thread that waits for the run, which calls plain functions.
    """

    def __init__(self, options: RunOptions, caller: Caller) -> None:
        self._observe, self._watch = options.get("observe"), options.get("watch")
        self._caller = caller

    async def tell(self, effect: Effect | None, event: Event, step: Step) -> AgentError | None:
        """Tell all of them; returns the error of the first that raised."""
        log_event(event)
        failure: AgentError | None = None
        told: list[Any] = []
        if self._observe is not None and effect is not None:
            told.append(partial(self._observe, effect, event))
        if self._watch is not None:
            told.append(partial(self._watch, effect, event, step))
        for each in told:
            try:
                if is_async(each.func):
                    await in_loop_of_user(each)
                else:
                    await in_waiting_thread(each, self._caller)
            except Exception as error:  # noqa: BLE001  # a watcher of the user may raise anything
                failed = AgentError(f"an observer failed: {said_by(error)}")
                failed.__cause__ = error
                failure = failure or failed
        return failure
