"""What a store needs of a database, and its tables.

The SQL of a store is written once. It uses ``?`` for values, and what both databases know; for the
rest, it has ``{clock}`` and ``{row_lock}``. What is longer than a line is in ``statements.sql``.
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from threading import RLock
from typing import Any, ClassVar, Final, TypeAlias, TypeVar
from weakref import WeakSet

from ...errors import StoreError

_known: WeakSet[Any] = WeakSet()


def anew_after_fork(found: Any) -> None:
    """Have the ``after_fork`` of something called in each process that is forked from now on.

    It forgets what belongs to the parent: its locks, its claims, its connection.
    """
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
    """The statements of the ``statements.sql`` beside a module, by the names before them.

    Args:
        module: the file of the module.
        **parts: what stands for a name in braces.
    """
    text = Path(module).with_name("statements.sql").read_text("utf-8")
    for name, value in parts.items():
        text = text.replace(f"{{{name}}}", str(value))
    _, *found = re.split(r"^-- name: (\w+)\n", text, flags=re.MULTILINE)
    return dict(zip(found[::2], found[1::2], strict=True))


SQL: Final = statements_of(__file__)


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
            *values: what the marks ``?`` in it stand for.

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


_A_PAGE: Final = 100


def in_pages(
    database: Database,
    select: str,
    values: Sequence[object],
    newest: tuple[str, str],
    limit: int | None,
) -> Iterator[tuple[Any, ...]]:
    """The rows of a SELECT, the newest first, a page at a time.

    Args:
        database: the database.
        select: the SELECT, up to the end of its conditions; it begins with those of `newest`.
        values: its values.
        newest: the column with the time of a row, and one that tells rows of one time apart.
        limit: how many rows at most; None for all.
    """
    order = ", ".join(f"{each} DESC" for each in newest)
    after, last = "", tuple[Any, ...]()
    while limit is None or limit > 0:
        page = _A_PAGE if limit is None else min(_A_PAGE, limit)
        rows = database.execute(
            f"{select}{after} ORDER BY {order} LIMIT {page}", *values, *last[:2]
        )
        yield from rows
        if len(rows) < page:
            return
        limit = None if limit is None else limit - page
        after, last = f" AND ({', '.join(newest)}) < (?, ?)", rows[-1]


UNKEEPABLE: Final = (
    "a name or number cannot be kept in a store: names are Unicode text without lone surrogates, "
    "and numbers have at most 64 bits"
)


def kept_text(text: str) -> str:
    """A text as every database can keep it."""
    return text.encode(errors="backslashreplace").decode().replace("\0", "\\0")


def make_tables(
    database: Database,
    what: str,
    numbered: str,
    known: int,
    statements: Callable[[], Iterable[str]],
) -> None:
    """Make tables in a database that has none; those of another format are refused.

    Args:
        database: the database.
        what: how messages name what is in the tables.
        numbered: the table that has the number of their format.
        known: the number that this version writes.
        statements: gives the statements that make the tables.

    Raises:
        StoreError: the database cannot be used, or its tables have another format.
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
            database.execute(f"INSERT INTO {numbered} (format) VALUES (?)", known)

    if found() is None:
        database.together(make)
    if (number := found()) != known:
        which = "a later" if number and number > known else "another"
        raise StoreError(
            f"{database.name}: {what} has format {number}, and this version knows {known}\n"
            f"  hint: it was written by {which} version of this package"
        )


_FORMAT: Final = 1


def has_store(database: Database) -> bool:
    """Whether a database has the tables of a store, of whatever format.

    Raises:
        StoreError: the database cannot be used.
    """
    return bool(database.execute(database.has_table, "gram_store"))


def make_store(database: Database) -> None:
    """Make the tables of a store, where there are none.

    Raises:
        StoreError: the database cannot be used, or has a store of another format.
    """
    make_tables(database, "the store", "gram_store", _FORMAT, lambda: tables_of(__file__))
