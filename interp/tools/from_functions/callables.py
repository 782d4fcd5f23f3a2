"""Reads the name, place, docstring, type hints and parameters of a callable or class.

Functions, bound methods, ``functools.partial`` objects, decorated functions and objects with
``__call__`` keep these in different places; each function here works for all of them.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, get_type_hints

import attrs
from attrs import frozen
from typing_extensions import is_typeddict

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
    code = getattr(definition_of(function), "__code__", None)
    if code is None:
        return None
    file = Path(code.co_filename)
    shown = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
    return f"{shown}:{code.co_firstlineno}"


def docstring_of(function: Callable[..., Any]) -> str | None:
    """The docstring of a function, or of an object's class if its ``__call__`` has no docstring."""
    named, said = _without_partial(function), definition_of(function).__doc__
    text: str | None = said if said or inspect.isroutine(named) else type(named).__doc__
    return text


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """The parameters that a caller can still give; the keywords of a partial are hidden.

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


def definition_of(function: Any) -> Any:
    """The function inside a partial, behind decorators, or in an object's ``__call__``."""
    written = inspect.unwrap(_without_partial(function))
    return written if inspect.isroutine(written) else type(written).__call__


def resolve_hints(holder: Any, **names: Any) -> dict[str, Any]:
    """The type hints of a function or class; those written as text may use more names, too."""
    try:
        return get_type_hints(holder, localns=names or None, include_extras=True)
    except NameError as error:
        raise ToolError(
            f'the name "{error.name}" in its type hints is not known to its module; '
            f"define or import it at the top of the file"
        ) from None
    except Exception as error:  # noqa: BLE001  # a hint written as text is any expression
        raise ToolError(f"its type hints cannot be evaluated: {error}") from None


def read_docstring(text: object) -> tuple[str, dict[str, str]]:
    """What a docstring says before its sections, and of parameters or attributes by name.

    It may be in the Google, NumPy or Sphinx style; its doctests are left out.

    >>> read_docstring('''Weather of a city.
    ...
    ... Args:
    ...     city: where
    ... ''')
    ('Weather of a city.', {'city': 'where'})
    """
    import docstring_parser  # only programs that make tools from functions need it

    # some objects have a ``__doc__`` that is no str
    text = _without_doctests(inspect.cleandoc(text if isinstance(text, str) else ""))
    try:
        found = docstring_parser.parse(text)
    except docstring_parser.ParseError:
        return text.strip(), {}
    said = {each.arg_name: each.description.strip() for each in found.params if each.description}
    return (found.description or "").strip(), said


def _without_doctests(text: str) -> str:
    """The text without examples; an example ends at the next blank line."""
    kept, inside = [], False
    for line in text.splitlines():
        inside = bool(line.strip()) and (inside or line.lstrip().startswith(">>>"))
        if not inside:
            kept.append(line)
    return "\n".join(kept)


NO_DEFAULT: Final = dataclasses.MISSING


@frozen
class Member:
    """A parameter of a function or a field of a record."""

    name: str  # in JSON, and the keyword of the Python parameter
    hint: Any
    required: bool = True
    default: Any = NO_DEFAULT  # a Python value
    description: str | None = None  # for the model


def members_of(cls: Any) -> tuple[Member, ...] | None:
    """The members that a record class is made of; None if the class is not a record.

    Fields that the constructor does not take are left out. A field with a default factory is
    optional, but its default is not in the schema.

    >>> @frozen
    ... class Place:
    ...     name: str
    >>> [each.name for each in members_of(Place)], members_of(int)
    (['name'], None)
    """
    read = next((read for is_one, read in _READERS if is_one(cls)), None)
    if read is None:
        return None
    try:
        hints = resolve_hints(cls, **{cls.__name__: cls})
    except ToolError as error:
        raise ToolError(f"{cls.__name__}: {error}") from None
    return tuple(read(cls, hints, read_docstring(cls.__doc__)[1]))


def _dataclass(cls: Any, hints: dict[str, Any], said: dict[str, str]) -> Iterator[Member]:
    for name, hint in hints.items():
        if isinstance(hint, dataclasses.InitVar):
            raise ToolError(f'{cls.__name__}: "{name}" is an InitVar, which has no JSON form')
    for each in dataclasses.fields(cls):
        name = each.name
        if each.init:
            required = each.default is NO_DEFAULT and each.default_factory is NO_DEFAULT
            yield Member(name, hints[name], required, each.default, said.get(name))


def _attrs(cls: Any, hints: dict[str, Any], said: dict[str, str]) -> Iterator[Member]:
    for each in attrs.fields(cls):
        if not each.init:
            continue
        hint = hints.get(each.name, each.type)
        if hint is None:
            raise ToolError(f'{cls.__name__} field "{each.name}" has no type hint')
        required = each.default is attrs.NOTHING
        made_anew = isinstance(each.default, attrs.Factory)  # type: ignore[arg-type]  # a class at run time
        default = NO_DEFAULT if required or made_anew else each.default
        yield Member(each.alias, hint, required, default, said.get(each.name))


def _typed_dict(cls: Any, hints: dict[str, Any], said: dict[str, str]) -> Iterator[Member]:
    for name, hint in hints.items():
        yield Member(name, hint, name in cls.__required_keys__, description=said.get(name))


_READERS: Final[tuple[tuple[Callable[[Any], bool], Any], ...]] = (
    (dataclasses.is_dataclass, _dataclass),
    (attrs.has, _attrs),
    (is_typeddict, _typed_dict),
)
