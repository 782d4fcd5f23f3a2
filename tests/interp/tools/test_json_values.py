"""Python values as JSON values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import attrs
import pydantic
from pyrsistent import pmap

from interp.tools.implementation import to_json_value


class Unit(Enum):
    KELVIN = "kelvin"


@dataclass
class Point:
    x: int


@attrs.frozen
class Line:
    _start: Point


class Note(pydantic.BaseModel):
    text: str = pydantic.Field(alias="content")


def test_records_become_objects_at_every_depth() -> None:
    value = {"a": [Line(Point(1))], "b": pmap({"c": Note(content="hi")})}

    assert to_json_value(value) == {"a": [{"start": {"x": 1}}], "b": {"c": {"content": "hi"}}}


def test_enum_members_become_their_values_and_sets_have_an_order_of_their_own() -> None:
    assert to_json_value({Unit.KELVIN: Unit.KELVIN}) == {"kelvin": "kelvin"}
    assert to_json_value({10, 9}) == [9, 10]
    assert to_json_value(frozenset({"b", "a", 1})) == ["a", "b", 1]


def test_what_has_no_json_form_is_left_as_it_is() -> None:
    class Half:
        def model_dump(self, **_: object) -> str:
            raise AssertionError("it is no model, so nothing asks it")

        def model_json_schema(self) -> None: ...

    value = [object(), Half(), Point, b""]

    assert to_json_value(value) == value
