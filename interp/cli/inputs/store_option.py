"""The options and arguments of commands on stores of runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from ...errors import StoreError
from ...secrets import without_userinfo
from ..completion.completing import complete_files

if TYPE_CHECKING:
    from ...history.stores import RunStore
    from .options import TalkOptions

_FIRST = datetime(1970, 1, 1, tzinfo=UTC)  # no run is older
_LONGEST = 100 * 366 * 86400  # seconds


def _expect_a_name(_: click.Context, __: click.Parameter, store: str | None) -> str | None:
    if store == "":
        raise click.UsageError("--store needs a name")
    return store


def store_option(*, is_needed: bool = True) -> Callable[[Any], Any]:
    """The option for a store of runs, which the environment may name, too.

    Args:
        is_needed: whether a command does nothing without one.
    """
    what = "The store of runs" if is_needed else "Keep the runs in this store"
    return click.option(
        "--store",
        metavar="FILE|postgresql://…",
        envvar="GRAM_STORE" if is_needed else None,
        required=is_needed,
        shell_complete=complete_files,
        callback=_expect_a_name,
        help=f"{what}: a file, or a database on Postgres.",
        show_envvar=is_needed,
    )


def of_store_instead(command: str) -> Callable[[Any], Any]:
    """An option that is not shown, for a command on run files: it says which one is on stores.

    Args:
        command: the command on stores.
    """

    def refuse(_: click.Context, __: click.Parameter, store: str | None) -> None:
        if store is not None:
            raise click.UsageError(f"this is for run files: {command} --store is for stores")

    return click.option("--store", hidden=True, expose_value=False, callback=refuse)


run_argument = click.argument("run", metavar="RUN")
"""A run of a store: its id, or the beginning of it."""


def named_run(store: RunStore, run: str) -> str:
    """The id that begins with a text.

    Raises:
        click.UsageError: several do.
        StoreError: none does.
    """
    if not run:
        raise click.UsageError("RUN needs an id, or the beginning of one")
    try:
        return store.row(run).id
    except StoreError:
        found = [row.id for row in store.rows(beginning=run, limit=3)]
        if not found:
            raise
    if len(found) > 1:
        raise click.UsageError(f"several runs of {store.name} begin with {run}: {', '.join(found)}")
    return found[0]


class Age(click.ParamType[datetime]):
    """A time: how long ago, or a date."""

    name = "AGE|DATE"

    def convert(self, value: Any, _: click.Parameter | None, __: click.Context | None) -> datetime:
        """A time from ``30d``, ``12h``, ``2026-11-22`` or ``2026-11-22T15:00``."""
        if isinstance(value, datetime):
            return value
        if age := re.fullmatch(r"(\d{1,6})([smhd])", value):
            seconds = int(age[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[age[2]]
            return max(_FIRST, datetime.now(UTC) - timedelta(seconds=min(seconds, _LONGEST)))
        try:
            found = datetime.fromisoformat(value).astimezone(UTC)
        except (ValueError, OverflowError):
            self.fail(f"{value} is neither an age, such as 30d or 12h, nor a date")
        return max(_FIRST, found)


conversation_option = click.option(
    "--conversation",
    metavar="NAME",
    help="Continue this conversation of the store, and keep it there.",
)
"""The option for a conversation in a store."""


def expect_store(store: str | None, conversation: str | None, options: TalkOptions) -> None:
    """Refuse a conversation that has no store, or two places to be kept in.

    Raises:
        click.UsageError: the options exclude each other.
    """
    if conversation is not None and store is None:
        raise click.UsageError("--conversation is in a store: give --store, too")
    if conversation == "":
        raise click.UsageError("--conversation needs a name")
    if options.session is not None and store is not None:
        raise click.UsageError("a conversation is kept in one place: give --session or --store")


def shown_address(store: str) -> str:
    """The address of a store without user and password, also where they are parameters."""
    bare = r"\b(?:user|password)\s*=\s*(?:'(?:\\.|[^'\\])*'|[^\s&]*)\s*&?"
    return re.sub(bare, "", without_userinfo(store))
