"""Which workers there are, what each takes and leaves, and why a run waits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from attrs import frozen

from ..history.stores import PostgresDatabase, RunStore, this_process
from ..json_text import write_json
from .queue import ALIVE, FIRST_TURN, LOOK_NOW, tell_some, with_workers
from .tables import CLOCK, LOOK, SEEN

_MOST_REASONS: Final = 3


@frozen
class Registry:
    """The workers of a store.

    Attributes:
        database: the store's database, with the tables of workers.
    """

    database: PostgresDatabase

    def seen(
        self, worker: str, channel: str, queues: Iterable[str], leaves: Mapping[str, str]
    ) -> tuple[float, bool]:
        """Say that a worker is alive.

        Args:
            worker: its name.
            channel: what it listens to.
            queues: the queues that it takes runs from.
            leaves: why it takes none from others, by their names.

        Returns:
            The time, in seconds since 1970, and whether the worker is to look for all: whoever
            comes first some time after the last look does.
        """
        ((now, looks),) = self.database.execute(
            "INSERT INTO gram_workers AS worker "
            "(id, channel, seen, looked, process, queues, leaves) "
            "SELECT ?, ?, now, CASE WHEN last BETWEEN now - ? AND now THEN 0 ELSE now END, "
            f"?, ?, ?::jsonb FROM (SELECT {CLOCK} AS now, "
            "(SELECT max(looked) FROM gram_workers) AS last) AS clock "
            "ON CONFLICT (id) DO UPDATE SET seen = excluded.seen, queues = excluded.queues, "
            "leaves = excluded.leaves, "
            "looked = CASE excluded.looked WHEN 0 THEN worker.looked ELSE excluded.looked END "
            "RETURNING seen, looked = seen",
            worker,
            channel,
            LOOK / 2,
            this_process(),
            list(queues),
            write_json(dict(leaves)),
        )
        return float(now), bool(looks)

    def left(self, worker: str) -> None:
        """Say that a worker has ended, and have others take what it has left."""

        def work() -> None:
            self.database.execute("DELETE FROM gram_requests WHERE worker = ?", worker)
            for (queues,) in self.database.execute(
                "DELETE FROM gram_workers WHERE id = ? RETURNING queues", worker
            ):
                for queue in queues:
                    tell_some(self.database, queue)

        self.database.together(work)

    def forget_dead(self) -> None:
        """Forget the workers that have died, and the requests that they had under way."""
        dead = f"SELECT id FROM gram_workers WHERE seen < {CLOCK} - ?"
        self.database.execute(f"DELETE FROM gram_requests WHERE worker IN ({dead})", SEEN)
        self.database.execute(f"DELETE FROM gram_workers WHERE id IN ({dead})", SEEN)

    def tell(self, channel: str) -> None:
        """Have the worker that listens to a channel look for jobs now."""
        self.database.execute("SELECT pg_notify(?, ?)", channel, LOOK_NOW)

    def queues(self) -> list[tuple[str, str]]:
        """The queues that have runs, by their names, each with one of its runs."""
        # From one name to the next in the index: a queue may have many runs.
        found: list[tuple[str, str]] = self.database.execute(
            "WITH RECURSIVE each AS (SELECT min(queue) AS queue FROM gram_runs UNION ALL "
            "SELECT (SELECT min(queue) FROM gram_runs WHERE gram_runs.queue > each.queue) "
            "FROM each WHERE queue IS NOT NULL) "
            "SELECT queue, (SELECT min(id) FROM gram_runs WHERE gram_runs.queue = each.queue) "
            "FROM each WHERE queue IS NOT NULL"
        )
        return found


def why_queued(store: RunStore, runs: Sequence[str]) -> dict[str, str]:
    """Why runs wait that workers are to take, by their ids; one that will be taken has no reason.

    Args:
        store: any store; only those on Postgres have queued runs.
        runs: the ids of the runs.

    Raises:
        StoreError: the store cannot be read.
    """
    database = with_workers(store)
    if database is None:
        return {}
    found = database.execute(
        f"SELECT r.id, {FIRST_TURN}, due, due > {CLOCK}, "
        f"(SELECT coalesce(bool_or(queue = ANY(queues)), FALSE) {ALIVE}), "
        f"(SELECT count(*) {ALIVE}), (SELECT array_agg(DISTINCT leaves ->> queue) {ALIVE}) "
        "FROM gram_runs AS r "
        "WHERE r.id = ANY(?) AND queue IS NOT NULL AND r.status IN ('queued', 'stopped')",
        list(runs),
    )
    return {row[0]: reason for row in found if (reason := _why(*row[1:]))}


def _why(
    first: str | None, due: float, is_early: bool, is_taken: bool, workers: int, leaves: list[str]
) -> str | None:
    if is_early:
        return f"begins at {datetime.fromtimestamp(due, UTC):%Y-%m-%d %H:%M:%S} UTC"
    if first is not None:
        return f"waits for another turn of its conversation: run {first}"
    if not workers:
        return "no worker is there"
    reasons = [each for each in leaves if each][:_MOST_REASONS]
    return None if is_taken or not reasons else f"no worker takes it: {'; '.join(reasons)}"
