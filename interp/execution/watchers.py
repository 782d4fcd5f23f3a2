"""Who is told of each step of a run: the log, and whom the options name."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeAlias, Union

from ..concurrency import in_loop_of_user, in_waiting_thread
from ..errors import AgentError, said_by
from ..machine import Effect, Event, Step
from ..tools import is_async
from .logs import log_event

Observer: TypeAlias = Callable[[Effect, Event], Union[Awaitable[None], None]]
"""Called with every effect and the event that answered it, after the event has been folded.

It may be a coroutine function, or an object with an async ``__call__``."""

Watcher: TypeAlias = Callable[[Union[Effect, None], Event, Step], Union[Awaitable[None], None]]
"""Called after each step with the effect, the event that answered it and the step they led to.

The effect is None where the caller changed the run, which is a `Resumed`. The events that a
watcher is given are the whole run: folded over the State it began with, they give every State."""


class Watchers:
    """Tells whoever watches a run of each step, when it is folded and written.

    Args:
        observe: called with each effect and the event that answered it.
        watch: called with each step.
    """

    def __init__(self, observe: Observer | None, watch: Watcher | None) -> None:
        self._observe, self._watch = observe, watch

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
                elif inspect.isawaitable(given := await in_waiting_thread(each)):
                    await in_loop_of_user(partial(_itself, given))
            except Exception as error:  # noqa: BLE001  # a watcher of the user may raise anything
                failed = AgentError(f"an observer failed: {said_by(error)}")
                failed.__cause__ = error
                failure = failure or failed
        return failure


def _itself(given: Any) -> Any:
    return given
