"""Docstrings say what functions and parameters are; records become objects with their fields."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field
from typing import Annotated, Any, NotRequired, Required, TypedDict

import attrs
import pytest
import typing_extensions
from hypothesis import given, strategies as st

from interp.errors import ToolError
from interp.tools.from_functions.callables import read_docstring
from interp.tools.from_functions.json_types import json_type
from interp.tools.implementation import to_json_value

GOOGLE = """Adds two numbers.

    Any two will do:
        even large ones.

    Args:
        a (int): the first,
            which comes first
        b: the second

    Returns:
        The sum.

    Raises:
        ValueError: never

    >>> add(1, 2)
    3
    """

OTHER_STYLES = [
    "Adds.\n\nParameters\n----------\na : int\n    the first\n\nReturns\n-------\nint",
    "Adds.\n\n:param int a: the first\n:returns: The sum.",
]


def test_a_docstring_says_what_the_function_and_its_parameters_are_in_three_styles() -> None:
    assert read_docstring(GOOGLE) == (
        "Adds two numbers.\n\nAny two will do:\n    even large ones.",
        {"a": "the first,\nwhich comes first", "b": "the second"},
    )
    for text in OTHER_STYLES:
        assert read_docstring(text) == ("Adds.", {"a": "the first"})


@pytest.mark.parametrize(
    ("text", "description"),
    [
        (None, ""), ("", ""), ("  \n ", ""), (":param\n: x", ":param\n: x"),
        ("Adds.\n\n>>> add(1)\n2\n\nSlowly.", "Adds.\n\nSlowly."),
    ],
)  # fmt: skip
def test_what_is_in_no_style_is_description_without_its_doctests(
    text: str | None, description: str
) -> None:
    assert read_docstring(text) == (description, {})


PIECES = [
    "Args:", "Parameters", "----", ":param x: y", ":param", "Returns:", "@param x: y", ">>> a",
    "    x: y", "  x", "x : int", "", ":", "::", "Yields:", "Example:", ".. note::",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=8).map("\n".join))
def test_any_text_can_be_a_docstring(text: str) -> None:
    read_docstring(text)


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


STRING = {"type": "string"}
STRINGS = {"type": "array", "items": STRING}


@pytest.mark.parametrize(
    ("record", "properties", "required"),
    [
        # hints are read though they are written as text, and a key that is only read is a key
        (Person, {
            "name": STRING, "age": {"type": "integer", "description": "in years"}, "email": STRING,
            "phone": {**STRING, "description": "with country code"},
            "pets": {**STRINGS, "description": "their names"},
        }, ["name", "email", "pets"]),
        (Reading, {"unit": STRING, "value": {"type": "number"}}, ["value"]),
        (Trip, {
            "to": {**STRING, "description": "where to"},
            "days": {"type": "integer", "default": 1}, "stops": STRINGS,
        }, ["to"]),
    ],
)  # fmt: skip
def test_a_record_is_an_object_with_its_fields(record: Any, properties: Any, required: Any) -> None:
    assert json_type(record).schema == {
        "type": "object",
        "properties": properties,
        "required": required,
    }


def test_a_private_field_of_attrs_goes_by_the_name_of_its_argument() -> None:
    form = json_type(Account)

    assert form.schema["properties"] == {
        "owner": {"type": "string", "description": "whose it is"},
        "limit": {"type": "integer", "default": 5},
        "tags": STRINGS,
    }
    assert form.schema["required"] == ["owner"]
    account = form.read({"owner": "Ann", "limit": 7})
    assert account == Account("Ann", 7)
    assert to_json_value(account) == {"owner": "Ann", "limit": 7, "tags": [], "total": 0}


@dataclass
class Lost:
    x: Missing  # type: ignore[name-defined]  # noqa: F821  # wrong on purpose


@dataclass
class Seeded:
    seed: InitVar[int]


@dataclass
class Wrong:
    x: int = "1"  # type: ignore[assignment]  # wrong on purpose


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (Seeded, 'Seeded: "seed" is an InitVar, which has no JSON form'),
        (attrs.make_class("Bare", ["x"]), 'Bare field "x" has no type hint'),
        (list[Wrong], "Wrong field \"x\": its default '1' does not fit its type: "
         '$: "1" is not of type "integer"'),
        (Lost, 'Lost: the name "Missing" in its type hints is not known to its module; '
         "define or import it at the top of the file"),
    ],
)  # fmt: skip
def test_the_error_for_a_record_that_has_no_schema_names_its_field(record: Any, said: str) -> None:
    with pytest.raises(ToolError) as error:
        json_type(record)

    assert str(error.value).replace(f"{__name__}.", "") == said
