"""Reads the name, place, docstring, type hints and parameters of a callable or class.

Functions, bound methods, ``functools.partial`` objects, decorated functions and objects with
``__call__`` keep these in different places; each function here works for all of them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

from attrs import field, frozen

from ...errors import ToolError


def name_of(function: Callable[..., Any]) -> str:
    """The name of a function, or of the class of an object that can be called.

    >>> name_of(functools.partial(print, "hello"))
    'print'
    """
    named = _without_partial(function)
    return str(getattr(named, "__name__", type(named).__name__))


def place_of(function: Callable[..., Any]) -> str | None:
    """The file and line where a function is defined, or None if it is not written in Python.

    A file below the current folder is named from there.
    """
    code = getattr(_definition(function), "__code__", None)
    if code is None:
        return None
    file = Path(code.co_filename)
    shown = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
    return f"{shown}:{code.co_firstlineno}"


def documentation_of(function: Callable[..., Any]) -> Documentation:
    """The docstring of a function, or of an object's class if its ``__call__`` has no docstring."""
    named = _without_partial(function)
    said = _definition(function).__doc__
    return read_docstring(said if said or inspect.isroutine(named) else type(named).__doc__)


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The type hints of a function; the hint of the result is under ``return``.

    Raises:
        ToolError: a hint cannot be evaluated.
    """
    return resolve_hints(_definition(function))


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """The parameters that a caller can still give; the keywords of a partial are hidden.

    Raises:
        ToolError: Python does not know the parameters.

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


def _without_partial(function: Any) -> Any:
    return function.func if isinstance(function, functools.partial) else function


def _definition(function: Any) -> Any:
    """The function inside a partial, behind decorators, or in an object's ``__call__``."""
    written = inspect.unwrap(_without_partial(function))
    return written if inspect.isroutine(written) else type(written).__call__


def resolve_hints(holder: Any, **names: Any) -> dict[str, Any]:
    """The type hints of a function or class; hints written as text are evaluated.

    Args:
        holder: the function or class.
        names: names that its hints can use, in addition to those of its module.

    Raises:
        ToolError: a hint cannot be evaluated.
    """
    try:
        return get_type_hints(holder, localns=names or None, include_extras=True)
    except NameError as error:
        raise ToolError(
            f'the name "{error.name}" in its type hints is not known to its module; '
            f"define or import it at the top of the file"
        ) from None
    except Exception as error:  # noqa: BLE001  # a hint written as text is any expression
        raise ToolError(f"its type hints cannot be evaluated: {error}") from None


# --- docstrings


@frozen
class Documentation:
    """What a docstring says.

    Attributes:
        description: the text before the sections (arguments, results, errors, examples).
        parameters: the descriptions of parameters or attributes, by name.
    """

    description: str = ""
    parameters: dict[str, str] = field(factory=dict)


def read_docstring(text: object) -> Documentation:
    """Parse a docstring in the Google, NumPy or Sphinx style.

    Doctests are for developers, so they are left out. Some objects have a ``__doc__`` that is
    not a str: it counts as an empty docstring.

    >>> read_docstring('''Weather of a city.
    ...
    ... Args:
    ...     city: where
    ... ''')
    Documentation(description='Weather of a city.', parameters={'city': 'where'})
    """
    import docstring_parser  # only programs that make tools from functions need it

    text = _without_doctests(inspect.cleandoc(text if isinstance(text, str) else ""))
    try:
        found = docstring_parser.parse(text)
    except docstring_parser.ParseError:
        return Documentation(text.strip())
    return Documentation(
        (found.description or "").strip(),
        {each.arg_name: each.description.strip() for each in found.params if each.description},
    )


def _without_doctests(text: str) -> str:
    """The text without examples; an example ends at the next blank line."""
    kept, inside = [], False
    for line in text.splitlines():
        inside = bool(line.strip()) and (inside or line.lstrip().startswith(">>>"))
        if not inside:
            kept.append(line)
    return "\n".join(kept)
