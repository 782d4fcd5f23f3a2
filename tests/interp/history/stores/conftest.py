"""Stores for tests: one on each kind of database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from interp import open_store
from interp.history import RunStore


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an empty store of each kind is."""
    if request.param == "sqlite":
        return str(tmp_path / "runs.db")
    found: str = request.getfixturevalue("database")
    return found


@pytest.fixture
def store(address: str) -> Iterator[RunStore]:
    """An empty store of each kind."""
    with open_store(address) as opened:
        yield opened
