"""What workers keep in the Postgres of a store, beside its runs and Procrastinate's jobs."""

from __future__ import annotations

from typing import Final

from ..stores import Execute, TableFormat

_FIRST: Final = (
    "CREATE TABLE gram_workers_format (format BIGINT NOT NULL PRIMARY KEY)",
    # The runs that workers are to drive, until they have ended.
    """
    CREATE TABLE IF NOT EXISTS gram_work (
        run TEXT PRIMARY KEY,
        queue TEXT NOT NULL,
        due DOUBLE PRECISION NOT NULL,
        attempts INT NOT NULL DEFAULT 0
    )
    """,
    "CREATE INDEX IF NOT EXISTS gram_work_queue ON gram_work (queue)",
    # How often workers died with a run since something was recorded of it.
    """
    CREATE TABLE IF NOT EXISTS gram_deaths (
        run TEXT PRIMARY KEY REFERENCES gram_work ON DELETE CASCADE,
        deaths INT NOT NULL,
        events INT NOT NULL,
        fence BIGINT NOT NULL
    )
    """,
    # A queue is for runs that need the same of a worker.
    """
    CREATE TABLE IF NOT EXISTS gram_queues (
        number BIGINT GENERATED ALWAYS AS IDENTITY,
        name TEXT PRIMARY KEY
    )
    """,
    # Who works now: the queues that it takes runs from, and why it leaves others, by their names.
    # Nothing is lost when a crash of the server empties an unlogged table.
    """
    CREATE UNLOGGED TABLE IF NOT EXISTS gram_workers (
        id TEXT PRIMARY KEY,
        channel TEXT NOT NULL,
        seen DOUBLE PRECISION NOT NULL,
        queues TEXT[] NOT NULL,
        leaves JSONB NOT NULL
    )
    """,
    # What may be asked of a provider, of a model, or for a tenant.
    """
    CREATE TABLE IF NOT EXISTS gram_limits (
        name TEXT PRIMARY KEY,
        at_once INT,
        per_minute DOUBLE PRECISION
    )
    """,
    """
    CREATE UNLOGGED TABLE IF NOT EXISTS gram_buckets (
        name TEXT PRIMARY KEY,
        tokens DOUBLE PRECISION NOT NULL,
        filled DOUBLE PRECISION NOT NULL,
        not_before DOUBLE PRECISION NOT NULL DEFAULT 0
    )
    """,
    """
    CREATE UNLOGGED TABLE IF NOT EXISTS gram_requests (
        name TEXT NOT NULL,
        worker TEXT NOT NULL,
        number BIGINT NOT NULL,
        since DOUBLE PRECISION NOT NULL DEFAULT extract(epoch FROM clock_timestamp()),
        PRIMARY KEY (name, worker, number)
    )
    """,
)


def _make_first(execute: Execute) -> None:
    """All tables; some may be there, since they had no format once."""
    for statement in _FIRST:
        execute(statement)
    if execute("SELECT to_regclass('procrastinate_jobs')::text") == [(None,)]:
        from procrastinate.schema import SchemaManager

        execute(SchemaManager.get_schema())


def _make_second(execute: Execute) -> None:
    """When somebody last looked for what is to be done, so that one worker looks for all."""
    execute("CREATE TABLE gram_looks (what TEXT PRIMARY KEY, at DOUBLE PRECISION NOT NULL)")


WORK: Final = TableFormat(
    "the queue of its workers", "gram_workers_format", (_make_first, _make_second)
)
"""The tables of workers, with those of Procrastinate."""

CLOCK: Final = "extract(epoch FROM clock_timestamp())::double precision"
"""SQL for the time in seconds since 1970: the server's, which is the same for all workers."""

LOOK: Final = 2.0
"""Seconds between two signs of life of a worker, and between two looks for work of dead ones."""

SEEN: Final = 10.0
"""Seconds since a worker was last heard of, after which it counts as dead."""

HAS_ITS_JOBS: Final = 6.0
"""Seconds since a worker was last heard of, after which its jobs are put in again.

That is sooner than it counts as dead, since it costs little where it lives: a job whose run is
claimed is over at once.
"""

LONGEST_REQUEST: Final = 3600.0
"""Seconds since a request began, after which it counts as under way no more."""
