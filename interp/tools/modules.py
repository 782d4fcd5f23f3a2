"""Imports Python files that are named by their paths."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

from gram.documents import resolved

from ..errors import ConfigurationError, said_by
from .users_code import is_from_outside


def split_name(given: str) -> tuple[str, str]:
    """The parts of ``FILE.py:name``; without a name, it is empty.

    >>> split_name("tools.py:greet"), split_name("tools.py")
    (('tools.py', 'greet'), ('tools.py', ''))
    """
    file, colon, name = given.rpartition(":")
    return (file, name) if colon and file.endswith(".py") else (given, "")


def import_file(path: Path) -> ModuleType:
    """Import a file as a module; it can import from its folder, as a script can.

    Raises:
        OSError: it cannot be read.
        ConfigurationError: it is not Python, or its code fails.
    """
    import importlib.util  # imported late: most commands read no Python

    resolved(path)  # refuses what is no path
    path.open("rb").close()  # an unreadable file is an OSError, as for every other input
    spec = importlib.util.spec_from_file_location(f"_tools_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ConfigurationError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses and pickle look up the module
    folder = str(path.parent.resolve())
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except BaseException as error:  # user code may raise anything
        if is_from_outside(error):
            raise
        at = f"\n  at {path}:{line}" if (line := _line_in(path, error)) else ""
        raise ConfigurationError(f"{path} fails: {said_by(error)}{at}") from error
    finally:
        if folder in sys.path:  # the code may have changed the path itself
            sys.path.remove(folder)
    return module


def _line_in(path: Path, error: BaseException) -> int | None:
    """The innermost line of a file in the traceback of an error."""
    name = str(path.absolute())  # as the import calls it
    if isinstance(error, SyntaxError) and error.filename == name:
        return error.lineno
    import traceback  # imported late: most files run

    frames = traceback.extract_tb(error.__traceback__)
    return next((each.lineno for each in reversed(frames) if each.filename == name), None)
