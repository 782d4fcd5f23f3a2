"""A store in a file of its own, by the standard library's sqlite3."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from ...errors import StoreError, ValidationError
from .database import UNKEEPABLE, Database, Rows, T

_PATIENCE: Final = 10.0  # seconds in which another process may let go of the file


class SqliteDatabase(Database):
    """A file, in WAL mode: readers and one writer at a time do not wait for each other.

    What is written survives the end of the process. A machine that loses its power can lose the
    last entries (``synchronous=NORMAL``), never a part of one.

    Args:
        path: the file; it is made (mode 0600) if there is none.
    """

    clock = "((julianday('now') - 2440587.5) * 86400.0)"
    row_lock = ""  # a statement that writes has the whole file
    guard = "SELECT 1"  # a transaction has the whole file
    has_table = "SELECT 1 FROM sqlite_master WHERE name = ?"

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        self._path = path
        self._opened: tuple[int, int] | None = None

    def execute(self, sql: str, *values: object) -> Rows:
        """Carry out one statement, see `Database.execute`."""
        with self._telling(), self._using:
            return self._connected().execute(sql, values).fetchall()

    def together(self, work: Callable[[], T]) -> T:
        """Carry out all statements of some work, or none, see `Database.together`."""
        with self._telling(), self._using:
            connection = self._connected()
            if connection.in_transaction:
                return work()
            try:
                connection.execute("BEGIN IMMEDIATE")
                found = work()
                connection.execute("COMMIT")
            except BaseException:  # nothing of it is kept, then it is raised again
                self._connection = None  # an interrupt here closes it, and so ends all of it
                with suppress(sqlite3.Error):  # some failures have ended it already
                    connection.execute("ROLLBACK")
                self._connection = connection
                raise
            return found

    def _connected(self) -> sqlite3.Connection:
        if self._connection is not None and self._file() != self._opened:
            raise StoreError(f"{self.name}: the file was removed or replaced while it was in use")
        if self._connection is None:
            connection = self._new_connection()
            self._connection, self._opened = connection, self._file()
        found: sqlite3.Connection = self._connection
        return found

    def _new_connection(self) -> sqlite3.Connection:
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
        os.close(descriptor)
        if not is_file:
            raise StoreError(f"{self.name}: {_NO_STORE}")
        connection = sqlite3.connect(
            self._path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
        )
        try:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
            if tables and "gram_store" not in tables:
                raise StoreError(f"{self.name}: this is the database of another program")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
        except BaseException:  # no statement may find it half set up
            connection.close()
            raise
        return connection

    def _file(self) -> tuple[int, int] | None:
        """What tells the file from others that have its name before or later."""
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except (UnicodeError, OverflowError):
            raise ValidationError(UNKEEPABLE) from None
        except sqlite3.Error as error:
            raise StoreError(f"{self.name}: {_told(error)}") from error
        except OSError as error:
            raise StoreError(f"{self.name}: {error.strerror or error}") from error


def _told(error: sqlite3.Error) -> str:
    return _TOLD.get(str(error), str(error))


_NO_STORE: Final = (
    "the file is not a store of runs\n"
    "  hint: gram trace shows a run file, and gram runs import takes it into a store"
)
_CANNOT_WRITE: Final = "the file, or its folder, cannot be written"

_TOLD: Final = {
    "file is not a database": _NO_STORE,
    "database is locked": f"another process has kept the store locked for {_PATIENCE:.0f} seconds",
    "database or disk is full": "the disk is full",
    "disk I/O error": "the file cannot be written: is the disk full?",
    "attempt to write a readonly database": _CANNOT_WRITE,
    "unable to open database file": _CANNOT_WRITE,
    "database disk image is malformed": (
        "the file is damaged\n  hint: `sqlite3 FILE .recover` saves what can be read of it"
    ),
}
"""What is told instead of the messages of sqlite3."""
