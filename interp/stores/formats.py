"""Tables that have a format, and how those of an older format are brought up to date.

The format has a number. Tables of a lower one are changed when they are opened, in one transaction;
those of a higher one are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from ..errors import StoreError
from .database import Database, Execute


@frozen
class TableFormat:
    """What the tables of a database have to be like.

    Attributes:
        name: how messages name what is in them.
        numbered: the table that has the number of their format.
        steps: what leads from each format to the next; the first makes the tables. Their number
            is that of the format that this version uses.
    """

    name: str
    numbered: str
    steps: Sequence[Callable[[Execute], None]]

    def make(self, database: Database) -> None:
        """Make the tables in a database, or bring older ones up to date.

        Raises:
            StoreError: the database cannot be used, or has tables of a later format.
        """
        if self._found(database.execute, database) != len(self.steps):
            database.together(lambda execute: self._bring_up_to_date(execute, database))

    def _bring_up_to_date(self, execute: Execute, database: Database) -> None:
        execute(database.guard)
        found, known = self._found(execute, database), len(self.steps)
        if found > known:
            raise StoreError(
                f"{database.name}: {self.name} has format {found}, and this version knows {known}\n"
                "  hint: it was written by a later version of this package"
            )
        for step in self.steps[found:]:
            step(execute)
        execute(f"DELETE FROM {self.numbered}")
        execute(f"INSERT INTO {self.numbered} (format) VALUES (?)", known)

    def _found(self, execute: Execute, database: Database) -> int:
        """The format of the tables in a database; 0 if there are none."""
        if not execute(database.has_table, self.numbered):
            return 0
        return int(execute(f"SELECT max(format) FROM {self.numbered}")[0][0] or 0)
