"""The limits on requests that a store keeps for its workers: listed, set and removed."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from gram import expect

from ..models.providers import PROVIDERS
from ..stores import RunStore
from .queue import RunQueue
from .shared_limits import TENANT, SharedLimit
from .submission import postgres_of
from .tables import CLOCK, LONGEST_REQUEST, SEEN

_WRITTEN = {name.lower(): name for name in PROVIDERS}


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
    if name.startswith(TENANT):
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
