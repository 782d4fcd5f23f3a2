"""A store that workers can share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from interp import open_store
from interp.history import RunStore


@pytest.fixture
def store(database: str) -> Iterator[RunStore]:
    """An empty store on Postgres."""
    with open_store(database) as opened:
        yield opened
