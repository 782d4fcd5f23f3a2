"""Limits on requests to models that hold for all workers of a store together.

A limit is of a provider (``OpenAI``), of a model (``OpenAI/gpt-5.6-luna``) or of a tenant
(``tenant:acme``). It says how many requests may be under way at once, and how many may begin in a
minute; beginnings are spread over the minute. When a provider says when to ask again
(``Retry-After``), all workers wait for that long.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Iterable, Mapping
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from attrs import field, frozen

from gram.errors import expect
from lenses_ext import Model

from ..errors import ConfigurationError, ModelError
from ..execution import LiveHandler, Report, first_that_replies, may_be_passed
from ..history.stores import RunStore
from ..machine import CallModel, Effect, Event
from ..models import awith_retries, sent_once
from ..models.providers import PROVIDERS
from .database_errors import in_words
from .queue import LONGEST_WAIT, LaterError, RunQueue
from .submission import postgres_of
from .tables import CLOCK, LONGEST_REQUEST, SEEN

if TYPE_CHECKING:
    from psycopg_pool import AsyncConnectionPool

LOGGER: Final = logging.getLogger("interp.workers")

_TENANT: Final = "tenant:"
"""Before the name of a tenant, in the name of its limit."""

_WRITTEN: Final = {name.lower(): name for name in PROVIDERS}

_LOOK_AGAIN: Final = 0.2  # seconds, while as many requests are under way as may be
_PAUSE: Final = 1.0  # seconds, until it is said again that a request has ended
_MOST: Final = 2**31 - 1
_TO_SAY: Final = 5.0  # seconds that a reply waits until something is said
_PATIENCE: Final = 5.0
"""The seconds that a run waits in its worker; for longer it makes room for others."""

_ATTEMPTS: Final = 3
_TOO_MANY_REQUESTS: Final = 429

_LOST: Final = {"event": "limits_lost"}


@frozen
class SharedLimit:
    """What all workers of a store together may ask of a provider, of a model, or for a tenant.

    Attributes:
        at_once: how many requests may be under way at once; None is no limit.
        per_minute: how many requests may begin in a minute; None is no limit.

    Raises:
        ConfigurationError: a number is not positive, or too large to be kept.
    """

    at_once: int | None = field(default=None)
    per_minute: float | None = field(default=None)

    def __attrs_post_init__(self) -> None:
        expect(self.at_once, (int, type(None)), "at_once", by="SharedLimit")
        expect(self.per_minute, (int, float, type(None)), "per_minute", by="SharedLimit")
        for name in ("at_once", "per_minute"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ConfigurationError(f"{name} must be more than 0, found {value!r}")
            if value is not None and not value <= _MOST:  # nor is NaN
                raise ConfigurationError(f"{name} must be at most {_MOST}, found {value!r}")


@frozen
class LimitNow:
    """What holds for a provider, a model or a tenant at this moment.

    Attributes:
        limit: its limit; without one, a provider may have asked for time all the same.
        under_way: how many requests that it counts are under way; 0 if it counts none.
        wait: for how many seconds more its provider has asked to be left alone.
    """

    limit: SharedLimit
    under_way: int
    wait: float


def limit_name(name: str) -> str:
    """The name of a limit as it is kept: a known provider as it is written in the table.

    >>> limit_name("openai/gpt-5.6-luna"), limit_name("tenant:acme")
    ('OpenAI/gpt-5.6-luna', 'tenant:acme')
    """
    if name.startswith(_TENANT):
        return name
    provider, slash, model = name.partition("/")
    return f"{_WRITTEN.get(provider.lower(), provider)}{slash}{model}"


def shared_limits(store: RunStore) -> dict[str, LimitNow]:
    """The limits that all workers of a store keep to, by their names, and how much of them is used.

    Args:
        store: a store on Postgres.

    Raises:
        ArgumentError: the store is of a wrong type.
        ConfigurationError: the store is not on Postgres, or Procrastinate is not installed.
        StoreError: the store cannot be read.
    """
    expect(store, RunStore, "store", by="shared_limits")
    database = postgres_of(store)
    RunQueue(database)  # makes the tables
    found = database.execute(
        f"SELECT name, at_once, per_minute, greatest(coalesce(not_before, 0) - {CLOCK}, 0), "
        "(SELECT count(*) FROM gram_requests AS r JOIN gram_workers ON id = worker "
        f"WHERE r.name = kept.name AND seen > {CLOCK} - ? AND since > {CLOCK} - ?) "
        "FROM gram_limits AS kept FULL JOIN gram_buckets USING (name) "
        f"WHERE kept.name IS NOT NULL OR not_before > {CLOCK} ORDER BY name",
        SEEN,
        LONGEST_REQUEST,
    )
    return {
        name: LimitNow(SharedLimit(at_once, per_minute), under_way, wait)
        for name, at_once, per_minute, wait, under_way in found
    }


def set_shared_limits(store: RunStore, limits: Mapping[str, SharedLimit | None]) -> None:
    """Set limits for all workers of a store; they keep to them from their next request on.

    Args:
        store: a store on Postgres.
        limits: limits by their names, see `SharedLimit`; None removes one, and what its provider
            has asked for. Others stay as they are.

    Raises:
        ArgumentError: an argument is of a wrong type.
        ConfigurationError: the store is not on Postgres, or Procrastinate is not installed.
        StoreError: the store cannot be written.
    """
    expect(store, RunStore, "store", by="set_shared_limits")
    expect_limits(limits, by="set_shared_limits")
    database = postgres_of(store)
    RunQueue(database)  # makes the tables
    for name, limit in limits.items():
        if limit is None:
            for table in ("gram_limits", "gram_buckets"):
                database.execute(f"DELETE FROM {table} WHERE name = ?", limit_name(name))
        else:
            database.execute(
                "INSERT INTO gram_limits (name, at_once, per_minute) VALUES (?, ?, ?) "
                "ON CONFLICT (name) DO UPDATE SET at_once = excluded.at_once, "
                "per_minute = excluded.per_minute",
                limit_name(name),
                limit.at_once,
                limit.per_minute,
            )


def expect_limits(limits: Mapping[str, SharedLimit | None], *, by: str) -> None:
    """Refuse what are no limits by their names."""
    expect(limits, Mapping, "limits", by=by)
    for name, limit in limits.items():
        expect(name, str, "a name in limits", by=by)
        expect(limit, (SharedLimit, type(None)), f"limits[{name!r}]", by=by)


@frozen
class Permission:
    """That a request may be sent, or the seconds to wait before it is asked about again.

    Attributes:
        wait: 0 when it may be sent now.
        number: names the request among those of this worker.
        is_counted: whether it counts as under way.
    """

    wait: float
    number: int
    is_counted: bool


class SharedLimits:
    """The limits of a store, as one worker keeps to them.

    Args:
        pool: connections to the store's database.
        worker: the name of the worker.
    """

    def __init__(self, pool: AsyncConnectionPool, worker: str) -> None:
        self._pool = pool
        self._worker = worker
        self._numbers = count(1)
        self._tasks: set[asyncio.Task[None]] = set()

    async def begin(self) -> None:
        """Say that this worker has no requests under way, whatever it had before."""
        async with self._pool.connection() as connection:
            await connection.execute("DELETE FROM gram_requests WHERE worker = %s", (self._worker,))

    async def ask(self, names: Iterable[str]) -> Permission:
        """Ask whether a request may be sent that counts for some names.

        If it may, it counts as under way until `ended`.
        """
        number = next(self._numbers)
        try:
            return await self._ask(sorted(set(names)), number)
        except BaseException:  # it may count as under way, and nobody else knows its number
            self._remove(number)
            raise

    async def _ask(self, listed: list[str], number: int) -> Permission:
        async with self._pool.connection() as connection, connection.transaction():
            await connection.execute("SET LOCAL synchronous_commit = off")
            await connection.execute(
                "INSERT INTO gram_buckets (name, tokens, filled) "
                f"SELECT name, 1, {CLOCK} FROM gram_limits WHERE name = ANY(%s) "
                "ON CONFLICT (name) DO NOTHING",
                (listed,),
            )
            found = await connection.execute(
                f"SELECT name, tokens, {CLOCK} - filled, not_before - {CLOCK}, at_once, per_minute "
                "FROM gram_buckets LEFT JOIN gram_limits USING (name) "
                "WHERE name = ANY(%s) ORDER BY name FOR UPDATE OF gram_buckets",
                (listed,),
            )
            wait, full, counted = 0.0, dict[str, float](), list[str]()
            for name, tokens, seconds, held_back, at_once, per_minute in await found.fetchall():
                wait = max(wait, held_back)
                if per_minute is not None:
                    a_second = per_minute / 60
                    full[name] = min(max(1.0, a_second), tokens + max(seconds, 0.0) * a_second)
                    wait = max(wait, (1 - full[name]) / a_second)
                if at_once is not None:
                    counted.append(name)
                    under_way = await connection.execute(
                        "SELECT count(*) FROM gram_requests JOIN gram_workers ON id = worker "
                        f"WHERE name = %s AND seen > {CLOCK} - %s AND since > {CLOCK} - %s",
                        (name, SEEN, LONGEST_REQUEST),
                    )
                    if ((await under_way.fetchone()) or (0,))[0] >= at_once:
                        wait = max(wait, _LOOK_AGAIN)
            if wait <= 0:
                for name, tokens in full.items():
                    await connection.execute(
                        f"UPDATE gram_buckets SET tokens = %s, filled = {CLOCK} WHERE name = %s",
                        (tokens - 1, name),
                    )
                for name in counted:
                    await connection.execute(
                        "INSERT INTO gram_requests (name, worker, number) VALUES (%s, %s, %s)",
                        (name, self._worker, number),
                    )
        return Permission(max(wait, 0.0), number, wait <= 0 and bool(counted))

    async def ended(self, permission: Permission) -> None:
        """Say that a request is under way no more.

        While that cannot be said, it is tried again beside what goes on.
        """
        if permission.is_counted:
            await asyncio.wait({self._remove(permission.number)}, timeout=_TO_SAY)

    def _remove(self, number: int) -> asyncio.Task[None]:
        """Remove a request, even if whoever waits for that is cancelled."""
        return self._beside(self._removed(number))

    def _beside(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Do something beside what goes on, to its end."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _removed(self, number: int) -> None:
        while not self._pool.closed:
            try:
                async with self._pool.connection() as connection:
                    await connection.execute(
                        "DELETE FROM gram_requests WHERE worker = %s AND number = %s",
                        (self._worker, number),
                    )
            except Exception as error:  # noqa: BLE001  # the database is gone, in many ways
                said = in_words(error)
                LOGGER.warning("could not say that a request ended: %s", said, extra=_LOST)
                await asyncio.sleep(_PAUSE)
            else:
                return

    async def hold_back(self, name: str, seconds: float) -> None:
        """Have no worker send a request that counts for a name, for some seconds, at most an hour.

        Where that cannot be said to the others, it is logged, and nothing else is lost by it.
        """
        await asyncio.wait({self._beside(self._held_back(name, seconds))}, timeout=_TO_SAY)

    async def _held_back(self, name: str, seconds: float) -> None:
        try:
            async with self._pool.connection() as connection:
                await connection.execute(
                    "INSERT INTO gram_buckets AS held (name, tokens, filled, not_before) "
                    f"VALUES (%s, 1, {CLOCK}, {CLOCK} + %s) ON CONFLICT (name) DO UPDATE "
                    "SET not_before = greatest(held.not_before, excluded.not_before)",
                    (name, min(seconds, LONGEST_WAIT)),
                )
        except Exception as error:  # noqa: BLE001  # the database is gone, in many ways
            said = in_words(error)
            LOGGER.warning("could not tell the others to wait for %s: %s", name, said, extra=_LOST)


def _may_be_passed(error: Exception) -> bool:
    """Whether another model may be asked: the wait that a provider wants is too long, too."""
    return may_be_passed(error) or (
        isinstance(error, LaterError) and isinstance(error.__cause__, ModelError)
    )


@frozen
class LimitedHandler:
    """A handler that asks before each request to a model whether it may be sent.

    A request is sent again where that can help, as without this handler, and counts each time.

    Attributes:
        handler: what performs the effects.
        limits: the limits.
        tenant: for whom the run is, or None.
    """

    handler: LiveHandler
    limits: SharedLimits
    tenant: str | None

    async def perform(self, effect: Effect, report: Report | None) -> Event:
        """Perform an effect.

        Raises:
            LaterError: it has to wait for longer than a run stays in its worker.
        """
        if not isinstance(effect, CallModel):
            return await self.handler.perform(effect, report)
        models = self.handler.models_for(effect.request)
        if len(models) > 1:
            return await first_that_replies(self.perform, effect, report, models, _may_be_passed)
        return await awith_retries(lambda: self._asked(effect, report), _ATTEMPTS)

    async def _asked(self, effect: CallModel, report: Report | None) -> Event:
        model = effect.request.model
        permission = await self._permission(model)
        try:
            with sent_once():
                return await self.handler.perform(effect, report)
        except ModelError as error:
            if error.status == _TOO_MANY_REQUESTS and error.retriable and error.retry_after:
                await self.limits.hold_back(limit_name(model.provider), error.retry_after)
                if error.retry_after > _PATIENCE:
                    raise LaterError(str(error), error.retry_after) from error
            raise
        finally:
            await self.limits.ended(permission)

    async def _permission(self, model: Model) -> Permission:
        names = [limit_name(model.provider), limit_name(str(model))]
        if self.tenant is not None:
            names.append(_TENANT + self.tenant)
        until = monotonic() + _PATIENCE
        while (permission := await self.limits.ask(names)).wait > 0:
            if monotonic() + permission.wait > until:
                reason = f"the limits of {' or '.join(names)} are reached"
                raise LaterError(reason, permission.wait)
            await asyncio.sleep(permission.wait)
        return permission
