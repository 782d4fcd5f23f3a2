"""Classes that are records: the members of dataclasses, attrs classes and TypedDicts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Annotated, Any, Final, NotRequired, Required, get_origin, get_type_hints

import attrs
from attrs import frozen

from ..errors import ToolError
from .docstrings import read_docstring

NO_DEFAULT: Final = dataclasses.MISSING
"""Stands for the default of a member that has none."""

# A hint written as text is any Python expression, so it can fail in any of these ways.
_HINT_ERRORS = (
    TypeError,
    SyntaxError,
    AttributeError,
    LookupError,
    ValueError,
    ArithmeticError,
    RuntimeError,
)


@frozen
class Member:
    """A parameter of a function or a field of a record.

    Attributes:
        name: its name in JSON, which is the keyword that passes it.
        hint: its type hint.
        required: whether it must be given.
        default: its default, a Python value, or `NO_DEFAULT`.
        description: what it means, or None.
    """

    name: str
    hint: Any
    required: bool = True
    default: Any = NO_DEFAULT
    description: str | None = None


@frozen
class Record:
    """A class with named members, and how one is made of a dict of them."""

    members: tuple[Member, ...]
    make: Callable[[dict[str, Any]], Any]


def read_record(cls: Any) -> Record | None:
    """A class as a record, or None when it is none.

    Fields that the constructor does not take are no members. A default that is made anew for
    each instance makes its field optional but does not stand in the schema.

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


def resolve_hints(holder: Any, **names: Any) -> dict[str, Any]:
    """The type hints of a function or class, those written as text evaluated.

    Args:
        holder: what has the hints.
        names: names that can be used in them beside those of its module.

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
    except _HINT_ERRORS as error:
        raise ToolError(f"its type hints cannot be evaluated: {error}") from None


def _class_hints(cls: type) -> dict[str, Any]:
    try:
        return resolve_hints(cls, **{cls.__name__: cls})
    except ToolError as error:
        raise ToolError(f"{cls.__name__}: {error}") from None


def _dataclass_members(cls: Any) -> tuple[Member, ...]:
    hints, descriptions = _class_hints(cls), _descriptions(cls)
    for name, hint in hints.items():
        if isinstance(hint, dataclasses.InitVar):
            raise ToolError(f'{cls.__name__}: "{name}" is an InitVar, which no JSON can hold')
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
        # Python counts a Required or NotRequired wrongly when the hint was written as text,
        # so what the resolved hint says comes first.
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
