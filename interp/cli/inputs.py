"""What commands read: files or standard input, and tool libraries from Python files."""

from __future__ import annotations

import errno
import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from gram import Document
from gram.files import decode

from ..errors import ConfigurationError

if TYPE_CHECKING:
    from ..library import ToolLibrary

STDIN = "-"


def read_text(name: str) -> tuple[str, str]:
    """The text of a file and the name to cite; ``-`` is standard input.

    Raises:
        OSError: the file cannot be read.
        GramDecodeError: it is not UTF-8.
    """
    if name == STDIN:
        if sys.stdin is None:
            raise OSError(errno.EBADF, "standard input is closed")
        return decode(sys.stdin.buffer.read(), "<stdin>"), "<stdin>"
    return decode(Path(name).read_bytes(), name), name


def read_document(name: str) -> Document:
    """The document in a file; ``-`` is standard input.

    Raises:
        OSError: the file cannot be read.
        GramDecodeError: it is not gram.
    """
    from lenses_ext import parse

    return parse(*read_text(name))


def read_libraries(names: Iterable[str]) -> ToolLibrary:
    """The tools of some Python files, given as ``FILE.py`` or ``FILE.py:name``.

    Without a name, every ToolLibrary and every tool at the top of the module counts.

    Raises:
        OSError: a file cannot be read.
        ConfigurationError: a file fails, or has no tools under the name.
    """
    from ..library import ToolLibrary  # most commands read no Python

    library = ToolLibrary()
    for name in names:
        library = library | _library(name)
    return library


def _library(given: str) -> ToolLibrary:
    from ..library import ToolLibrary
    from ..tools import Tool

    file, colon, name = given.rpartition(":")
    if not colon or not file.endswith(".py"):
        file, name = given, ""
    module = _module(Path(file))
    if name:
        found = getattr(module, name, None)
        if isinstance(found, ToolLibrary):
            return found
        if isinstance(found, Tool):
            return ToolLibrary.of([found])
        kind = "nothing" if found is None else type(found).__name__
        raise ConfigurationError(f'"{name}" in {file} is {kind}, not a ToolLibrary or a tool')
    library = ToolLibrary()
    for value in vars(module).values():
        if isinstance(value, ToolLibrary):
            library = library | value
        elif isinstance(value, Tool):
            library = library | ToolLibrary.of([value])
    if not library:
        raise ConfigurationError(f"{file} has no tools: decorate functions with @tool")
    return library


def _module(path: Path) -> ModuleType:
    """The module in a file; its folder can be imported from, as for a script."""
    path.open("rb").close()  # an unreadable file is an OSError, as for every other input
    spec = importlib.util.spec_from_file_location(f"_tools_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ConfigurationError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses and pickle look their module up
    folder = str(path.parent.resolve())
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # the user's own code: anything may go wrong
        raise ConfigurationError(f"{path} fails: {type(error).__name__}: {error}") from error
    finally:
        if folder in sys.path:  # the code may have changed the path, too
            sys.path.remove(folder)
    return module
