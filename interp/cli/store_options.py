"""The option for a store of runs."""

from __future__ import annotations

import click

store_option = click.option(
    "--store",
    required=True,
    envvar="GRAM_STORE",
    show_envvar=True,
    metavar="ADDRESS",
    help="The store of runs: a file of sqlite3, or postgresql://user@host/database.",
)
"""The option for a store of runs; see `interp.open_store`."""
