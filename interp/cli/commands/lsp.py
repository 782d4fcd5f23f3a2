"""``gram lsp``: the language server, which editors start."""

from __future__ import annotations

import os

import click

from gram.extras import install

from ...errors import ConfigurationError


@click.command("lsp")
@click.option("--stdio", is_flag=True, help="Speak over standard input and output, as always.")
def command(stdio: bool) -> None:
    """Tell an editor what it asks of gram files: faults, completion, definitions, and more.

    Editors start it. It runs no code and asks no model.
    """
    try:
        from ..lsp.server import make_server
    except ImportError:
        problem = f"the language server is not installed: {install('lsp')}"
        raise ConfigurationError(problem) from None
    with os.fdopen(os.dup(0), "rb") as asked, os.fdopen(os.dup(1), "wb") as told:
        make_server().start_io(asked, told)  # the server closes them
