"""When a request is sent again, waiting longer each time or as the provider says.

The error itself says whether asking again can help (see `failures`).
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from ..errors import ModelError

if TYPE_CHECKING:
    import tenacity

_log = logging.getLogger("interp.model")

T = TypeVar("T")

Notice: TypeAlias = Callable[[ModelError, float], None]
"""Called before a request is sent again, with what went wrong and how long it waits."""

_notice: ContextVar[Notice | None] = ContextVar("notice", default=None)

_is_sent_once: ContextVar[bool] = ContextVar("is_sent_once", default=False)

_LONGEST_WAIT = 60.0  # seconds


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
    import tenacity  # imported late: programs that ask nobody do without

    retrying = tenacity.AsyncRetrying(
        before_sleep=_tell,
        retry=tenacity.retry_if_exception(_can_help),
        stop=tenacity.stop_after_attempt(1 if _is_sent_once.get() else attempts),
        wait=_wait,
        reraise=True,
    )
    answer: T = await retrying(ask)
    return answer


def _can_help(error: BaseException) -> bool:
    return (
        isinstance(error, ModelError)
        and error.retriable
        and (error.retry_after or 0) <= _LONGEST_WAIT
    )


def _wait(attempt: tenacity.RetryCallState) -> float:
    import tenacity

    error = attempt.outcome.exception() if attempt.outcome else None
    if isinstance(error, ModelError) and error.retry_after is not None:
        return error.retry_after
    return tenacity.wait_random_exponential(multiplier=0.5, max=_LONGEST_WAIT)(attempt)


def _tell(attempt: tenacity.RetryCallState) -> None:
    notice, error = _notice.get(), attempt.outcome.exception() if attempt.outcome else None
    if isinstance(error, ModelError) and attempt.next_action:
        seconds = attempt.next_action.sleep
        said = str(error).partition("\n")[0]
        _log.info("asks again in %.1f s: %s", seconds, said, extra={"event": "model_retried"})
        if notice:
            notice(error, seconds)
