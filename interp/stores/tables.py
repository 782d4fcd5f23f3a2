"""The tables of a store."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from .database import Execute
from .formats import TableFormat
from .heads import hashes_in

_FIRST: Final = (
    "CREATE TABLE gram_store (format BIGINT NOT NULL PRIMARY KEY)",
    """
    CREATE TABLE gram_runs (
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
    "CREATE INDEX gram_runs_created ON gram_runs (created, id)",
    "CREATE INDEX gram_runs_status ON gram_runs (status, created)",
    """
    CREATE TABLE gram_entries (
        run TEXT NOT NULL,
        seq BIGINT NOT NULL,
        fence BIGINT NOT NULL,
        text TEXT NOT NULL,
        PRIMARY KEY (run, seq)
    )
    """,
    "CREATE INDEX gram_runs_turns ON gram_runs (conversation, created)",
    """
    CREATE TABLE gram_conversations (
        name TEXT NOT NULL PRIMARY KEY,
        size BIGINT NOT NULL,
        run TEXT NOT NULL
    )
    """,
    """
    CREATE TABLE gram_messages (
        conversation TEXT NOT NULL,
        seq BIGINT NOT NULL,
        text TEXT NOT NULL,
        PRIMARY KEY (conversation, seq)
    )
    """,
    """
    CREATE TABLE gram_texts (
        sha256 TEXT NOT NULL PRIMARY KEY,
        text TEXT NOT NULL,
        used DOUBLE PRECISION NOT NULL
    )
    """,
)


_SECOND: Final = (
    """
    CREATE TABLE gram_uses (
        run TEXT NOT NULL,
        sha256 TEXT NOT NULL,
        PRIMARY KEY (run, sha256)
    )
    """,
    "CREATE INDEX gram_uses_text ON gram_uses (sha256)",
    "CREATE INDEX gram_texts_used ON gram_texts (used, sha256)",
    "DROP INDEX gram_runs_status",
    "DROP INDEX gram_runs_turns",
    "CREATE INDEX gram_runs_status ON gram_runs (status, created, id)",
    "CREATE INDEX gram_runs_turns ON gram_runs (conversation, created, id)",
    "CREATE INDEX gram_runs_agent ON gram_runs (agent, created, id)",
    "CREATE INDEX gram_runs_tenant ON gram_runs (tenant, created, id)",
    "ALTER TABLE gram_conversations ADD COLUMN changed DOUBLE PRECISION NOT NULL DEFAULT 0",
    "UPDATE gram_conversations SET changed = COALESCE((SELECT max(gram_runs.changed) "
    "FROM gram_runs WHERE conversation = name), 0)",
    "CREATE INDEX gram_conversations_changed ON gram_conversations (changed, name)",
)

_A_PAGE: Final = 1000


def _make_first(execute: Execute) -> None:
    for statement in _FIRST:
        execute(statement)


def _make_second(execute: Execute) -> None:
    """Which runs use a text, so that pruning need not read all; when conversations changed."""
    for statement in _SECOND:
        execute(statement)
    last = ""
    while heads := execute(
        "SELECT run, text FROM gram_entries WHERE seq = 0 AND run > ? "
        f"ORDER BY run LIMIT {_A_PAGE}",
        last,
    ):
        for run, own in heads:
            with suppress(ValueError, TypeError):  # it was changed; it cannot be read anyway
                add_uses(execute, run, hashes_in(own))
        last = heads[-1][0]


STORE: Final = TableFormat("the store", "gram_store", (_make_first, _make_second))
"""The tables of a store."""


def add_uses(execute: Execute, run: str, hashes: Iterable[str]) -> None:
    """Say that the first entry of a run has texts that are kept by their hashes."""
    for sha256 in hashes:
        execute(
            "INSERT INTO gram_uses (run, sha256) VALUES (?, ?) ON CONFLICT DO NOTHING", run, sha256
        )
