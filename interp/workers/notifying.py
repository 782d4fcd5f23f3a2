"""Telling the workers of a store what was done with a run; without it they find it later."""

from __future__ import annotations

from ..stores import PostgresDatabase, StoreLike, opened


def tell_workers(store: StoreLike, run: str) -> None:
    """Have workers go on with a run that can go on, or with what waited for one that has ended.

    Args:
        store: any store, or where it is.
        run: the id of the run.

    Raises:
        StoreError: the store cannot be written.
    """
    with opened(store) as found:
        if isinstance(found.database, PostgresDatabase):  # a store in a file has no workers
            from .telling import put_again  # imported late: it loads what drives runs

            put_again(found, run)
