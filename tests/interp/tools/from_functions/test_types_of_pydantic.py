"""Pydantic models as the types of parameters and results."""

from __future__ import annotations

import collections
import datetime
import decimal
import ipaddress
import pathlib
import subprocess
import uuid
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, Optional, TypedDict

import annotated_types as at
import attrs
import pydantic
import pytest

from gram import loads
from interp import Tool, tool_spec_from_function
from interp.errors import ToolError, ValidationError
from interp.json_text import Json
from interp.machine.contracts import check
from interp.machine.contracts.values import validate_tool_args
from interp.tools import ToolLibrary, explain_binding, invoke_tool
from interp.tools.from_functions.function_tools import tool
from interp.tools.from_functions.json_types import json_type
from lenses_ext import write_program
from tests.interp.tools.from_functions.test_json_types import SCHEMAS


class Address(pydantic.BaseModel):
    street_name: str
    title: str = pydantic.Field("home", title="What it is called")


class Person(pydantic.BaseModel):
    """A person."""

    name: str = pydantic.Field(description="full name", min_length=1)
    born: Optional[datetime.date] = None  # noqa: UP045  # the older spelling is read, too
    address: Optional[Address] = None  # noqa: UP045  # the older spelling is read, too


def test_a_model_gives_its_own_schema_without_made_up_titles() -> None:
    null, date = {"type": "null"}, {"type": "string", "format": "date"}
    fields = {
        "street_name": {"type": "string"},
        "title": {"type": "string", "title": "What it is called", "default": "home"},
    }
    address = {"type": "object", "properties": fields, "required": ["street_name"]}
    properties = {
        "name": {"type": "string", "minLength": 1, "description": "full name"},
        "born": {"anyOf": [date, null], "default": None},
        "address": {"anyOf": [address, null], "default": None},
    }
    whole = {"type": "object", "properties": properties, "required": ["name"]}
    assert json_type(Person).schema == {**whole, "description": "A person."}


def test_a_model_is_read_and_written_by_its_own_rules() -> None:
    @tool
    def older(person: Person, since: Person | None = None) -> Person:
        """Makes a person older."""
        assert person.born is not None
        assert since is None
        return person.model_copy(update={"born": person.born.replace(year=1990)})

    result = older(person={"name": "Ann", "born": "2000-02-03"})

    assert result == {"name": "Ann", "born": "1990-02-03", "address": None}


def test_what_has_no_schema_is_refused() -> None:
    class Opaque(pydantic.BaseModel, arbitrary_types_allowed=True):
        thing: type(subprocess)  # type: ignore[valid-type]  # wrong on purpose

    class Plain:
        """Pydantic only tells it from others."""

    with pytest.raises(ToolError, match=r"^pydantic has no schema for .*Opaque: "):
        json_type(Opaque)
    for hint in (Plain, collections.abc.Hashable):
        with pytest.raises(ToolError, match="has no JSON form"):
            json_type(hint)


DAY = datetime.date(2026, 11, 22)
KEY = uuid.UUID(int=1)


@pydantic.dataclasses.dataclass
class Order:
    count: pydantic.PositiveInt
    due: datetime.date = DAY


@dataclass
class Payment:
    at: datetime.date
    amount: decimal.Decimal = decimal.Decimal("1.5")


@attrs.frozen
class Token:
    id: uuid.UUID


class Entry(TypedDict):
    day: datetime.date
    cost: NotRequired[decimal.Decimal]


class Pair(NamedTuple):
    number: int
    day: datetime.date


class Strict(pydantic.BaseModel, strict=True):
    day: datetime.date


class Cat(pydantic.BaseModel):
    kind: Literal["cat"]


class Dog(pydantic.BaseModel):
    kind: Literal["dog"]


TYPES: list[tuple[Any, Json, Any]] = [
    (datetime.date, "2026-11-22", DAY),
    (datetime.datetime, "2026-11-22T01:02:03", datetime.datetime(2026, 11, 22, 1, 2, 3)),
    (datetime.time, "01:02:03", datetime.time(1, 2, 3)),
    (datetime.timedelta, "PT1H", datetime.timedelta(hours=1)),
    (uuid.UUID, str(KEY), KEY),
    (decimal.Decimal, "0.10", decimal.Decimal("0.10")),
    (pathlib.Path, "a/b", pathlib.Path("a/b")),
    (ipaddress.IPv4Address, "127.0.0.1", ipaddress.IPv4Address("127.0.0.1")),
    (collections.deque[int], [1, 2], collections.deque([1, 2])),
    (collections.Counter[str], {"a": 2}, collections.Counter(a=2)),
    (collections.defaultdict[str, int], {"a": 2}, collections.defaultdict(int, a=2)),
    (Pair, [1, "2026-11-22"], Pair(1, DAY)),
    (Order, {"count": 1, "due": "2026-11-22"}, Order(1)),
    (Payment, {"at": "2026-11-22", "amount": "2"}, Payment(DAY, decimal.Decimal(2))),
    (Token, {"id": str(KEY)}, Token(KEY)),
    (Entry, {"day": "2026-11-22", "cost": "1"}, {"day": DAY, "cost": decimal.Decimal(1)}),
    (Strict, {"day": "2026-11-22"}, Strict(day=DAY)),
    (list[datetime.date], ["2026-11-22"], [DAY]),
    (dict[str, datetime.date], {"a": "2026-11-22"}, {"a": DAY}),
    (tuple[datetime.date, int], ["2026-11-22", 1], (DAY, 1)),
    (datetime.date | None, None, None),
    (datetime.date | None, "2026-11-22", DAY),
    (datetime.date | str, "someday", "someday"),
    (pydantic.PositiveInt, 1, 1),
    (Annotated[Cat | Dog, pydantic.Field(discriminator="kind")], {"kind": "dog"}, Dog(kind="dog")),
    (Annotated[str, pydantic.StringConstraints(to_upper=True)], "A", "A"),
]


def echoing(hint: Any) -> Tool:
    """A tool that takes and gives values of a type."""

    def echo(x: Any) -> Any:
        """Gives back what it got."""
        return x

    echo.__annotations__ = {"x": hint, "return": hint}
    return tool(echo)


@pytest.mark.parametrize(("hint", "value", "expected"), TYPES)
def test_a_type_that_pydantic_knows_is_read_and_written(
    hint: Any, value: Json, expected: Any
) -> None:
    made = echoing(hint)

    result = invoke_tool(made, validate_tool_args(made.schema, {"x": value}))

    read = json_type(hint).read(value)
    assert (read, type(read)) == (expected, type(expected))
    assert result == value
    assert made(x=expected) == value
    assert made.result_schema is not None
    check(made.result_schema, result)


@pytest.mark.parametrize(
    ("hint", "value", "message"),
    [
        (datetime.date, "someday", "x: Input should be a valid date"),
        (Annotated[decimal.Decimal, pydantic.Field(gt=0)], "0", "x: Input should be greater than"),
        (Annotated[datetime.date, at.Gt(DAY)], "2026-11-22", "x: Input should be greater than"),
        (Payment, {"at": "someday"}, "x.at: Input should be a valid date"),
        (Strict, {"day": "someday"}, "x.day: Input should be a valid date"),
    ],
)
def test_the_error_for_a_value_that_pydantic_refuses_has_its_path(
    hint: Any, value: Json, message: str
) -> None:
    made = echoing(hint)

    with pytest.raises(ValidationError, match=f"^{message}"):
        made.invoke(validate_tool_args(made.schema, {"x": value}))


def test_a_default_of_such_a_type_is_written_as_json_and_passed_as_it_is() -> None:
    def plan(day: datetime.date = DAY) -> bool:
        """Plans a day."""
        return day is not None and day == DAY

    def unplanned(day: datetime.date = "someday") -> None:  # type: ignore[assignment]  # wrong on purpose
        """Plans a day."""

    made = tool(plan)

    assert made.schema["properties"]["day"]["default"] == "2026-11-22"
    assert made.invoke(validate_tool_args(made.schema, {})) is True
    with pytest.raises(ToolError, match="its default 'someday' does not fit its type: Input"):
        tool(unplanned)


HINTS = [*(hint for hint, _ in SCHEMAS), *(hint for hint, _, _ in TYPES)]


@pytest.mark.parametrize("hint", HINTS, ids=str)
def test_a_function_of_any_hint_binds_to_the_specification_it_writes(hint: Any) -> None:
    made = echoing(hint)
    (specification,) = loads(write_program(tool_spec_from_function(made)))

    assert explain_binding(specification, ToolLibrary.of(made)) is None
