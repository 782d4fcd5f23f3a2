"""When a request is sent again: a few times, waiting longer each time or as the provider says.

One policy for every way a request is sent; whether it can help is said by the error itself (see
`interp.model_failures`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from .errors import ModelError

if TYPE_CHECKING:
    import tenacity

T = TypeVar("T")

_LONGEST_WAIT = 60.0  # seconds


def with_retries(ask: Callable[[], T], attempts: int, is_wanted: Callable[[], bool]) -> T:
    """What asking gives, in as many attempts as it takes and at most ``attempts``.

    Args:
        ask: sends the request.
        attempts: how often it is sent at most.
        is_wanted: whether anybody still waits for the reply.

    Raises:
        ModelError: that of the last attempt.
    """
    import tenacity

    return tenacity.Retrying(**_policy(attempts, is_wanted))(ask)


async def awith_retries(
    ask: Callable[[], Awaitable[T]], attempts: int, is_wanted: Callable[[], bool]
) -> T:
    """The same without blocking; see `with_retries`."""
    import tenacity

    answer: T = await tenacity.AsyncRetrying(**_policy(attempts, is_wanted))(ask)
    return answer


def _policy(attempts: int, is_wanted: Callable[[], bool]) -> dict[str, Any]:
    import tenacity

    backoff = tenacity.wait_random_exponential(multiplier=0.5, max=_LONGEST_WAIT)

    def can_help(error: BaseException) -> bool:
        return (
            isinstance(error, ModelError)
            and error.retriable
            and (error.retry_after or 0) <= _LONGEST_WAIT
            and is_wanted()
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
