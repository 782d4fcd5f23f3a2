"""When a request is sent again, waiting longer each time or as the provider says.

The error itself says whether asking again can help (see `failures`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from random import uniform
from typing import TypeAlias, TypeVar

from ..errors import ModelError

_log = logging.getLogger("interp.model")

T = TypeVar("T")

Notice: TypeAlias = Callable[[ModelError, float], None]
"""Called before a request is sent again, with what went wrong and how long it waits."""

_notice: ContextVar[Notice | None] = ContextVar("notice", default=None)

_is_sent_once: ContextVar[bool] = ContextVar("is_sent_once", default=False)

_FIRST_WAIT, _LONGEST_WAIT = 0.5, 60.0  # seconds


@contextmanager
def noticing_retries(notice: Notice) -> Iterator[None]:
    """Have a function called before each request inside that is sent again, beside others."""
    others = _notice.get()

    def tell(error: ModelError, seconds: float) -> None:
        if others:
            others(error, seconds)
        notice(error, seconds)

    token = _notice.set(tell)
    try:
        yield
    finally:
        _notice.reset(token)


@contextmanager
def sent_once() -> Iterator[None]:
    """Have no request inside sent again: whoever asked for it does so."""
    token = _is_sent_once.set(True)
    try:
        yield
    finally:
        _is_sent_once.reset(token)


async def awith_retries(ask: Callable[[], Awaitable[T]], attempts: int) -> T:
    """What a coroutine function returns, called at most so many times; raises its last error."""
    most, attempt = 1 if _is_sent_once.get() else attempts, 1
    while True:
        try:
            return await ask()
        except ModelError as error:
            can_help = error.retriable and (error.retry_after or 0) <= _LONGEST_WAIT
            if attempt >= most or not can_help:
                raise
            longest = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** (attempt - 1))
            seconds = uniform(0, longest) if error.retry_after is None else error.retry_after
            _tell(error, seconds)
        await asyncio.sleep(seconds)
        attempt += 1


def _tell(error: ModelError, seconds: float) -> None:
    said = str(error).partition("\n")[0]
    _log.info("asks again in %.1f s: %s", seconds, said, extra={"event": "model_retried"})
    if notice := _notice.get():
        notice(error, seconds)
