"""What the code of users raises, and what only comes out of it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

from ..concurrency import FromOutside
from ..terminated import Terminated


def is_async(function: Callable[..., Any]) -> bool:
    """Whether a function is written with ``async def``; others may return awaitables too."""
    if inspect.iscoroutinefunction(function):
        return True
    return not inspect.isroutine(function) and inspect.iscoroutinefunction(type(function).__call__)


def returned_unfinished(function: object) -> str | None:
    """What a function is that returns before its code has run, in words; None for any other.

    What such a function returns is always true, so that it would hold whatever its code says.
    """
    if inspect.iscoroutinefunction(function):
        return "a coroutine function"
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        return "a generator function"
    return None


def is_from_outside(error: BaseException) -> bool:
    """Whether an exception is not of the code it comes out of.

    That is Ctrl-C, a signal to end, or the cancellation of a task. Whatever else the code of users
    raises, ``SystemExit`` too, is a failure of that code alone.
    """
    if isinstance(error, Exception):
        return False
    if not isinstance(error, asyncio.CancelledError):
        return isinstance(error, KeyboardInterrupt | FromOutside | Terminated)
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no event loop runs here
        return False
    return task is not None and task.cancelling() > 0
