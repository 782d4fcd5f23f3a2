"""What Python knows of a callable: its name, place, docstring, type hints and parameters.

Functions, bound methods, ``functools.partial`` objects, decorated functions and objects with
``__call__`` keep these in different places; here each question has one answer for all of them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from ..errors import ToolError
from .docstrings import Documentation, read_docstring
from .records import resolve_hints


def name_of(function: Callable[..., Any]) -> str:
    """The name of a function, or of the class of an object that can be called.

    >>> name_of(functools.partial(print, "hello"))
    'print'
    """
    named = _without_partial(function)
    return str(getattr(named, "__name__", type(named).__name__))


def place_of(function: Callable[..., Any]) -> str | None:
    """The file and line where it is defined, or None when it is not written in Python."""
    code = getattr(_definition(function), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else None


def documentation_of(function: Callable[..., Any]) -> Documentation:
    """Its docstring, or that of the class of an object whose ``__call__`` has none."""
    named = _without_partial(function)
    said = _definition(function).__doc__
    return read_docstring(said if said or inspect.isroutine(named) else type(named).__doc__)


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Its type hints, that of the result under ``return``.

    Raises:
        ToolError: a hint cannot be evaluated.
    """
    return resolve_hints(_definition(function))


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """The parameters that can still be given: a partial's keywords are settled, maybe secret.

    Raises:
        ToolError: Python does not know them.

    >>> str(signature_of(functools.partial(int.to_bytes, 5, length=2)))
    "(*, byteorder='big', signed=False)"
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        raise ToolError("Python does not know its parameters; wrap it in a function") from None
    settled = function.keywords if isinstance(function, functools.partial) else {}
    free = [each for name, each in signature.parameters.items() if name not in settled]
    return signature.replace(parameters=free)


def is_async(function: Callable[..., Any]) -> bool:
    """Whether it is written with ``async def``; others may return an awaitable nevertheless."""
    if inspect.iscoroutinefunction(function):
        return True
    return not inspect.isroutine(function) and inspect.iscoroutinefunction(type(function).__call__)


def _without_partial(function: Any) -> Any:
    return function.func if isinstance(function, functools.partial) else function


def _definition(function: Any) -> Any:
    """The function that was written: behind a partial, decorators, or an object's ``__call__``."""
    written = inspect.unwrap(_without_partial(function))
    return written if inspect.isroutine(written) else type(written).__call__
