"""When a job is done again, in the terms of Procrastinate."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Final

from procrastinate import BaseRetryStrategy, RetryDecision
from procrastinate.jobs import Job

from .limited_world import LaterError

_SOON: Final = 5.0  # seconds


class Again(BaseRetryStrategy):
    """A job that raised is done again: its run has not ended."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision:
        """When it is done again."""
        if isinstance(exception, asyncio.CancelledError):  # its worker is told to stop
            return RetryDecision()
        seconds = exception.seconds if isinstance(exception, LaterError) else _SOON
        return RetryDecision(retry_at=datetime.now(UTC) + timedelta(seconds=seconds))
