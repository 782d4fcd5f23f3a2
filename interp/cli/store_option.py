"""The option for a store of runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from ..redaction import redact_error
from .completing import complete_files


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


def shown_address(store: str) -> str:
    """The address of a store without its password."""
    return redact_error(store)
