"""Which database an address means."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeAlias, Union

from gram.documents import resolved
from gram.errors import expect

from ...errors import ConfigurationError, StoreError
from ...machine import ConversationContext
from ..records import RecordedRun
from .run_rows import RunFacts
from .run_store import RunStore
from .stored_run import StoredRun

StoreLike: TypeAlias = Union[RunStore, str, "os.PathLike[str]"]
"""A store, or where it is."""


def open_store(address: str | os.PathLike[str], *, must_exist: bool = False) -> RunStore:
    """Open a store of runs; close it with ``with``, or by `RunStore.close`.

    Args:
        address: the path of a file, which sqlite3 reads and writes, or the address of a Postgres
            database in which the store makes its tables: ``postgresql://…``, or parameters such as
            ``host=… dbname=…``.
        must_exist: whether a file that is missing is an error; else it is made.

    Raises:
        ConfigurationError: the address is of no known kind, or psycopg is missing.
        StoreError: the database cannot be reached, or holds something else.
    """
    expect(address, (str, os.PathLike), "address", by="open_store")
    expect(must_exist, bool, "must_exist", by="open_store")
    if address == "":
        raise ConfigurationError("the address of a store is empty")
    if isinstance(address, str) and _is_of_postgres(address):
        from .postgres import PostgresDatabase  # an extra

        return RunStore(PostgresDatabase(address))
    if isinstance(address, str) and (kind := _NO_PATH.match(address)):
        raise ConfigurationError(
            f"there is no store at {kind[1]} addresses\n"
            "  hint: give the path of a file, or postgresql://…"
        )
    path = Path(address)
    resolved(path)  # refuses what is no path
    if must_exist and not path.exists():
        raise StoreError(f"{path}: there is no store of runs")
    from .sqlite import SqliteDatabase  # imported late: not every store is a file

    return RunStore(SqliteDatabase(path))


_NO_PATH: Final = re.compile(r"(?i)\s*([a-z][a-z0-9+.:-]*://|file:|:memory:)")
_PARAMETERS: Final = re.compile(
    r"(?i)\s*(host|hostaddr|port|dbname|user|password|passfile|service|sslmode|options"
    r"|application_name|connect_timeout|target_session_attrs)\s*="
)


def _is_of_postgres(address: str) -> bool:
    return bool(re.match(r"(?i)\s*postgres(ql)?:", address) or _PARAMETERS.match(address))


@contextmanager
def opened(store: StoreLike, *, must_exist: bool = True) -> Iterator[RunStore]:
    """A store, which is opened if it is not, and then closed in the end.

    Raises:
        ConfigurationError, StoreError: see `open_store`.
    """
    if isinstance(store, RunStore):
        yield store
        return
    with open_store(store, must_exist=must_exist) as found:
        yield found


def new_run(store: StoreLike, run: str, *, conversation: str | None = None) -> StoredRun:
    """A new run of a store, which is opened if it is not, and then closed with the run.

    Args:
        store: the store.
        run: the id of the run.
        conversation: the conversation that it is a turn of, or None.

    Raises:
        ConfigurationError, StoreError: see `open_store`.
    """
    facts = RunFacts("", conversation=conversation)
    if isinstance(store, RunStore):
        return StoredRun(store, run, facts=facts)
    return StoredRun(open_store(store), run, facts=facts, closes_store=True)


def run_of(store: StoreLike, run: str) -> tuple[StoredRun, RecordedRun]:
    """Read a run of a store to go on with it, see `StoredRun.of` and `new_run`."""
    if isinstance(store, RunStore):
        return StoredRun.of(store, run)
    return StoredRun.of(open_store(store, must_exist=True), run, closes_store=True)


def context_of(store: StoreLike, conversation: str) -> ConversationContext:
    """The messages of a conversation of a store, which is opened for that if it is not."""
    with opened(store, must_exist=False) as found:
        return found.conversation(conversation).context
