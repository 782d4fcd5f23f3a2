"""What workers keep in the Postgres of a store, beside its runs and Procrastinate's jobs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..history.stores import PostgresDatabase, make_tables

_FORMAT: Final = 1

_TABLES: Final = (
    # Who works now, and when it last looked for all: how its leases begin, the queues that it takes
    # runs from, and why it leaves others, by their names.
    # Nothing is lost when a crash of the server empties an unlogged table.
    """
    CREATE UNLOGGED TABLE gram_workers (
        id TEXT PRIMARY KEY,
        channel TEXT NOT NULL,
        seen DOUBLE PRECISION NOT NULL,
        looked DOUBLE PRECISION NOT NULL,
        process TEXT NOT NULL,
        queues TEXT[] NOT NULL,
        leaves JSONB NOT NULL
    )
    """,
    # What may be asked of a provider, of a model, or for a tenant.
    """
    CREATE TABLE gram_limits (
        name TEXT PRIMARY KEY,
        at_once INT,
        per_minute DOUBLE PRECISION
    )
    """,
    # Until when it is left alone; how often it did not answer since it last did, and when it was
    # last asked whether it does again.
    """
    CREATE UNLOGGED TABLE gram_buckets (
        name TEXT PRIMARY KEY,
        tokens DOUBLE PRECISION NOT NULL,
        filled DOUBLE PRECISION NOT NULL,
        not_before DOUBLE PRECISION NOT NULL DEFAULT 0,
        failures INT NOT NULL DEFAULT 0,
        probed DOUBLE PRECISION NOT NULL DEFAULT 0
    )
    """,
    """
    CREATE UNLOGGED TABLE gram_requests (
        name TEXT NOT NULL,
        worker TEXT NOT NULL,
        number BIGINT NOT NULL,
        since DOUBLE PRECISION NOT NULL DEFAULT extract(epoch FROM clock_timestamp()),
        PRIMARY KEY (name, worker, number)
    )
    """,
)


def make_worker_tables(database: PostgresDatabase) -> None:
    """Make the tables of workers in a store, with those of Procrastinate, where there are none.

    Raises:
        StoreError: the database cannot be used, or has tables of another format.
    """

    def statements() -> Iterator[str]:
        yield from _TABLES
        if database.execute("SELECT to_regclass('procrastinate_jobs')::text") == [(None,)]:
            from procrastinate.schema import SchemaManager

            yield SchemaManager.get_schema()

    make_tables(database, "the queue of its workers", "gram_workers_format", _FORMAT, statements)


CLOCK: Final = PostgresDatabase.clock
"""SQL for the time in seconds since 1970: the server's, which is the same for all workers."""

LOOK: Final = 2.0
"""Seconds between two signs of life of a worker, and between two looks for work of dead ones."""

SEEN: Final = 10.0
"""Seconds since a worker was last heard of, after which it counts as dead."""

SILENT: Final = 6.0
"""Seconds since a worker was last heard of, after which its jobs are put in again.

That is sooner than it counts as dead, since it costs little where it lives: a run that is claimed
is only looked at again.
"""

LONGEST_REQUEST: Final = 3600.0
"""Seconds since a request began, after which it counts as under way no more."""
