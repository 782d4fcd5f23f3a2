"""Where runs are kept: an address is a run file, a store in a file, or a database on Postgres.

One run of it is ``ADDRESS#ID``. Everything that reads or writes runs opens them here.
"""

from __future__ import annotations

import os
import re
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from shlex import quote
from typing import Final, TypeAlias, Union

from attrs import frozen

from gram.documents import resolved
from gram.errors import expect
from gram.words import did_you_mean

from ...errors import ConfigurationError, StoreError
from ...execution import RunLog
from ..records import PathLike, RecordedRun, RunFile, load_turns, turn_named
from .database import PostgresDatabase, SqliteDatabase, bare_address
from .run_store import RunStore
from .stored_run import StoredRun

StoreLike: TypeAlias = Union[RunStore, PathLike]
"""A store, or where it is."""

RecordLike: TypeAlias = Union[RunLog, RunStore, PathLike]
"""What a run is recorded in: an address, an open store, or a log."""

_START_OF_SQLITE: Final = b"SQLite format 3\0"
_SUFFIXES: Final = (".db", ".sqlite", ".sqlite3")
"""The ends of the names of files that are made as stores."""

_ONE_RUN: Final = re.compile(r"(.+)#([\w.:@/+-]+)", re.DOTALL)
_NO_PATH: Final = re.compile(
    r"(?i)\s*([a-z][a-z0-9+.:-]*://|postgres(?:ql)?//|:memory:"
    r"|(?:file|sqlite3?|mysql|mariadb|redis|mongodb|s3|gs|jdbc|https?|ftp|ssh):)"
)
_PARAMETERS: Final = re.compile(
    r"(?i)\s*(host|hostaddr|port|dbname|user|password|passfile|service|sslmode|options"
    r"|application_name|connect_timeout|target_session_attrs)\s*="
)


@frozen
class Address:
    """Where runs are kept, and which of them is meant.

    Attributes:
        place: the path of a file, or the address of a database.
        run: the id of a run, or the beginning of it; "" for none.
    """

    place: str
    run: str = ""

    @classmethod
    def of(cls, given: PathLike) -> Address:
        """Read an address.

        >>> Address.of("runs.db#4f2a")
        Address(place='runs.db', run='4f2a')

        Raises:
            ConfigurationError: it is empty, or of no known kind.
        """
        text = os.fspath(given)
        if not text.strip():
            raise ConfigurationError("the address is empty: it is a file, or postgresql://…")
        if os.path.lexists(text):
            return cls(text)
        if text.startswith("#") or text.endswith("#"):
            raise ConfigurationError(
                f"the address {text} has nothing {'before' if text.startswith('#') else 'after'} "
                "the #\n  hint: one run is ADDRESS#ID, such as runs.db#4f2a"
            )
        named = _ONE_RUN.fullmatch(text)
        found = cls(named[1], named[2]) if named else cls(text)
        if not found.is_database and (kind := _NO_PATH.match(found.place)):
            raise ConfigurationError(
                f"no runs are kept at {kind[1]} addresses\n"
                "  hint: give the path of a file, or postgresql://…"
            )
        return found

    def __str__(self) -> str:
        """The address without user and password."""
        place = bare_address(self.place) if self.is_database else self.place
        return f"{place}#{self.run}" if self.run else place

    @property
    def is_database(self) -> bool:
        """Whether it is the address of a database on Postgres."""
        of_postgres = re.match(r"(?i)\s*postgres(ql)?:", self.place)
        return bool(of_postgres or _PARAMETERS.match(self.place))

    @property
    def is_store(self) -> bool:
        """Whether many runs are kept there: it is a database, or a file that is a store."""
        if self.is_database:
            return True
        path = Path(self.place)
        start = b""
        if path.is_file():
            with path.open("rb") as file:
                start = file.read(len(_START_OF_SQLITE))
        if start.startswith(b"[:Run"):
            return False
        return start == _START_OF_SQLITE or path.suffix.lower() in _SUFFIXES


def open_store(address: PathLike, *, must_exist: bool = False) -> RunStore:
    """Open a store of runs; close it with ``with``, or by `RunStore.close`.

    Args:
        address: the path of a file, which sqlite3 reads and writes, or a Postgres database in
            which the store makes its tables: ``postgresql://…``, or ``host=… dbname=…``.
        must_exist: whether it is an error that there is no store; else one is made.

    Raises:
        ConfigurationError: the address is of no known kind, or psycopg is missing.
        StoreError: the database cannot be reached, or holds something else.
    """
    expect(address, (str, os.PathLike), "address", by="open_store")
    expect(must_exist, bool, "must_exist", by="open_store")
    found = Address.of(address)
    if found.is_database:
        database = PostgresDatabase(found.place)
        if must_exist and not database.execute(database.has_table, "gram_store"):
            database.close()
            raise StoreError(f"{database.name}: {_NO_STORE}")
        return RunStore(database)
    path = Path(os.fspath(address))
    resolved(path)  # refuses what is no path
    if must_exist and not path.exists():
        raise StoreError(f"{path}: {_NO_STORE}")
    return RunStore(SqliteDatabase(path))


def store_of_a_run(address: PathLike, *, must_exist: bool = False) -> RunStore:
    """Open a store for one run alone, between whose parts it is closed; see `open_store`."""
    store = open_store(address, must_exist=must_exist)
    store.rests = True
    return store


_NO_STORE: Final = "there is no store of runs"


def opened(store: StoreLike, *, must_exist: bool = True) -> AbstractContextManager[RunStore]:
    """A store, which is opened if it is not, and then closed in the end."""
    if isinstance(store, RunStore):
        return nullcontext(store)
    return open_store(store, must_exist=must_exist)


def new_log(record: RecordLike) -> RunLog:
    """What a new run is recorded in."""
    if isinstance(record, RunStore):
        return StoredRun(record)
    if not isinstance(record, (str, os.PathLike)):
        return record
    address = Address.of(record)
    if address.run:
        raise ConfigurationError(f"{address} names one run; a new run needs {address.place} alone")
    if address.is_store:
        return StoredRun(store_of_a_run(address.place))
    return RunFile(address.place)


def open_run(run: PathLike, record: StoreLike | None = None) -> tuple[RunLog, RecordedRun]:
    """Read a run by its address, or by its id in a record, to go on with it there.

    Raises:
        OSError: the file cannot be read.
        StoreError: there is no such run, or the store cannot be read.
        GramDecodeError, ValidationError, ReplayError: what is recorded is no run.
    """
    store, address = place_of_run(run, record, by="open_run")
    if store is None:
        return RunFile.of(address.place, address.run)
    found = store if isinstance(store, RunStore) else store_of_a_run(store, must_exist=True)
    return StoredRun.of(found, run_named(found, address.run))


def load_run(run: PathLike, record: StoreLike | None = None) -> RecordedRun:
    """Read a run, to look at it or to replay it: the last turn of a file; see `open_run`."""
    return load_runs(run, record)[-1]


def load_runs(run: PathLike, record: StoreLike | None = None) -> tuple[RecordedRun, ...]:
    """Read a run, or all turns of a file; see `load_run`."""
    store, address = place_of_run(run, record, by="load_run")
    if store is None:
        runs = load_turns(address.place).runs
        return (turn_named(runs, address.run, address.place),) if address.run else runs
    with opened(store) as found:
        return (found.recorded(run_named(found, address.run)),)


def place_of_run(
    run: PathLike, record: StoreLike | None, *, by: str
) -> tuple[StoreLike | None, Address]:
    """The store that a run is in, or None for a file; and its address. See `open_run`."""
    expect(run, (str, os.PathLike), "run", by=by)
    expect(record, (RunStore, str, os.PathLike, type(None)), "record", by=by)
    if isinstance(record, RunStore):
        return record, Address(record.name, os.fspath(run))
    address = address_of_run(run, record)
    return address.place if address.is_store else None, address


def address_of_run(run: PathLike, record: PathLike | None) -> Address:
    """The address of a run that is named by its address, or by its id in a record."""
    address = Address.of(run)
    is_path = Path(address.place).suffix in (".gram", *_SUFFIXES)
    is_address = is_path or address.run or address.is_database or os.path.lexists(address.place)
    if is_address or record is None:
        return address
    return Address(Address.of(record).place, address.place)


def run_named(store: RunStore, run: str) -> str:
    """The id of the run of a store that begins with a text, which may be empty."""
    if run:
        with suppress(StoreError):
            return store.row(run).id
    found = [row.id for row in store.rows(beginning=run, limit=3)]
    if len(found) == 1:
        return found[0]
    listing = f"`gram runs list --record {quote(store.name)}` shows those that there are"
    if found and not run:
        raise StoreError(f"{store.name} has several runs: write {store.name}#ID\n  hint: {listing}")
    if found:
        raise StoreError(f"several runs of {store.name} begin with {run}: {', '.join(found)}")
    recent = [row.id for row in store.rows(limit=1000)]  # enough to find a slip
    what = f"run {run}" if run else "run"
    raise StoreError(
        f"{store.name}: there is no {what}\n  hint: {did_you_mean(run, recent) or listing}"
    )
