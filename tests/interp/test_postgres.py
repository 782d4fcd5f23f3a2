"""The Postgres server that tests use."""

from __future__ import annotations

import psycopg
import pytest

from tests.interp.postgres import PostgresServer


def test_each_database_is_empty_and_dropped_in_the_end(postgres: PostgresServer) -> None:
    for _ in range(2):
        with postgres.database() as address, psycopg.connect(address) as connection:
            connection.execute("CREATE TABLE things (name text)")
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        psycopg.connect(address)


def test_what_was_committed_survives_a_crash_of_the_server(
    postgres: PostgresServer, database: str
) -> None:
    with psycopg.connect(database) as connection:
        connection.execute("CREATE TABLE things AS SELECT 7 AS number")
        connection.commit()
        postgres.restart()
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    with psycopg.connect(database) as connection:
        assert connection.execute("SELECT number FROM things").fetchone() == (7,)
