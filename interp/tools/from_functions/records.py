"""Reads the members of record classes: dataclasses, attrs classes and TypedDicts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, Final

import attrs
from attrs import frozen
from typing_extensions import is_typeddict

from ...errors import ToolError
from .callables import read_docstring, resolve_hints

NO_DEFAULT: Final = dataclasses.MISSING
"""The value of `Member.default` for a member without a default."""


@frozen
class Member:
    """A parameter of a function or a field of a record.

    Attributes:
        name: its name in JSON, and the keyword of the Python parameter.
        hint: its type hint.
        required: whether it must be given.
        default: the default as a Python value, or `NO_DEFAULT`.
        description: the text that describes it to the model, or None.
    """

    name: str
    hint: Any
    required: bool = True
    default: Any = NO_DEFAULT
    description: str | None = None

    @property
    def has_default(self) -> bool:
        """Whether it has a default that its schema says."""
        return self.default is not NO_DEFAULT


@frozen
class Record:
    """A class with named members, and a function that makes an instance from a dict of them."""

    members: tuple[Member, ...]
    make: Callable[[dict[str, Any]], Any]


def read_record(cls: Any) -> Record | None:
    """Read a record class; None if the class is not a record.

    Fields that the constructor does not take are left out. A field with a default factory is
    optional, but its default is not in the schema.

    Raises:
        ToolError: its hints cannot be resolved.

    >>> @frozen
    ... class Place:
    ...     name: str
    >>> read_record(Place).make({"name": "Oslo"})
    Place(name='Oslo')
    """
    read = next((read for is_one, read in _READERS if is_one(cls)), None)
    if read is None:
        return None
    try:
        hints = resolve_hints(cls, **{cls.__name__: cls})
    except ToolError as error:
        raise ToolError(f"{cls.__name__}: {error}") from None
    said = read_docstring(cls.__doc__).parameters
    make = (lambda values: values) if read is _typed_dict else (lambda values: cls(**values))
    return Record(tuple(read(cls, hints, said)), make)


def _dataclass(cls: Any, hints: dict[str, Any], said: dict[str, str]) -> Iterator[Member]:
    for name, hint in hints.items():
        if isinstance(hint, dataclasses.InitVar):
            raise ToolError(f'{cls.__name__}: "{name}" is an InitVar, which has no JSON form')
    for field in dataclasses.fields(cls):
        if field.init:
            required = field.default is NO_DEFAULT and field.default_factory is NO_DEFAULT
            name = field.name
            yield Member(name, hints[name], required, field.default, said.get(name))


def _attrs(cls: Any, hints: dict[str, Any], said: dict[str, str]) -> Iterator[Member]:
    for field in attrs.fields(cls):
        if not field.init:
            continue
        hint = hints.get(field.name, field.type)
        if hint is None:
            raise ToolError(f'{cls.__name__} field "{field.name}" has no type hint')
        required = field.default is attrs.NOTHING
        made_anew = isinstance(field.default, attrs.Factory)  # type: ignore[arg-type]  # a class at run time
        default = NO_DEFAULT if required or made_anew else field.default
        yield Member(field.alias, hint, required, default, said.get(field.name))


def _typed_dict(cls: Any, hints: dict[str, Any], said: dict[str, str]) -> Iterator[Member]:
    for name, hint in hints.items():
        yield Member(name, hint, name in cls.__required_keys__, description=said.get(name))


_READERS: Final[tuple[tuple[Callable[[Any], bool], Any], ...]] = (
    (dataclasses.is_dataclass, _dataclass),
    (attrs.has, _attrs),
    (is_typeddict, _typed_dict),
)
