"""Runs of pytest in forks of one process that has imported it; see `tests.interp.forking`."""

from __future__ import annotations

import sys
from typing import NoReturn

from tests.interp.cli.forked import import_all
from tests.interp.fork_server import serve
from tests.interp.forking import Forking

PYTEST = Forking("from tests.interp.forked_pytest import serve_pytest; serve_pytest()")


def serve_pytest() -> NoReturn:
    """Import pytest and what its tests import, and fork for each run that is asked for."""
    import pytest

    import_all()
    serve(lambda: sys.exit(pytest.main()))
