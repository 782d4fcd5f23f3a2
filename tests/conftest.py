"""Fixtures that all tests share, and an environment without keys or a way out."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.database import DirectoryBasedExampleDatabase

from gram import Pattern
from tests.interp.model_server import ModelServer, serving
from tests.paths import DATA, EXAMPLES, ROOT

if TYPE_CHECKING:
    from tests.interp.postgres import PostgresServer

# Machines differ and may be busy: how long an example takes is no failure. The same examples are
# tried each time, so that a change is judged by what it changes; `search` tries new ones. Nearly
# the same: constants of the modules that a process has imported are drawn, too. So it is a failure
# in `search` alone how many examples are filtered.
settings.register_profile(
    "default",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    derandomize=True,
    max_examples=25,
    database=None,
)
settings.register_profile(
    "search",
    settings.get_profile("default"),
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=False,
    database=DirectoryBasedExampleDatabase(ROOT / ".hypothesis" / "examples"),
    max_examples=1000,
    print_blob=True,
)
settings.load_profile("default")

# No test trusts an authority of the network: a client that loads these takes as long as ten tests.
os.environ["SSL_CERT_FILE"] = str(DATA / "localhost.pem")

# A shell that runs the tests in the background has them ignore Ctrl-C, and so all they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# What has tests that wait for long, for processes and for leases, and use little of a core.
LONG_WAITS = ("tests/interp/workers/", "tests/interp/history/stores/test_crashes.py")


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """One process more than there are cores: while one waits, as many as there are cores run."""
    processes = yield
    return processes if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else processes + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that wait for long begin first: one process has them while others use the cores."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONG_WAITS))


gc.disable()  # until all tests are collected


def pytest_collection_finish() -> None:
    """What was imported stays: no test that collects garbage looks through it again."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True, scope="session")
def _no_keys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test finds a key, an address of a model or a user's own files in the environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.getbasetemp() / "no-home"))
        patch.delenv("GRAM_RECORD", raising=False)
        for variable in list(os.environ):
            if variable.endswith(("_API_KEY", "_BASE_URL", "_DIALECT")):
                patch.delenv(variable)
        yield


@pytest.fixture
def model_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A local server that answers as OpenAI's models would."""
    with serving() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test-key")
        yield server


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A Postgres server, started for the first test of this process that asks for it."""
    from tests.interp.postgres import serving_postgres

    with serving_postgres() as server:
        yield server


@pytest.fixture
def database(postgres: PostgresServer) -> Iterator[str]:
    """The address of an empty Postgres database that no other test uses."""
    with postgres.database() as address:
        yield address


@pytest.fixture(scope="session")
def forks() -> None:
    """The process that does imports is there, for commands that others start."""
    from tests.interp.forking import Forking

    Forking.start()


@pytest.fixture
def hello_world() -> Pattern:
    """The agent of the hello-world example."""
    from interp import load

    return load(EXAMPLES / "hello_world.gram")
