"""When a job is done again, and what a worker listens to, in the terms of Procrastinate."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta
from typing import Final

from procrastinate import BaseRetryStrategy, PsycopgConnector, RetryDecision
from procrastinate.connector import Notify
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


class Connector(PsycopgConnector):
    """A connection to the jobs that listens to a channel of its own worker.

    Else each job would be told to every worker that takes such jobs, and all would ask for it.

    Args:
        channel: the channel.
        queues: the queues whose jobs are told to all that take them.
    """

    def __init__(self, channel: str, queues: Collection[str]) -> None:
        super().__init__()
        self._channel = channel
        self._told_to_all = queues

    async def listen_notify(self, on_notification: Notify, channels: Iterable[str]) -> None:
        """Listen, until this is cancelled."""
        to_all = [each for each in channels if each.rpartition("#")[2] in self._told_to_all]
        await super().listen_notify(on_notification, [self._channel, *to_all])
