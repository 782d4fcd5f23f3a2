"""What a store needs of a database.

The SQL of a store is written once. It uses ``?`` for values, and what both databases know; the
rest is here: the clock, and the lock of a row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol, TypeAlias, TypeVar

T = TypeVar("T")

Rows: TypeAlias = list[tuple[Any, ...]]

Execute: TypeAlias = Callable[..., Rows]
"""Carries out a statement with its values, and gives the rows that it returns."""


class Database(Protocol):
    """A database that holds a store.

    Attributes:
        name: how messages name it, without a password.
        clock: SQL for the time in seconds since 1970, the same for all who use the database.
        row_lock: SQL after a SELECT that keeps others from changing its row until the end.
        guard: SQL that lets only one make the tables at a time.
        has_table: SQL that gives a row if there is a table of a name.
        unwaited: SQL in a FROM that has the end of a statement not wait for the disk.
    """

    name: str
    clock: str
    row_lock: str
    guard: str
    has_table: str
    unwaited: str

    def execute(self, sql: str, *values: object) -> Rows:
        """Carry out one statement; it may be carried out twice if the connection is lost.

        Raises:
            StoreError: the database cannot be reached, or refuses the statement.
        """

    def together(self, work: Callable[[Execute], T]) -> T:
        """Carry out several statements, all or none; see `execute`."""

    def close(self) -> None:
        """Close the connection; the next statement opens a new one."""


UNKEEPABLE: Final = (
    "a name or number cannot be kept in a store: names are Unicode text without lone surrogates, "
    "and numbers have at most 64 bits"
)
