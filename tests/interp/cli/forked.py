"""The command line in forks of one process that did its imports; see `tests.interp.forking`."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages
from typing import NoReturn

from tests.interp.fork_server import serve
from tests.interp.forking import Forking
from tests.paths import ROOT

COMMANDS = Forking("from tests.interp.cli.forked import serve_commands; serve_commands()")

_OTHERS = ("croniter", "networkx", "openai", "prompt_toolkit", "psycopg", "rich.console", "yaml")
"""What many commands import beside our own modules; what few do would make forks slower."""

_FOR_TESTS = {"pytest_plugin", "strategies"}


def serve_commands() -> NoReturn:
    """Import what commands do, and fork for each command that is asked for."""
    import_all()
    from interp.cli import main

    serve(main)


def import_all() -> None:
    """Import all modules of ours, and what commands import beside them."""
    for package in ("gram", "lenses_ext", "interp"):
        for found in walk_packages([str(ROOT / package)], f"{package}."):
            if not _FOR_TESTS & {*found.name.split(".")}:
                import_module(found.name)
    for name in _OTHERS:
        import_module(name)
