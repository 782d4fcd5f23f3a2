"""Types without parts as JSON: str, numbers, bool, None, and choices among values of these."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from types import NoneType
from typing import Any, Final

from attrs import frozen

from ..errors import ToolError
from ..json_text import Json

SCALARS: Final[dict[type, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    NoneType: "null",
}
"""The Python types of JSON scalars, and what JSON Schema calls them."""

# The order in which signatures name the types of a union; a union of labels has none itself.
_ORDER = ["string", "integer", "number", "boolean", "null"]


def unchanged(value: Json) -> Any:
    """Read a type whose JSON is its Python value."""
    return value


@frozen
class TypeForm:
    """A type as JSON.

    Attributes:
        schema: the JSON Schema of its values.
        read: the Python value of a JSON value that the schema accepts. Python values of the type
            come back as they are, so a tool can be called with these too.
    """

    schema: dict[str, Json]
    read: Callable[[Json], Any] = unchanged


def scalar_form(kind: type) -> TypeForm:
    """The form of one of `SCALARS`.

    >>> scalar_form(int).schema, scalar_form(int).read(3.0)
    ({'type': 'integer'}, 3)
    """
    readers = {int: _read_integer, float: _read_float}
    return TypeForm({"type": SCALARS[kind]}, readers.get(kind, unchanged))


def choice_form(name: str, options: Iterable[Any]) -> TypeForm:
    """The form of an Enum or a Literal: one of these values.

    Args:
        name: what it is called in errors.
        options: enum members, which stand for their values, or the values.

    Raises:
        ToolError: there is none, or one is no JSON scalar.

    >>> choice_form("Unit", ["celsius", "kelvin"]).schema
    {'type': 'string', 'enum': ['celsius', 'kelvin']}
    """
    pairs = [(each.value if isinstance(each, Enum) else each, each) for each in options]
    values = [value for value, _ in pairs]
    for value in values:
        if type(value) not in SCALARS:
            raise ToolError(f"{name} has the value {value!r}, which is no JSON scalar")
    if not values:
        raise ToolError(f"{name} has no members")

    def read(value: Json) -> Any:
        for each, option in pairs:
            if each == value and isinstance(each, bool) == isinstance(value, bool):
                return option
        return value

    return TypeForm(
        {**types_schema(SCALARS[type(value)] for value in values), "enum": values}, read
    )


def types_schema(names: Iterable[str]) -> dict[str, Json]:
    """The schema of any of these types, in the order signatures have.

    >>> types_schema(["null", "string"])
    {'type': ['string', 'null']}
    """
    ordered = sorted(set(names), key=_ORDER.index)
    return {"type": ordered[0] if len(ordered) == 1 else ordered}


def _read_integer(value: Json) -> Any:
    """An int of a number written 3.0, which JSON Schema calls an integer."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _read_float(value: Json) -> Any:
    return float(value) if type(value) is int else value
