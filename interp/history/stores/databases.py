"""The databases that a store can be in: a file of SQLite, or Postgres (the extra ``postgres``).

Their drivers are imported when a store is opened: not every run is in one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final

from gram.extras import install

from ...errors import ConfigurationError, StoreError, ValidationError
from ...secrets import hide, without_keys
from .database import UNKEEPABLE, Database, Rows, T

if TYPE_CHECKING:
    import sqlite3

    import psycopg

_PATIENCE: Final = 10.0
"""Seconds in which a server that was lost may come back, or another process let go of a file."""
_PAUSE: Final = 0.1  # seconds between two looks

# --- Postgres

_IDLE: Final = "SET LOCAL idle_in_transaction_session_timeout = '10s'"
"""A process that stands still holds its rows for no longer: the others go on, and it begins anew.
Said in each transaction, as a pooler keeps nothing else of a session."""


class PostgresDatabase(Database):
    """A Postgres database, with one connection for each process.

    A statement whose connection is lost is carried out again on a new one; so it may be carried out
    twice. Entries that were written are on the server's disk. Nothing is kept in a session, and no
    statement is prepared, so that a pooler may be between.

    Args:
        address: ``postgresql://user:password@host:port/database``, or the parameters of libpq,
            such as ``host=… password=…``.

    Attributes:
        name: how messages name it, without the password.

    Raises:
        ConfigurationError: psycopg is not installed, or the address cannot be read.
    """

    clock = "extract(epoch FROM clock_timestamp())::double precision"
    row_lock = " FOR UPDATE"
    guard = "SELECT pg_advisory_xact_lock(7341955620)"
    has_table = (  # to_regclass may not know yet what another process has just made
        "SELECT 1 FROM pg_catalog.pg_tables "
        "WHERE tablename = ? AND schemaname = ANY (current_schemas(false))"
    )

    def __init__(self, address: str) -> None:
        try:
            import psycopg
            from psycopg.conninfo import conninfo_to_dict
        except ImportError:
            raise ConfigurationError(
                f"a store on Postgres needs psycopg\n  hint: {install('postgres')}"
            ) from None
        address = address.strip()
        try:
            parts: dict[str, Any] = conninfo_to_dict(address)
        except psycopg.Error:  # what it says may have parts of the password
            raise _unreadable() from None
        ports = str(parts.get("port") or "1").split(",")
        if "@" in f"{parts.get('host')}{ports}{parts.get('dbname')}":
            raise _unreadable()  # they hold the end of a password
        if not all(each.isdecimal() and 0 < int(each) < 65536 for each in ports):
            raise _unreadable()
        self._hidden = hide(parts.get("password"))
        host, port, database = (parts.get(key) for key in ("host", "port", "dbname"))
        served, asked = f"{host or ''}{f':{port}' if port else ''}", ""
        if host and host.startswith("/"):  # a socket, which a name in front of the path cannot be
            served, asked = "", f"?host={host}{f'&port={port}' if port else ''}"
        super().__init__(f"postgresql://{served}/{database or ''}{asked}")
        self.address = address

    def execute(self, sql: str, *values: object) -> Rows:
        """Carry out one statement, see `Database.execute`."""
        return self.connected(lambda connection: _carried_out(connection, self.own(sql), values))

    def together(self, work: Callable[[], T]) -> T:
        """Carry out all statements of some work, or none, see `Database.together`."""

        def carry_out(connection: psycopg.Connection[Any]) -> T:
            with connection.transaction():
                connection.execute(_IDLE)
                return work()

        return self.connected(carry_out)

    def connected(self, carry_out: Callable[[psycopg.Connection[Any]], T]) -> T:
        """Call a function with the connection; again with a new one, if that one is lost.

        Inside of `together` all of that is done again.

        Raises:
            StoreError: the database cannot be reached, or refuses a statement.
        """
        import psycopg
        from psycopg.errors import IdleInTransactionSessionTimeout
        from psycopg.pq import TransactionStatus

        inside = (TransactionStatus.INTRANS, TransactionStatus.INERROR)
        until = 0.0  # counted from the loss, as a process may have been stopped before
        with self._using:
            if (outer := self._connection) and outer.info.transaction_status in inside:
                return carry_out(outer)
            is_first = outer is None
            while True:
                try:
                    return carry_out(self._connected())
                except (psycopg.OperationalError, IdleInTransactionSessionTimeout) as error:
                    until = until or monotonic() + _PATIENCE
                    is_lost = self._connection is None or self._connection.closed
                    if not is_lost or is_first or monotonic() > until:
                        raise self._told(error) from error
                    self.close()
                    sleep(_PAUSE)
                except (UnicodeError, OverflowError):
                    raise ValidationError(UNKEEPABLE) from None
                except psycopg.Error as error:
                    raise self._told(error) from error

    def _connected(self) -> psycopg.Connection[Any]:
        if self._connection is None:
            import psycopg

            self._connection = psycopg.connect(
                self.address, autocommit=True, connect_timeout=10, prepare_threshold=None
            )
        connection: psycopg.Connection[Any] = self._connection
        return connection

    def _told(self, error: psycopg.Error) -> StoreError:
        return StoreError(f"{self.name}: {without_keys(str(error).strip())}")


def _unreadable() -> ConfigurationError:
    return ConfigurationError(
        "the address of the Postgres store cannot be read\n"
        "  hint: it is postgresql://user:password@host:port/database, and a password has %40 for "
        "@, %2F for /, %3A for :, %3F for ? and %25 for %"
    )


def _carried_out(connection: psycopg.Connection[Any], sql: str, values: tuple[object, ...]) -> Rows:
    if values:
        cursor = connection.execute(sql.replace("?", "%s"), values)
    else:
        cursor = connection.execute(sql)  # several statements may be in it, and any character
    return cursor.fetchall() if cursor.description else []


# --- SQLite


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
            return self._connected().execute(self.own(sql), values).fetchall()

    def together(self, work: Callable[[], T]) -> T:
        """Carry out all statements of some work, or none, see `Database.together`."""
        import sqlite3

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
        import sqlite3

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
        import sqlite3

        try:
            yield
        except (UnicodeError, OverflowError):
            raise ValidationError(UNKEEPABLE) from None
        except sqlite3.Error as error:
            raise StoreError(f"{self.name}: {_TOLD.get(str(error), error)}") from error
        except OSError as error:
            raise StoreError(f"{self.name}: {error.strerror or error}") from error


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
