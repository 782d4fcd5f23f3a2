"""Who is told of each step of a run, and how functions of the user are called."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeAlias, Union

from ..concurrency import in_loop_of_user, in_waiting_thread
from ..machine import Effect, Event, Step
from ..tools import is_async

Observer: TypeAlias = Callable[[Effect, Event], Union[Awaitable[None], None]]
"""Called with every effect and the event that answered it, after the event has been folded.

It may be a coroutine function, or an object with an async ``__call__``."""

Watcher: TypeAlias = Callable[[Union[Effect, None], Event, Step], Union[Awaitable[None], None]]
"""Called after each step with the effect, the event that answered it and the step they led to.

The effect is None where the caller changed the run, which is a `Resumed`. The events that a
watcher is given are the whole run: folded over the State it began with, they give every State."""


async def called_for_user(function: Callable[..., Any], *given: object) -> Any:
    """What a function of the user gives: a plain one is called where somebody waits for the run."""
    if is_async(function):
        return await in_loop_of_user(partial(function, *given))
    found = await in_waiting_thread(partial(function, *given))
    return await in_loop_of_user(lambda: found) if inspect.isawaitable(found) else found
