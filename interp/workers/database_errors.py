"""What workers tell of: errors of the database, whether a run is why, and whether they can pass.

Postgres names the kind of an error by an SQLSTATE, whose first two characters are its class.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from gram import GramError

from ..errors import StoreError, said_by
from ..secrets import without_keys

if TYPE_CHECKING:
    import psycopg

LOGGER: Final = logging.getLogger("interp.workers")


def log_event(event: str, message: str, level: int = logging.INFO, **fields: str) -> None:
    """Log a line that names its event, and has fields such as ``run`` beside it."""
    LOGGER.log(level, "%s", message, extra={"event": event, **fields})


_OF_DATA: Final = ("22", "54")
"""A value that cannot be kept, and more than Postgres can hold."""

_STAYING: Final = {
    "42": "the user may not do this, or tables are missing or of another version",
    "0A": "this server does not know what workers need",
}
"""Classes of errors that stay until somebody changes the database, and what they mean.

Others may pass: a server that starts again, too many connections, a full disk, and a server that
is a read-only standby until it has taken over.
"""


def is_of_database(error: BaseException) -> bool:
    """Whether an error is of the database, rather than of a run or of what is recorded of it."""
    return _class_of(error) not in (None, *_OF_DATA)


def stays(error: BaseException) -> bool:
    """Whether the database would refuse the same again, until somebody changes it."""
    return _class_of(error) in _STAYING


def in_words(error: BaseException) -> str:
    """What went wrong, in one line without keys.

    What Procrastinate raises says only that it was the database; its cause says why.
    """
    return " ".join(reason_of(error).split())


def reason_of(error: BaseException) -> str:
    """What a list of runs shows of an error, without keys."""
    found = _of_driver(error)
    if found is None and isinstance(error, GramError):
        return without_keys(str(error))
    return without_keys((str(found).strip() if found else "") or said_by(found or error))


def refusal(store: str, error: BaseException) -> StoreError:
    """The error that ends a worker, because the database would refuse the same again."""
    meaning = _STAYING.get(_class_of(error) or "")
    return StoreError(f"{store}: {reason_of(error)}" + (f"\n  hint: {meaning}" if meaning else ""))


def _of_driver(error: BaseException | None) -> psycopg.Error | None:
    """The error of the driver that is behind an error of ours, or of Procrastinate's."""
    from procrastinate.exceptions import ConnectorException
    from psycopg import Error

    while isinstance(error, StoreError | ConnectorException):
        error = error.__cause__
    return error if isinstance(error, Error) else None


def _class_of(error: BaseException) -> str | None:
    """The class of the driver's error behind an error; None if another caused it."""
    from psycopg import DataError

    if (found := _of_driver(error)) is None:
        return None
    return (found.sqlstate or ("22" if isinstance(found, DataError) else ""))[:2]
