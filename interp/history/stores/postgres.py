"""A store in a Postgres database, by psycopg (the extra ``postgres``)."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final

from gram.extras import install

from ...errors import ConfigurationError, StoreError, ValidationError
from ...secrets import hide, without_keys
from .database import UNKEEPABLE, Database, Rows, T

if TYPE_CHECKING:
    import psycopg

_PATIENCE: Final = 10.0  # seconds in which a database that was lost may come back
_PAUSE: Final = 0.1  # seconds between two looks
_PORTS: Final = 65536
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
        if ":" in address.partition("=")[0]:  # libpq knows postgresql:// in lower case alone
            scheme, colon, rest = address.partition(":")
            address = f"{scheme.lower()}{colon}{rest}"
        try:
            parts: dict[str, Any] = conninfo_to_dict(address)
        except psycopg.Error:  # what it says may have parts of the password
            raise _unreadable() from None
        ports = str(parts.get("port") or "1").split(",")
        if "@" in f"{parts.get('host')}{ports}{parts.get('dbname')}":
            raise _unreadable()  # they hold the end of a password
        if not all(each.isdecimal() and 0 < int(each) < _PORTS for each in ports):
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
        return self.connected(lambda connection: _carried_out(connection, sql, values))

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

        until = 0.0  # counted from the loss, as a process may have been stopped before
        with self._using:
            if (outer := self._connection) and _is_in_transaction(outer):
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


def _is_in_transaction(connection: psycopg.Connection[Any]) -> bool:
    from psycopg.pq import TransactionStatus

    found = connection.info.transaction_status
    return found in (TransactionStatus.INTRANS, TransactionStatus.INERROR)


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
