"""What a failure of a model means: whether asking again can help, and what the user can do.

One table for every way a provider has of failing, so that the same failure is treated the same
whether it comes as a status, in a body or in the middle of a stream.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from .errors import ModelError

_BY_CODE: Final[Mapping[str, tuple[bool, str]]] = {
    "insufficient_quota": (False, "check the plan and the billing of the account"),
    "context_length_exceeded": (False, "the conversation is too long for the model: shorten it"),
    "model_not_found": (False, "check the program's `model`, or choose another with --model"),
    "rate_limit_exceeded": (True, "ask less often, or raise the account's limits"),
    "overloaded_error": (True, "the provider is overloaded: try again later"),
    "server_error": (True, "the provider has a problem: try again later"),
}
"""By the provider's code, which says more than the status: whether to ask again, and the hint."""

_BY_STATUS: Final[Mapping[int, tuple[bool, str]]] = {
    400: (False, "the provider does not take this request"),
    404: (False, "check the program's `model` and the address of the provider"),
    408: (True, "the provider took too long: try again later"),
    409: (True, "try again later"),
    413: (False, "the conversation is too long for the provider: shorten it"),
    422: (False, "the provider does not take this request"),
    425: (True, "try again later"),
    429: (True, "ask less often, or raise the account's limits"),
}

_SERVER_FAILED = (True, "the provider has a problem: try again later")
_UNKNOWN = (False, "")


def failed(
    message: str,
    *,
    status: int | None = None,
    code: str | None = None,
    request_id: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> ModelError:
    """The error for an answer that reports one.

    Args:
        message: what the provider says.
        status: the HTTP status, or the one that a body gives in its place.
        code: the provider's code for the error.
        request_id: the provider's name for the request.
        headers: those of the answer; ``retry-after`` is read.
    """
    retriable, hint = _BY_CODE.get(code or "") or _BY_STATUS.get(status or 0) or _UNKNOWN
    if not hint and status is not None and status >= 500:
        retriable, hint = _SERVER_FAILED
    return ModelError(
        f"{message}\n  hint: {hint}" if hint else message,
        status=status,
        code=code,
        request_id=request_id,
        retriable=retriable,
        retry_after=_retry_after(headers or {}),
    )


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """How many seconds the headers ask to wait: given in seconds or as a date, or not at all."""
    text = headers.get("retry-after", "").strip()
    if text.replace(".", "", 1).isdecimal():
        return float(text)
    from email.utils import parsedate_to_datetime  # slow to import, and seldom needed

    try:
        date = parsedate_to_datetime(text)
    except (ValueError, OverflowError):  # a year of too many digits overflows
        return None
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max(0.0, (date - datetime.now(UTC)).total_seconds())
