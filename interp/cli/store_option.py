"""The option for a store of runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from ..redaction import redact_error
from .completing import complete_files

if TYPE_CHECKING:
    from .options import TalkOptions


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
        help=f"{what}: a file, or a database on Postgres.",
        show_envvar=is_needed,
    )


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
    """The address of a store without its password."""
    return redact_error(store)
