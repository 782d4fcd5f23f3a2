"""When a job is done again, and what a worker listens to: classes of Procrastinate, an extra."""

from __future__ import annotations

from collections.abc import Iterable

from procrastinate import BaseRetryStrategy, PsycopgConnector, RetryDecision
from procrastinate.connector import Notify
from procrastinate.jobs import Job


class AtOnce(BaseRetryStrategy):
    """Has a job that raised done again: its worker was ending, or the database failed."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision:
        """When it is done again: no time is named, since clocks here may be wrong."""
        return RetryDecision()


class Connector(PsycopgConnector):
    """A connection to the jobs that listens to a channel of its own worker.

    Else each job would be told to every worker that takes such jobs, and all would ask for it.
    """

    def __init__(self, channel: str) -> None:
        super().__init__()
        self._channel = channel

    async def listen_notify(self, on_notification: Notify, channels: Iterable[str]) -> None:
        """Listen, until this is cancelled."""
        await super().listen_notify(on_notification, [self._channel])
