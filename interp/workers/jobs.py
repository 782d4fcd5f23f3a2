"""When a job is done again, and what a worker listens to, in the terms of Procrastinate."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Final

from procrastinate import BaseRetryStrategy, PsycopgConnector, RetryDecision
from procrastinate.connector import Notify
from procrastinate.jobs import Job

from .later import LaterError

_SOON: Final = 5.0  # seconds


class Again(BaseRetryStrategy):
    """A job that raised is done again: its run has not ended.

    Args:
        now: gives the time by the clock of the database, which says when a job is due.
    """

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision:
        """When it is done again."""
        if isinstance(exception, asyncio.CancelledError):  # its worker is told to stop
            return RetryDecision()
        seconds = exception.seconds if isinstance(exception, LaterError) else _SOON
        return RetryDecision(retry_at=self._now() + timedelta(seconds=seconds))


class Connector(PsycopgConnector):
    """A connection to the jobs that listens to a channel of its own worker.

    Else each job would be told to every worker that takes such jobs, and all would ask for it.

    Args:
        channel: the channel.
    """

    def __init__(self, channel: str) -> None:
        super().__init__()
        self._channel = channel

    async def listen_notify(self, on_notification: Notify, channels: Iterable[str]) -> None:
        """Listen, until this is cancelled."""
        await super().listen_notify(on_notification, [self._channel])
