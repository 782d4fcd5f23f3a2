"""What is run in forks of one process that did the imports; see `tests.interp.forking`."""

from __future__ import annotations

import runpy
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import NoReturn

from tests.interp.fork_server import serve
from tests.interp.forking import Forking
from tests.paths import ROOT

COMMANDS, PYTEST, PYTHON = Forking("gram"), Forking("pytest"), Forking("python")

_FOR_TESTS = {"pytest_plugin", "strategies"}


def serve_all() -> NoReturn:
    """Import what forks do, and fork for each command, run of pytest or program."""
    for package in ("gram", "lenses_ext", "interp"):
        for found in walk_packages([str(ROOT / package)], f"{package}."):
            if not _FOR_TESTS & {*found.name.split(".")}:
                import_module(found.name)
    for name in ("networkx", "rich.console"):  # what many commands import beside our own modules
        import_module(name)
    import pytest

    from interp.cli import main

    serve({"gram": main, "pytest": lambda: sys.exit(pytest.main()), "python": _run_python})


def _run_python() -> None:
    """Run the file that is the first argument, or code after ``-c``, as Python would."""
    del sys.argv[0]
    if sys.argv[0] == "-c":
        exec(sys.argv.pop(1), {"__name__": "__main__"})
        return
    sys.path[0] = str(Path(sys.argv[0]).parent)
    runpy.run_path(sys.argv[0], run_name="__main__")
