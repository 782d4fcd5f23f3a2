"""Limits on requests to models that hold for all workers of a store together.

A limit is of a provider (``OpenAI``), of a model (``OpenAI/gpt-5.6-luna``) or of a tenant
(``tenant:acme``). It says how many requests may be under way at once, and how many may begin in a
minute; beginnings are spread over the minute. When a provider says when to ask again
(``Retry-After``), all workers wait for that long.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from itertools import count
from time import monotonic
from typing import Final

from attrs import field, frozen

from gram.errors import expect
from lenses_ext import Model

from ..concurrency import call_in_thread
from ..errors import ConfigurationError, ModelError, StoreError
from ..execution import LiveHandler, Report, first_that_replies, may_be_passed
from ..history.stores import PostgresDatabase, RunStore
from ..machine import CallModel, Effect, Event
from ..models import PROVIDERS, awith_retries, sent_once
from .database_errors import log_event
from .queue import LONGEST_WAIT, SQL, LaterError, RunQueue, pause_after

_TENANT: Final = "tenant:"
"""Before the name of a tenant, in the name of its limit."""

_WRITTEN: Final = {name.lower(): name for name in PROVIDERS}

_MOST: Final = 2**31 - 1
_LOOK_AGAIN: Final = 0.2  # seconds, while as many requests are under way as may be
_PAUSE: Final = 1.0  # seconds, while another request finds out whether a model answers again
_PATIENCE: Final = 5.0
"""The seconds that a run waits in its worker; for longer it makes room for others."""
_PROBE: Final = 30.0
"""The seconds after which one more request finds out whether a model answers."""


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
        for name, value in (("at_once", self.at_once), ("per_minute", self.per_minute)):
            if value is not None and not 0 < value <= _MOST:  # nor is NaN
                raise ConfigurationError(
                    f"{name} must be more than 0, and at most {_MOST}, found {value!r}"
                )


@frozen
class LimitNow:
    """What holds for a provider, a model or a tenant at this moment.

    Attributes:
        limit: its limit; without one, a provider may have asked for time all the same.
        under_way: how many requests that it counts are under way; 0 if it counts none.
        wait: for how many seconds more it is left alone.
        is_down: whether that is because it did not answer, rather than because it asked for time.
    """

    limit: SharedLimit
    under_way: int
    wait: float
    is_down: bool = False


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
        ConfigurationError: the store is not on Postgres, or Procrastinate is not installed.
        StoreError: the store cannot be read.
    """
    database = RunQueue.of(store, by="shared_limits").database
    return {
        name: LimitNow(SharedLimit(at_once, per_minute), *now)
        for name, at_once, per_minute, *now in database.execute(SQL["limits"])
    }


def set_shared_limits(store: RunStore, limits: Mapping[str, SharedLimit | None]) -> None:
    """Set limits for all workers of a store; they keep to them from their next request on.

    Args:
        store: a store on Postgres.
        limits: limits by their names, see `SharedLimit`; None removes one, and what its provider
            has asked for. Others stay as they are.

    Raises:
        ConfigurationError: the store is not on Postgres, or Procrastinate is not installed.
        StoreError: the store cannot be written.
    """
    expect(limits, Mapping, "limits", by="set_shared_limits")
    for name, limit in limits.items():
        expect(name, str, "a name in limits", by="set_shared_limits")
        expect(limit, (SharedLimit, type(None)), f"limits[{name!r}]", by="set_shared_limits")
    database = RunQueue.of(store, by="set_shared_limits").database
    for name, limit in limits.items():
        if limit is None:
            for table in ("gram_limits", "gram_buckets"):
                database.execute(f"DELETE FROM {table} WHERE name = ?", limit_name(name))
        else:
            kept = (limit_name(name), limit.at_once, limit.per_minute)
            database.execute(SQL["set_limit"], *kept)


@frozen
class Permission:
    """That a request may be sent, or the seconds to wait before it is asked about again.

    Attributes:
        number: names the request among those of this worker; None where it is not counted.
        is_held: whether its provider is left alone for that long, rather than a limit reached.
        is_probe: whether the model did not answer lately, and this request finds out if it does.
    """

    wait: float
    number: int | None = None
    is_held: bool = False
    is_probe: bool = False


class SharedLimits:
    """The limits of a store, as one worker keeps to them; all but `ask` and `ended` block."""

    def __init__(self, database: PostgresDatabase, worker: str) -> None:
        self.database = database
        self._worker = worker
        self._numbers = count(1)
        self._under_way: set[int] = set()

    async def ask(self, names: Iterable[str]) -> Permission:
        """Ask whether a request may be sent that counts for some names.

        If it may, it counts as under way until `ended`.
        """
        number, listed = next(self._numbers), sorted(set(names))
        self._under_way.add(number)
        permission = None
        try:
            permission = await call_in_thread(
                lambda: self.database.together(lambda: self._asked(listed, number))
            )
            return permission
        finally:  # `settle` removes what counts all the same, if this was cut
            if permission is None or permission.number is None:
                self._under_way.discard(number)

    def _asked(self, names: list[str], number: int) -> Permission:
        execute = self.database.execute
        execute("SET LOCAL synchronous_commit = off")
        execute(SQL["make_buckets"], names)
        found = execute(SQL["buckets"], _PROBE, names)
        wait, held, full, counted, probed = 0.0, 0.0, dict[str, float](), list[str](), list[str]()
        for name, tokens, seconds, left_alone, failures, probing, at_once, per_minute in found:
            held = max(held, left_alone)
            if failures and probing > 0:
                held = max(held, _PAUSE)
            elif failures:
                probed.append(name)
            if per_minute is not None:
                a_second = per_minute / 60
                full[name] = min(max(1.0, a_second), tokens + max(seconds, 0.0) * a_second)
                wait = max(wait, (1 - full[name]) / a_second)
            if at_once is not None:
                counted.append(name)
                if self.database.value(SQL["under_way"], name) >= at_once:
                    wait = max(wait, _LOOK_AGAIN)
        if max(wait, held) > 0:
            return Permission(max(wait, held), is_held=held >= wait)
        sql = "UPDATE gram_buckets SET tokens = ?, filled = {clock} WHERE name = ?"
        for name, tokens in full.items():
            execute(sql, tokens - 1, name)
        execute("UPDATE gram_buckets SET probed = {clock} WHERE name = ANY(?)", probed)
        sql = "INSERT INTO gram_requests (name, worker, number) SELECT unnest(?::text[]), ?, ?"
        execute(sql, counted, self._worker, number)
        return Permission(0.0, number if counted else None, is_probe=bool(probed))

    async def ended(self, permission: Permission) -> None:
        """Say that a request is under way no more; where that fails, `settle` does it."""
        if (number := permission.number) is None:
            return
        self._under_way.discard(number)
        sql = "DELETE FROM gram_requests WHERE worker = ? AND number = ?"
        with suppress(StoreError):
            await call_in_thread(lambda: self.database.execute(sql, self._worker, number))

    def settle(self) -> None:
        """Remove the requests of this worker that have ended, where it could not be said."""
        sql = "DELETE FROM gram_requests WHERE worker = ? AND number <> ALL(?)"
        self.database.connected(  # its lock is held: what is added meanwhile is put in later
            lambda _: self.database.execute(sql, self._worker, list(self._under_way))
        )

    def hold_back(self, name: str, seconds: float) -> None:
        """Have no worker send a request that counts for a name, for an hour at most."""
        self.database.execute(SQL["hold_back"], name, min(seconds, LONGEST_WAIT))

    def failed(self, name: str, reason: str) -> tuple[float, bool]:
        """Say that a model did not answer: it is left alone, and then asked by one at a time.

        Gives for how many seconds, and whether it had answered until now.
        """
        execute = self.database.execute

        def work() -> tuple[float, int]:
            execute(SQL["make_bucket"], name)
            sql = (
                "SELECT not_before - {clock}, failures FROM gram_buckets WHERE name = ? FOR UPDATE"
            )
            ((left, failures),) = execute(sql, name)
            if failures and left > 0:  # others have said so meanwhile
                return left, failures
            seconds = pause_after(failures)
            execute(SQL["failed"], seconds, name)
            return seconds, failures

        seconds, failures = self.database.together(work)
        if not failures:
            told = f"{name} does not answer, and its runs wait: {reason}"
            log_event("provider_down", told, logging.WARNING)
        return seconds, not failures

    def answered(self, name: str) -> None:
        """Say that a model answers again."""
        sql = "UPDATE gram_buckets SET failures = 0, not_before = 0 WHERE name = ?"
        self.database.execute(sql, name)
        log_event("provider_back", f"{name} answers again", logging.WARNING)

    def is_held(self, names: Iterable[str]) -> bool:
        """Whether a provider of some names is left alone now."""
        return bool(self.database.execute(SQL["is_held"], list(names), _PROBE))


@frozen
class LimitedHandler:
    """A handler that asks before each request to a model whether it may be sent.

    A request is sent again where that can help, as without this handler, and counts each time.
    """

    handler: LiveHandler
    limits: SharedLimits
    tenant: str | None

    async def perform(self, effect: Effect, report: Report | None) -> Event:
        """Perform an effect; it is a `LaterError` if that waits longer than a run does here."""
        if not isinstance(effect, CallModel):
            return await self.handler.perform(effect, report)
        models = self.handler.model.asked_for(effect.request)
        if models != (effect.request.model,):
            return await first_that_replies(self.perform, effect, report, models, _may_be_passed)
        try:
            return await awith_retries(partial(self._asked, effect, report), 3)
        except ModelError as error:
            raise await self._held(effect.request.model, error) from error

    async def _asked(self, effect: CallModel, report: Report | None) -> Event:
        model = effect.request.model
        permission = await self._permission(model)
        try:
            with sent_once():
                answer = await self.handler.perform(effect, report)
        except ModelError as error:
            is_told = error.status == 429 and error.retriable  # too many requests
            if is_told and (seconds := error.retry_after):
                names = limit_name(model.provider)
                await call_in_thread(lambda: self.limits.hold_back(names, seconds))
                if seconds > _PATIENCE:
                    raise LaterError(str(error), seconds, held=_names_of(model)) from error
            if permission.is_probe:
                raise await self._held(model, error) from error
            raise
        finally:
            await self.limits.ended(permission)
        if permission.is_probe:
            await call_in_thread(lambda: self.limits.answered(limit_name(str(model))))
        return answer

    async def _held(self, model: Model, error: ModelError) -> Exception:
        """What a run stops with whose model did not answer."""
        name = limit_name(str(model))
        if not error.retriable:
            return error
        reason = str(error).partition("\n")[0]
        seconds, is_new = await call_in_thread(lambda: self.limits.failed(name, reason))
        return LaterError(str(error), seconds, held=_names_of(model), may_be_of_run=is_new)

    async def _permission(self, model: Model) -> Permission:
        names = _names_of(model) + ([] if self.tenant is None else [_TENANT + self.tenant])
        until = monotonic() + _PATIENCE
        while (permission := await self.limits.ask(names)).wait > 0:
            if monotonic() + permission.wait > until:
                reason = f"the limits of {' or '.join(names)} are reached"
                if permission.is_held:
                    reason = f"{model} did not answer, or asked for time: it is asked again later"
                    held, wait = _names_of(model), max(permission.wait, _PATIENCE)
                    raise LaterError(reason, wait, held=held)
                raise LaterError(reason, permission.wait)
            await asyncio.sleep(permission.wait)
        return permission


def _names_of(model: Model) -> list[str]:
    return [limit_name(model.provider), limit_name(str(model))]


def _may_be_passed(error: Exception) -> bool:
    """Whether another model may be asked: where this one is left alone, too."""
    return may_be_passed(error) or (isinstance(error, LaterError) and bool(error.held))
