"""Limits on requests to models that hold for all workers of a store together.

A limit is of a provider (``OpenAI``), of a model (``OpenAI/gpt-5.6-luna``) or of a tenant
(``tenant:acme``). It says how many requests may be under way at once, and how many may begin in a
minute; beginnings are spread over the minute. When a provider says when to ask again
(``Retry-After``), all workers wait for that long.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Iterable
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from attrs import field, frozen

from gram import expect

from ..errors import ConfigurationError, said_by
from ..secrets import without_keys
from .tables import CLOCK, LONGEST_REQUEST, SEEN

if TYPE_CHECKING:
    from psycopg_pool import AsyncConnectionPool

LOGGER: Final = logging.getLogger("interp.workers")

TENANT: Final = "tenant:"
"""Before the name of a tenant, in the name of its limit."""

LONGEST_WAIT: Final = 3600.0
"""Seconds that a provider is left alone at most; then it is asked whether it still wants that."""

_LOOK_AGAIN: Final = 0.2  # seconds, while as many requests are under way as may be
_PAUSE: Final = 1.0  # seconds, until it is said again that a request has ended
_MOST: Final = 2**31 - 1
_PATIENCE: Final = 5.0  # seconds that a reply waits until something is said


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
            await asyncio.wait({self._remove(permission.number)}, timeout=_PATIENCE)

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
                LOGGER.warning(
                    "could not say that a request ended: %s", without_keys(said_by(error))
                )
                await asyncio.sleep(_PAUSE)
            else:
                return

    async def hold_back(self, name: str, seconds: float) -> None:
        """Have no worker send a request that counts for a name, for some seconds, at most an hour.

        Where that cannot be said to the others, it is logged, and nothing else is lost by it.
        """
        await asyncio.wait({self._beside(self._held_back(name, seconds))}, timeout=_PATIENCE)

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
            said = without_keys(said_by(error))
            LOGGER.warning("could not tell the others to wait for %s: %s", name, said)
