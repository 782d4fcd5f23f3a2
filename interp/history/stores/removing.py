"""Removing runs, and the texts that nothing else uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .database import Database

_AT_ONCE: Final = 500
"""How many runs are removed in one go, so that others do not wait for long."""

_TEXTS_ARE_KEPT_FOR: Final = 86400.0
"""Seconds after its last use in which no text is removed: a run may be about to use it."""


def prune(database: Database, where: str, values: Sequence[object]) -> int:
    """Remove the runs for which a condition holds, and that nobody has; returns how many.

    Args:
        database: the database.
        where: SQL of the condition.
        values: its values.
    """
    is_free = f"(owner IS NULL OR leased_until < {database.clock})"

    def remove() -> int:
        removed = database.execute(
            "DELETE FROM gram_runs WHERE id IN (SELECT id FROM gram_runs "
            f"WHERE {where} AND {is_free} LIMIT {_AT_ONCE}) AND {is_free} RETURNING id",
            *values,
        )
        remove_entries(database, [run for (run,) in removed])
        return len(removed)

    count = 0
    while removed := database.together(remove):
        count += removed
    if count:
        remove_unused_texts(database)
    return count


def remove_entries(database: Database, runs: Sequence[str]) -> None:
    """Remove the entries of runs that were removed."""
    for first in range(0, len(runs), _AT_ONCE):
        some = runs[first : first + _AT_ONCE]
        marks = ", ".join("?" * len(some))
        for table in ("gram_entries", "gram_uses"):
            database.execute(f"DELETE FROM {table} WHERE run IN ({marks})", *some)


def remove_unused_texts(database: Database) -> None:
    """Remove the texts that no run uses, and that have not been used for a while."""
    database.execute(
        f"DELETE FROM gram_texts WHERE used < {database.clock} - ? AND NOT EXISTS "
        "(SELECT 1 FROM gram_uses WHERE gram_uses.sha256 = gram_texts.sha256)",
        _TEXTS_ARE_KEPT_FOR,
    )
