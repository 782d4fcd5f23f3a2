"""Reads the members of record classes: dataclasses, attrs classes and TypedDicts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Annotated, Any, Final, NotRequired, Required, get_origin

import attrs
from attrs import frozen

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
    if dataclasses.is_dataclass(cls):
        return Record(_dataclass_members(cls), _constructor(cls))
    if attrs.has(cls):
        return Record(_attrs_members(cls), _constructor(cls))
    if hasattr(cls, "__required_keys__") and issubclass(cls, dict):
        return Record(_typed_dict_members(cls), lambda values: values)
    return None


def _constructor(cls: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda values: cls(**values)


def _class_hints(cls: type) -> dict[str, Any]:
    try:
        return resolve_hints(cls, **{cls.__name__: cls})
    except ToolError as error:
        raise ToolError(f"{cls.__name__}: {error}") from None


def _dataclass_members(cls: Any) -> tuple[Member, ...]:
    hints, descriptions = _class_hints(cls), _descriptions(cls)
    for name, hint in hints.items():
        if isinstance(hint, dataclasses.InitVar):
            raise ToolError(f'{cls.__name__}: "{name}" is an InitVar, which has no JSON form')
    return tuple(
        Member(
            field.name,
            hints[field.name],
            required=field.default is NO_DEFAULT and field.default_factory is NO_DEFAULT,
            default=field.default,
            description=descriptions.get(field.name),
        )
        for field in dataclasses.fields(cls)
        if field.init
    )


def _attrs_members(cls: Any) -> tuple[Member, ...]:
    hints, descriptions = _class_hints(cls), _descriptions(cls)
    members = []
    for field in attrs.fields(cls):
        if not field.init:
            continue
        hint = hints.get(field.name, field.type)
        if hint is None:
            raise ToolError(f'{cls.__name__} field "{field.name}" has no type hint')
        none = field.default is attrs.NOTHING
        made_anew = isinstance(field.default, attrs.Factory)  # type: ignore[arg-type]  # a class at run time
        members.append(
            Member(
                field.alias,
                hint,
                required=none,
                default=NO_DEFAULT if none or made_anew else field.default,
                description=descriptions.get(field.name),
            )
        )
    return tuple(members)


def _typed_dict_members(cls: Any) -> tuple[Member, ...]:
    descriptions = _descriptions(cls)
    members = []
    for name, written in _class_hints(cls).items():
        # `__required_keys__` is wrong for a Required or NotRequired that was written as text,
        # so the resolved hint has precedence.
        hint, required = _without_qualifiers(written, name in cls.__required_keys__)
        members.append(Member(name, hint, required, description=descriptions.get(name)))
    return tuple(members)


def _without_qualifiers(hint: Any, required: bool) -> tuple[Any, bool]:
    origin = get_origin(hint)
    if origin is Annotated:
        inner, required = _without_qualifiers(hint.__origin__, required)
        return Annotated[(inner, *hint.__metadata__)], required
    if origin is Required or origin is NotRequired:
        return _without_qualifiers(hint.__args__[0], origin is Required)
    if getattr(origin, "_name", None) == "ReadOnly":
        return _without_qualifiers(hint.__args__[0], required)
    return hint, required


def _descriptions(cls: type) -> dict[str, str]:
    return read_docstring(cls.__doc__).parameters
