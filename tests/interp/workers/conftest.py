"""A store that workers can share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from interp import open_store
from interp.history import RunStore
from interp.workers import looking


@pytest.fixture
def store(database: str) -> Iterator[RunStore]:
    """An empty store on Postgres."""
    with open_store(database) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers in threads of the test look for work that others left as soon as they can."""
    monkeypatch.setattr(looking, "LOOK", 0.05)
