"""Where runs are kept, as commands are told: ``--record``, ``GRAM_RECORD``, or the user's store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import click

from ...history.records import RecordedRun, read_turns
from ...history.stores import Address, RunStore, address_of_run, load_runs, open_store, run_named
from ...machine import At
from ..terminal.console import expect_a_name, forbid, state_folder
from .declaring import option
from .files import STDIN, read_text
from .project import record_of_project

VARIABLE: Final = "GRAM_RECORD"

OLDEST: Final = timedelta(days=90)
"""What is kept by habit is removed when it has not changed for so long."""

LARGEST: Final = 256 * 2**20
"""The bytes of what is kept by habit; the oldest is removed first."""


def own_store() -> Path:
    """The user's own store, in which conversations are kept by habit."""
    return state_folder() / "runs.db"


def default_record() -> str:
    """Where runs are kept that no option says it of."""
    return named_record() or str(own_store())


def named_record() -> str | None:
    """Where the environment or the project keeps runs, if they name it."""
    project = record_of_project()
    return os.environ.get(VARIABLE) or (project if isinstance(project, str) else None)


def _named(_: click.Context, __: click.Parameter, record: str | None) -> str | None:
    expect_a_name(record, "--record")
    return record


def _store_named(context: click.Context, option: click.Parameter, record: str | None) -> str:
    store = _named(context, option, record) or default_record()
    expect_no_run(Address.of(store))
    return store


def expect_no_run(address: Address) -> None:
    """Refuse the address of a run where a store is meant."""
    forbid(address.run, f"{address} is one run, and this is for stores: leave #{address.run} out")


def _queue_named(context: click.Context, option: click.Parameter, record: str | None) -> str:
    store = _store_named(context, option, record)
    if Address.of(store).is_database and not find_spec("procrastinate"):
        from ...workers import expect_procrastinate  # late: a worker may be told to stop meanwhile

        expect_procrastinate()  # before psycopg is missed, which comes with it
    return store


_RECORD: Any = {"name": "--record", "envvar": VARIABLE, "show_envvar": True}

store_option: Any = option(
    "Where runs are kept: a file, or a database on Postgres; your own store by default.",
    "FILE|postgresql://…",
    callback=_store_named,
    **_RECORD,
)
"""The option for the store of a command that names no run."""

queue_option: Any = option(
    "Where runs are kept that workers take: a database on Postgres.",
    "postgresql://…",
    callback=_queue_named,
    **_RECORD,
)
"""The option for the store of a command that is about workers."""

record_option: Any = option(
    "Keep what is said: in a new file, best named *.run.gram, or in a store, such as runs.db or "
    "postgresql://…; gram resume, replay and trace read it.",
    "FILE|STORE",
    callback=_named,
    **_RECORD,
)


def position(text: str) -> At:
    """A position in a run as traces show it, such as ``0.1`` or ``writer.0.0``."""
    return tuple(int(part) if part.isdecimal() else part for part in text.split("."))


def moment(time: datetime) -> str:
    """A time as tables show it, in the user's zone."""
    return time.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def named_runs(run: str) -> tuple[RecordedRun, ...]:
    """Read the run that an argument means, or all turns of a file; ``-`` is standard input."""
    if run != STDIN:
        return load_runs(run, default_record())
    text, shown = read_text(run)
    return read_turns(text[: text.rfind("\n") + 1], shown).runs


@contextmanager
def run_in_store(run: str) -> Iterator[tuple[RunStore, str]]:
    """The store that a run is in, and its id."""
    address = address_of_run(run, default_record())
    why = f"{address} is a run file, and this is for stores: gram runs import takes it into one"
    forbid(not address.is_store, why)
    with open_store(address.place, must_exist=True) as store:
        yield store, run_named(store, address.run)
