"""JSON forms of scalar types and enums, and the ``$defs`` of types that contain themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from types import NoneType
from typing import Any, Final

from attrs import frozen

from ...errors import ToolError
from ...json_text import Json

SCALARS: Final[dict[type, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    NoneType: "null",
}
"""The Python types of JSON scalars, and what JSON Schema calls them."""

# The order in which signatures list the types of a union.
_ORDER = ["string", "integer", "number", "boolean", "null"]


def unchanged(value: Json) -> Any:
    """Return the value: the JSON and the Python value are the same."""
    return value


@frozen
class TypeForm:
    """A Python type as JSON: its schema, and how its values are read.

    Attributes:
        schema: the JSON Schema of its values.
        read: makes the Python value from a JSON value that the schema accepts. Python values of
            the type are returned unchanged, so that a tool can be called with these too.
        by_pydantic: whether pydantic reads it and checks its constraints.
    """

    schema: dict[str, Json]
    read: Callable[[Json], Any] = unchanged
    by_pydantic: bool = False


def scalar_form(kind: type) -> TypeForm:
    """The form of one of `SCALARS`.

    >>> scalar_form(int).schema, scalar_form(int).read(3.0)
    ({'type': 'integer'}, 3)
    """
    readers = {int: _read_integer, float: _read_float}
    return TypeForm({"type": SCALARS[kind]}, readers.get(kind, unchanged))


def choice_form(name: str, options: Iterable[Any]) -> TypeForm:
    """The form of an Enum or a Literal: a value is one of the options.

    Args:
        name: the name of the type, for error messages.
        options: the members of an Enum (their values are used), or the values of a Literal.

    Raises:
        ToolError: there are no options, or one is not a JSON scalar.

    >>> choice_form("Unit", ["celsius", "kelvin"]).schema
    {'type': 'string', 'enum': ['celsius', 'kelvin']}
    """
    pairs = [(each.value if isinstance(each, Enum) else each, each) for each in options]
    values = [value for value, _ in pairs]
    for value in values:
        if type(value) not in SCALARS:
            raise ToolError(f"{name} has the value {value!r}, which is not a JSON scalar")
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
    """The schema that allows these JSON types, in the order that signatures use.

    >>> types_schema(["null", "string"])
    {'type': ['string', 'null']}
    """
    ordered = sorted(set(names), key=_ORDER.index)
    return {"type": ordered[0] if len(ordered) == 1 else ordered}


def _read_integer(value: Json) -> Any:
    """Make an int from a number like 3.0, which is an integer in JSON Schema."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _read_float(value: Json) -> Any:
    return float(value) if type(value) is int else value


class Definitions:
    """Collects the ``$defs`` of a schema while it is made.

    Attributes:
        schemas: the schemas of the types, by name.
    """

    def __init__(self) -> None:
        self.schemas: dict[str, Json] = {}
        self._open: list[Any] = []  # the types being made, outermost first
        self._names: dict[int, tuple[Any, str]] = {}  # by id, with the type to keep the id taken
        self._readers: dict[str, Callable[[Json], Any]] = {}

    def form(self, hint: Any, name: str, make: Callable[[], TypeForm]) -> TypeForm:
        """The form of a type; if the type contains itself, the form is a reference to it.

        Args:
            hint: the type.
            name: its name, which gets a number if another type has the same name.
            make: makes the form, and calls this method again for each type inside it.
        """
        if id(hint) not in self._names and any(hint is each for each in self._open):
            self._names[id(hint)] = (hint, self._free(name))
        if id(hint) in self._names:
            return self._reference(hint)
        self._open.append(hint)
        form = make()
        self._open.pop()
        if id(hint) not in self._names:
            return form
        _, defined = self._names[id(hint)]
        self.schemas[defined] = form.schema
        self._readers[defined] = form.read
        return self._reference(hint)

    def add(self, name: str, schema: Json) -> None:
        """Add a definition that was made elsewhere.

        Raises:
            ToolError: another type has the name.
        """
        if self._all().get(name, schema) != schema:
            raise ToolError(f'two different types are named "{name}"; rename one')
        self.schemas[name] = schema

    def rooted(self, schema: dict[str, Json]) -> dict[str, Json]:
        """The schema with its ``$defs``. A type that is still being made allows any value."""
        definitions = self._all()
        return {**schema, "$defs": definitions} if definitions else schema

    def _all(self) -> dict[str, Json]:
        return {**{name: {} for _, name in self._names.values()}, **self.schemas}

    def _free(self, name: str) -> str:
        taken = self._all()
        numbered = (f"{name}{number}" for number in range(2, len(taken) + 3))
        return next(each for each in (name, *numbered) if each not in taken)

    def _reference(self, hint: Any) -> TypeForm:
        _, name = self._names[id(hint)]
        return TypeForm({"$ref": f"#/$defs/{name}"}, lambda value: self._readers[name](value))
