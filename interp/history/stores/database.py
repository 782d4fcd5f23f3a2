"""The databases that a store can be in: a file of SQLite, or Postgres (the extra ``postgres``).

The SQL of a store is written once. It uses ``?`` for values, and what both databases know; for the
rest, it has ``{clock}`` and ``{row_lock}``. What is longer than a line is in ``statements.sql``.
Drivers are imported when a store is opened: not every run is in one.
"""

from __future__ import annotations

import os
import re
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias, TypeVar
from urllib.parse import unquote
from weakref import WeakSet

from gram.extras import install

from ...errors import ConfigurationError, StoreError, ValidationError
from ...secrets import hide, without_keys, without_userinfo

if TYPE_CHECKING:
    import sqlite3

    import psycopg

_known: WeakSet[Any] = WeakSet()


def anew_after_fork(found: Any) -> None:
    """Have something forget in each forked process what is the parent's, by its ``after_fork``."""
    _known.add(found)


def _after_fork() -> None:
    for each in list(_known):
        each.after_fork()


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=_after_fork)


T = TypeVar("T")

Rows: TypeAlias = list[tuple[Any, ...]]

_left: list[object] = []
"""Connections of parents, which must not be closed in a process that was forked."""


def tables_of(module: str) -> list[str]:
    """The statements of the ``tables.sql`` beside a module."""
    return Path(module).with_name("tables.sql").read_text("utf-8").split(";\n")[:-1]


def statements_of(module: str, **parts: float) -> dict[str, str]:
    """The statements of the ``statements.sql`` beside a module, by the names before them."""
    text = Path(module).with_name("statements.sql").read_text("utf-8")
    for name, value in parts.items():
        text = text.replace(f"{{{name}}}", str(value))
    _, *found = re.split(r"^-- name: (\w+)\n", text, flags=re.MULTILINE)
    return dict(zip(found[::2], found[1::2], strict=True))


SQL: Final = statements_of(__file__)

_A_PAGE: Final = 100  # rows that are read at once


class Database(ABC):
    """A database that holds a store, with one connection for each process.

    Attributes:
        name: how messages name it, without a password.
        clock: SQL for the time in seconds since 1970, the same for all who use the database.
        row_lock: SQL after a SELECT that keeps others from changing its row until the end.
        guard: SQL that lets only one make the tables at a time.
        has_table: SQL that gives a row if there is a table of a name.
    """

    clock: ClassVar[str]
    row_lock: ClassVar[str]
    guard: ClassVar[str]
    has_table: ClassVar[str]

    def __init__(self, name: str) -> None:
        self.name = name
        self._connection: Any = None
        self._using = RLock()
        anew_after_fork(self)

    @abstractmethod
    def execute(self, sql: str, *values: object) -> Rows:
        """Carry out one statement; it may be carried out twice if the connection is lost.

        Args:
            sql: the statement, with ``{clock}`` and ``{row_lock}`` for those of the database.
            *values: the values of the marks ``?``, in their order.

        Raises:
            StoreError: the database cannot be reached, or refuses the statement.
        """

    def own(self, sql: str) -> str:
        """A statement as this database knows it."""
        return sql.replace("{clock}", self.clock).replace("{row_lock}", self.row_lock)

    def value(self, sql: str, *values: object) -> Any:
        """The first value that a statement gives, see `execute`; None for no row."""
        found = self.execute(sql, *values)
        return found[0][0] if found else None

    @abstractmethod
    def together(self, work: Callable[[], T]) -> T:
        """Carry out all statements that some work executes, or none; see `execute`.

        What is done together inside of other work is a part of that.
        """

    def pages(
        self, select: str, values: Sequence[object], newest: tuple[str, str], limit: int | None
    ) -> Iterator[tuple[Any, ...]]:
        """The rows of a SELECT, the newest first, read a page at a time.

        Args:
            select: the SELECT, up to the end of its conditions.
            newest: its first columns: the time of a row, and what tells rows of one time apart.
        """
        order = ", ".join(f"{each} DESC" for each in newest)
        after, last = "", tuple[Any, ...]()
        while limit is None or limit > 0:
            page = _A_PAGE if limit is None else min(_A_PAGE, limit)
            sql = f"{select}{after} ORDER BY {order} LIMIT {page}"
            rows = self.execute(sql, *values, *last[:2])
            yield from rows
            if len(rows) < page:
                return
            limit = None if limit is None else limit - page
            after, last = f" AND ({', '.join(newest)}) < (?, ?)", rows[-1]

    def close(self) -> None:
        """Close the connection; the next statement opens a new one."""
        with self._using:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    def after_fork(self) -> None:
        """Open a connection of its own; closing that of the parent would end it there."""
        _left.append(self._connection)
        self._connection = None
        self._using = RLock()

    def __del__(self) -> None:
        # a thread that was left behind may have opened it again after it was closed
        if getattr(self, "_connection", None) is not None:
            self._connection.close()


UNKEEPABLE: Final = (
    "a name or number cannot be kept in a store: names are Unicode text without lone surrogates, "
    "and numbers have at most 64 bits"
)


def kept_text(text: str) -> str:
    """A text as every database can keep it."""
    return text.encode(errors="backslashreplace").decode().replace("\0", "\\0")


_PATIENCE: Final = 10.0
"""Seconds in which a server that was lost may come back, or another process let go of a file."""
_PAUSE: Final = 0.1  # seconds between two looks

# --- Postgres

_IDLE: Final = "SET LOCAL idle_in_transaction_session_timeout = '10s'"
"""A process that stands still holds its rows for no longer: the others go on, and it begins anew.
Said in each transaction, as a pooler keeps nothing else of a session."""


class PostgresDatabase(Database):
    """A Postgres database, with one connection for each process.

    A statement whose connection is lost is carried out again on a new one. Nothing is kept in a
    session, and no statement is prepared, so that a pooler may be between.

    Args:
        address: ``postgresql://user:password@host:port/database``, or the parameters of libpq.
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
        # libpq knows it in lower case alone
        address = re.sub("(?i)^postgres(ql)?:", "postgresql:", address.strip())
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
        super().__init__(bare_address(address))
        self.address = address

    def execute(self, sql: str, *values: object) -> Rows:
        """Carry out one statement, see `Database.execute`."""

        def carry_out(connection: psycopg.Connection[Any]) -> Rows:
            if values:
                cursor = connection.execute(self.own(sql).replace("?", "%s"), values)
            else:
                cursor = connection.execute(self.own(sql))  # it may be several, with any character
            return cursor.fetchall() if cursor.description else []

        return self.connected(carry_out)

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

    def _connected(self) -> Any:
        if self._connection is None:
            import psycopg

            self._connection = psycopg.connect(
                self.address, autocommit=True, connect_timeout=10, prepare_threshold=None
            )
        return self._connection

    def _told(self, error: psycopg.Error) -> StoreError:
        return StoreError(f"{self.name}: {without_keys(str(error).strip())}")


def bare_address(address: str) -> str:
    """An address of Postgres without user, passwords and keys, also where they are parameters."""
    place, mark, given = "", "", address
    if is_url := re.match(r"\s*\w+:", address):
        place, mark, given = without_userinfo(address.strip()).partition("?")
    found = (_OF_URL if is_url else _OF_LIBPQ).finditer(given)
    kept = (each[0] for each in found if not _SECRET.fullmatch(unquote(each[1])))
    return f"{place}{mark}{''.join(kept)}".rstrip("?& ")


_OF_URL: Final = re.compile("([^&=]+)=[^&]*&?")
_OF_LIBPQ: Final = re.compile(r"(?s)([^\s=]+)\s*=\s*(?:'(?:\\.|[^'\\])*'?|(?:\\.|[^\s\\])*)\s*")
_SECRET: Final = re.compile(r"(?i)user|\w*(password|secret|_key)")


def _unreadable() -> ConfigurationError:
    return ConfigurationError(
        "the address of the Postgres store cannot be read\n"
        "  hint: it is postgresql://user:password@host:port/database, and a password has %40 for "
        "@, %2F for /, %3A for :, %3F for ? and %25 for %"
    )


# --- SQLite


class SqliteDatabase(Database):
    """A file, in WAL mode: readers and one writer at a time do not wait for each other.

    What is written survives the end of the process. A machine that loses its power can lose the
    last entries (``synchronous=NORMAL``), never a part of one.
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
            rows: Rows = self._connected().execute(self.own(sql), values).fetchall()
            return rows

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

    def _connected(self) -> Any:
        if self._connection is None:
            connection = self._new_connection()
            self._connection, self._opened = connection, self._file()
        elif self._file() != self._opened:
            raise StoreError(f"{self.name}: the file was removed or replaced while it was in use")
        return self._connection

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


# --- tables

_FORMAT: Final = 1
"""The format of the tables of stores, and of those of workers."""


def make_tables(
    database: Database, what: str, numbered: str, statements: Callable[[], Iterable[str]]
) -> None:
    """Make tables in a database that has none; those of another format are refused.

    The table ``numbered`` has the number of their format.
    """

    def found() -> int | None:
        if not database.execute(database.has_table, numbered):
            return None
        return int(database.execute(f"SELECT max(format) FROM {numbered}")[0][0] or 0)

    def make() -> None:
        database.execute(database.guard)
        if found() is None:
            database.execute(f"CREATE TABLE {numbered} (format BIGINT NOT NULL PRIMARY KEY)")
            for statement in statements():
                database.execute(statement)
            database.execute(f"INSERT INTO {numbered} (format) VALUES (?)", _FORMAT)

    if found() is None:
        database.together(make)
    if (number := found()) != _FORMAT:
        which = "a later" if number and number > _FORMAT else "another"
        raise StoreError(
            f"{database.name}: {what} has format {number}, and this version knows {_FORMAT}\n"
            f"  hint: it was written by {which} version of this package"
        )
