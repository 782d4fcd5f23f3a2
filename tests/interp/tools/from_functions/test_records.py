"""Dataclasses, attrs classes and TypedDicts become objects with their fields."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field
from typing import Annotated, Any, NotRequired, Required, TypedDict

import attrs
import pytest
import typing_extensions

from interp.errors import ToolError
from interp.json_text import Json
from interp.tools.from_functions.json_types import json_type
from interp.tools.from_functions.json_values import to_json_value


class Base(TypedDict):
    name: str


class Person(Base, total=False):
    """A person.

    Attributes:
        age: in years
    """

    age: int
    email: Required[str]
    phone: Annotated[NotRequired[str], "with country code"]
    pets: Required[Annotated[list[str], "their names"]]


class Reading(TypedDict):
    unit: NotRequired[str]
    value: typing_extensions.ReadOnly[float]


@dataclass
class Trip:
    """A trip.

    Args:
        to: where to
    """

    to: str
    days: int = 1
    stops: list[str] = field(default_factory=list)
    seen: bool = field(default=False, init=False)


@attrs.define
class Account:
    """An account.

    Attributes:
        _owner: whose it is
    """

    _owner: str
    limit: int = 5
    tags: list[str] = attrs.Factory(list)
    total: int = attrs.field(init=False, default=0)


def schema_of(hint: Any) -> dict[str, Json]:
    return json_type(hint).schema


def test_required_and_not_required_are_read_in_hints_written_as_text() -> None:
    assert schema_of(Person) == {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "age": {"type": "integer", "description": "in years"},
            "email": {"type": "string"},
            "phone": {"type": "string", "description": "with country code"},
            "pets": {
                "type": "array",
                "items": {"type": "string"},
                "description": "their names",
            },
        },
        "required": ["name", "email", "pets"],
    }


def test_a_read_only_key_is_a_key() -> None:
    assert schema_of(Reading) == {
        "type": "object",
        "properties": {"unit": {"type": "string"}, "value": {"type": "number"}},
        "required": ["value"],
    }


def test_the_fields_a_dataclass_is_made_of_are_its_properties() -> None:
    assert schema_of(Trip) == {
        "type": "object",
        "properties": {
            "to": {"type": "string", "description": "where to"},
            "days": {"type": "integer", "default": 1},
            "stops": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["to"],
    }


def test_a_private_field_of_attrs_goes_by_the_name_of_its_argument() -> None:
    form = json_type(Account)

    assert form.schema == {
        "type": "object",
        "properties": {
            "owner": {"type": "string", "description": "whose it is"},
            "limit": {"type": "integer", "default": 5},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["owner"],
    }
    account = form.read({"owner": "Ann", "limit": 7})
    assert account == Account("Ann", 7)
    assert to_json_value(account) == {"owner": "Ann", "limit": 7, "tags": [], "total": 0}


def test_a_record_without_fields_is_any_object() -> None:
    @dataclass
    class Nothing:
        pass

    assert schema_of(Nothing) == {"type": "object"}


def test_what_only_the_constructor_takes_is_refused() -> None:
    @dataclass
    class Seeded:
        seed: InitVar[int]

    with pytest.raises(ToolError) as error:
        schema_of(Seeded)

    assert str(error.value) == 'Seeded: "seed" is an InitVar, which has no JSON form'


def test_a_field_of_attrs_without_a_hint_is_refused() -> None:
    bare = attrs.make_class("Bare", ["x"])

    with pytest.raises(ToolError) as error:
        schema_of(bare)

    assert str(error.value) == 'Bare field "x" has no type hint'


def test_the_error_for_a_hint_that_cannot_be_resolved_names_its_class() -> None:
    @dataclass
    class Lost:
        x: Missing  # type: ignore[name-defined]  # noqa: F821  # wrong on purpose

    with pytest.raises(ToolError) as error:
        schema_of(Lost)

    assert str(error.value) == (
        'Lost: the name "Missing" in its type hints is not known to its module; '
        "define or import it at the top of the file"
    )


def test_the_error_for_a_default_that_does_not_fit_names_its_field() -> None:
    @dataclass
    class Wrong:
        x: int = "1"  # type: ignore[assignment]  # wrong on purpose

    with pytest.raises(ToolError) as error:
        schema_of(list[Wrong])

    assert str(error.value) == (
        'Wrong field "x": its default \'1\' does not fit its type: $: "1" is not of type "integer"'
    )
