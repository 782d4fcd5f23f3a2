"""Sends a request again where that can help, waiting longer each time or as the provider says.

One policy for every way a request is sent; the error itself says whether it can help (see
`failures`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import ModelError

if TYPE_CHECKING:
    import tenacity

T = TypeVar("T")

_LONGEST_WAIT = 60.0  # seconds


def with_retries(ask: Callable[[], T], attempts: int, is_wanted: Callable[[], bool]) -> T:
    """The reply to a request, which is sent again as long as that can help.

    Args:
        ask: Sends the request.
        attempts: How often it is sent at most.
        is_wanted: Whether anybody still waits for the reply.

    Raises:
        ModelError: The error of the last attempt.
    """
    import tenacity

    def ask_if_wanted() -> T:
        if not is_wanted():
            raise ModelError("the request was given up")
        return ask()

    return tenacity.Retrying(**_policy(attempts))(ask_if_wanted)


async def awith_retries(ask: Callable[[], Awaitable[T]], attempts: int) -> T:
    """The same without blocking; who no longer wants the reply cancels it."""
    import tenacity

    answer: T = await tenacity.AsyncRetrying(**_policy(attempts))(ask)
    return answer


def _policy(attempts: int) -> dict[str, Any]:
    import tenacity

    backoff = tenacity.wait_random_exponential(multiplier=0.5, max=_LONGEST_WAIT)

    def can_help(error: BaseException) -> bool:
        return (
            isinstance(error, ModelError)
            and error.retriable
            and (error.retry_after or 0) <= _LONGEST_WAIT
        )

    def wait(attempt: tenacity.RetryCallState) -> float:
        error = attempt.outcome.exception() if attempt.outcome else None
        told = error.retry_after if isinstance(error, ModelError) else None
        return backoff(attempt) if told is None else told

    return {
        "retry": tenacity.retry_if_exception(can_help),
        "stop": tenacity.stop_after_attempt(attempts),
        "wait": wait,
        "reraise": True,
    }
