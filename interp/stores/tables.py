"""The tables of a store, and the version of their form."""

from __future__ import annotations

from typing import Final

from ..errors import StoreError
from .database import Database, Execute

FORMAT: Final = 1
"""The version of the form of the tables."""

TABLES: Final = (
    "CREATE TABLE IF NOT EXISTS gram_store (format BIGINT NOT NULL PRIMARY KEY)",
    """
    CREATE TABLE IF NOT EXISTS gram_runs (
        id TEXT NOT NULL PRIMARY KEY,
        status TEXT NOT NULL,
        agent TEXT NOT NULL,
        model TEXT NOT NULL,
        filename TEXT NOT NULL,
        program TEXT NOT NULL,
        parent TEXT,
        tenant TEXT,
        conversation TEXT,
        messages BIGINT,
        priority BIGINT NOT NULL,
        created DOUBLE PRECISION NOT NULL,
        changed DOUBLE PRECISION NOT NULL,
        fence BIGINT NOT NULL,
        owner TEXT,
        leased_until DOUBLE PRECISION NOT NULL,
        input_tokens BIGINT,
        output_tokens BIGINT,
        reason TEXT
    )
    """,
    "CREATE INDEX IF NOT EXISTS gram_runs_created ON gram_runs (created, id)",
    "CREATE INDEX IF NOT EXISTS gram_runs_status ON gram_runs (status, created)",
    """
    CREATE TABLE IF NOT EXISTS gram_entries (
        run TEXT NOT NULL,
        seq BIGINT NOT NULL,
        fence BIGINT NOT NULL,
        text TEXT NOT NULL,
        PRIMARY KEY (run, seq)
    )
    """,
    "CREATE INDEX IF NOT EXISTS gram_runs_turns ON gram_runs (conversation, created)",
    """
    CREATE TABLE IF NOT EXISTS gram_conversations (
        name TEXT NOT NULL PRIMARY KEY,
        size BIGINT NOT NULL,
        run TEXT NOT NULL
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS gram_messages (
        conversation TEXT NOT NULL,
        seq BIGINT NOT NULL,
        text TEXT NOT NULL,
        PRIMARY KEY (conversation, seq)
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS gram_texts (
        sha256 TEXT NOT NULL PRIMARY KEY,
        text TEXT NOT NULL,
        used DOUBLE PRECISION NOT NULL
    )
    """,
)


def make_tables(database: Database) -> None:
    """Make the tables of a store in a database that does not have them.

    Raises:
        StoreError: the database cannot be used, or holds a store of another format.
    """

    def make(execute: Execute) -> None:
        execute(database.guard)
        for statement in TABLES:
            execute(statement)
        execute(
            "INSERT INTO gram_store (format) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM gram_store)",
            FORMAT,
        )
        (found,) = execute("SELECT max(format) FROM gram_store")[0]
        if found != FORMAT:
            raise StoreError(
                f"{database.name}: the store has format {found}, and this version knows {FORMAT}\n"
                "  hint: it was written by another version of this package"
            )

    database.together(make)
