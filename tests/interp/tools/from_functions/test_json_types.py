"""Type hints become schemas, and JSON that a schema accepts becomes the Python value."""

from __future__ import annotations

import collections.abc as abc
import typing
from dataclasses import dataclass, field
from enum import Enum, Flag, IntEnum
from typing import Annotated, Any, Literal, NewType, Optional, TypeAlias, Union

import annotated_types as at
import pydantic
import pytest
from attrs import frozen
from hypothesis import given, strategies as st
from typing_extensions import Doc, TypeAliasType

from interp.errors import ToolError, ValidationError
from interp.json_text import Json
from interp.machine.contracts.values import check
from interp.tools.from_functions.json_types import json_type
from interp.tools.implementation import to_json_value

UserId = NewType("UserId", int)
Distance = TypeAliasType("Distance", Annotated[float, "in metres"])


class Unit(Enum):
    CELSIUS = "celsius"
    KELVIN = "kelvin"


Level = IntEnum("Level", "LOW HIGH")
Mixed = Enum("Mixed", {"ON": True, "NOTHING": None})
Access, Empty, Shape = (
    Flag("Access", "READ WRITE"),
    Enum("Empty", ""),
    Enum("Shape", {"ONE": (1, 1)}),
)


@frozen
class Point:
    x: float
    y: float = 0


@dataclass(frozen=True)
class Folder:
    name: str
    parent: Folder | None = None
    inside: tuple[Folder, ...] = ()


@dataclass
class Husband:
    wife: Wife | None = None


@dataclass
class Wife:
    husband: Husband | None = None


@dataclass(frozen=True)
class Cat:
    name: str


@dataclass(frozen=True)
class Dog:
    name: str
    barks: bool = True


@dataclass
class Stamp:
    at: bytes


@dataclass
class Holder:
    stamps: list[Stamp] = field(default_factory=list)


POINT = {
    "type": "object",
    "properties": {"x": {"type": "number"}, "y": {"type": "number", "default": 0}},
    "required": ["x"],
}

SCHEMAS: list[tuple[Any, dict[str, Json]]] = [
    (str, {"type": "string"}),
    (int, {"type": "integer"}),
    (float, {"type": "number"}),
    (bool, {"type": "boolean"}),
    (None, {"type": "null"}),
    (type(None), {"type": "null"}),
    (Any, {}),
    (object, {}),
    (list, {"type": "array"}),
    (typing.List, {"type": "array"}),  # noqa: UP006  # the older spelling is read, too
    (list[Any], {"type": "array"}),
    (list[str], {"type": "array", "items": {"type": "string"}}),
    (abc.Sequence[str], {"type": "array", "items": {"type": "string"}}),
    (abc.Iterable[int], {"type": "array", "items": {"type": "integer"}}),
    (set[str], {"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
    (frozenset, {"type": "array", "uniqueItems": True}),
    (tuple, {"type": "array"}),
    (typing.Tuple, {"type": "array"}),  # noqa: UP006  # the older spelling is read, too
    (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
    (tuple[()], {"type": "array", "minItems": 0, "maxItems": 0}),
    (tuple[int, str], {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}],
                       "minItems": 2, "maxItems": 2}),
    (dict, {"type": "object"}),
    (dict[str, Any], {"type": "object"}),
    (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
    (abc.Mapping[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
    (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
    (Literal["a", 1, None], {"enum": ["a", 1, None]}),
    (Literal[Unit.KELVIN], {"type": "string", "const": "kelvin"}),
    (Unit, {"type": "string", "enum": ["celsius", "kelvin"]}),
    (Level, {"type": "integer", "enum": [1, 2]}),
    (Optional[str], {"type": ["string", "null"]}),  # noqa: UP045  # the older spelling is read, too
    (None | int | str, {"type": ["string", "integer", "null"]}),
    (Union[int, float], {"type": ["integer", "number"]}),
    (Any | None, {"anyOf": [{}, {"type": "null"}]}),
    (list[int] | None,
     {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]}),
    (Unit | None, {"anyOf": [{"type": "string", "enum": ["celsius", "kelvin"]}, {"type": "null"}]}),
    (Annotated[int, "how many"], {"type": "integer", "description": "how many"}),
    (Annotated[str | None, {"format": "email"}], {"type": ["string", "null"], "format": "email"}),
    (UserId, {"type": "integer"}),
    (Distance, {"type": "number", "description": "in metres"}),
    (Point, POINT),
    (list[Point], {"type": "array", "items": POINT}),
]  # fmt: skip


@pytest.mark.parametrize(("hint", "schema"), SCHEMAS, ids=[str(hint) for hint, _ in SCHEMAS])
def test_a_hint_becomes_its_schema(hint: Any, schema: dict[str, Json]) -> None:
    assert json_type(hint).schema == schema


KNOWN = (
    "use str, int, float, bool, list, dict, Literal, an Enum, a record class, Any or a type that "
    "pydantic can write as JSON"
)

NO_FORM: dict[str, Any] = {
    "bytes": bytes, "complex": complex, "bytearray": bytearray, "type[int]": type[int],
    "collections.abc.Callable[[int], int]": abc.Callable[[int], int], "~T": typing.TypeVar("T"),
    "collections.abc.Iterator[int]": abc.Iterator[int], "typing.IO[str]": typing.IO[str],
    "collections.abc.AsyncIterator[int]": abc.AsyncIterator[int], "[<class 'int'>]": [int], "3": 3,
    "collections.abc.KeysView[str]": list[abc.KeysView[str]], "typing.Union": Union,
    "typing.Annotated": Annotated, "typing.Literal": Literal, "Access": Access,
}  # fmt: skip
REFUSED: list[tuple[Any, str]] = [
    *((hint, f"{name} has no JSON form; {KNOWN}") for name, hint in NO_FORM.items()),
    (int | bytes, f"bytes has no JSON form; {KNOWN}"),
    (list[int, str], "list[int, str] has 2 types in its brackets, not 1"),
    (dict[str], "dict[str] has 1 types in its brackets, not 2"),
    (dict[int, str], "the keys of a JSON object are str, not int"),
    (Literal[b"a"], "typing.Literal[b'a'] has the value b'a', which is not a JSON scalar"),
    (Shape, "Shape has the value (1, 1), which is not a JSON scalar"),
    (Empty, "Empty has no members"),
    (Holder, f'Holder field "stamps": Stamp field "at": bytes has no JSON form; {KNOWN}'),
]


@pytest.mark.parametrize(("hint", "message"), REFUSED, ids=[str(hint) for hint, _ in REFUSED])
def test_a_hint_without_a_json_form_is_refused_by_name(hint: Any, message: str) -> None:
    with pytest.raises(ToolError) as error:
        json_type(hint)

    assert str(error.value).replace(f"{__name__}.", "") == message


def test_a_type_that_contains_itself_is_defined_once() -> None:
    form = json_type(list[Folder])

    folder = {"$ref": "#/$defs/Folder"}
    fields = {
        "name": {"type": "string"},
        "parent": {"anyOf": [folder, {"type": "null"}], "default": None},
        "inside": {"type": "array", "items": folder, "default": []},
    }
    definition = {"type": "object", "properties": fields, "required": ["name"]}
    assert form.schema == {"type": "array", "items": folder, "$defs": {"Folder": definition}}
    read = form.read([{"name": "a", "inside": [{"name": "b"}]}])
    assert read == [Folder("a", inside=(Folder("b"),))]


Nested = TypeAliasType("Nested", "dict[str, Nested] | int")


def test_an_alias_that_contains_itself_is_defined_by_its_name() -> None:
    form = json_type(Nested)

    assert form.schema["$ref"] == "#/$defs/Nested"
    assert form.read({"a": {"b": 1.0}}) == {"a": {"b": 1}}


def test_two_recursive_types_of_one_name_get_two_definitions() -> None:
    @dataclass
    class Folder:  # not the one above
        up: Folder | None = None

    form = json_type(tuple[globals()["Folder"], Folder])

    one, other = (form.schema["$defs"][each["$ref"][8:]] for each in form.schema["prefixItems"])
    assert ([*one["properties"]], [*other["properties"]]) == (["name", "parent", "inside"], ["up"])


READINGS: list[tuple[Any, Json, Any]] = [
    (int, 3.0, 3),
    (float, 3, 3.0),
    (Unit, "kelvin", Unit.KELVIN),
    (Level, 2, Level.HIGH),
    (Mixed, True, Mixed.ON),
    (Literal[True, 1], 1, 1),
    (Literal[True, 1], True, True),
    (Literal[1], 1.0, 1),
    (Mixed, None, Mixed.NOTHING),
    (Literal[Unit.KELVIN, "hot"], "kelvin", Unit.KELVIN),
    (tuple[int, ...], [1.0, 2], (1, 2)),
    (tuple[Unit, int], ["kelvin", 1], (Unit.KELVIN, 1)),
    (set[Unit], ["kelvin"], {Unit.KELVIN}),
    (abc.Set[int], [1], frozenset({1})),
    (dict[str, list[Unit]], {"a": ["kelvin"]}, {"a": [Unit.KELVIN]}),
    (Point, {"x": 1}, Point(1.0)),
    (dict[str, Point] | None, {"a": {"x": 1, "y": 2}}, {"a": Point(1.0, 2.0)}),
    (Unit | None, None, None),
    (Unit | int, 1.0, 1),
    (bool | int, 1.0, 1),
    (bool | int, True, True),
    (Cat | Dog, {"name": "Tom"}, Cat("Tom")),
    (Cat | Dog, {"name": "Rex", "barks": False}, Dog("Rex", barks=False)),
    (list[Cat | str], ["a", {"name": "Tom"}], ["a", Cat("Tom")]),
    (Any, {"a": [1.0]}, {"a": [1.0]}),
    (Husband, {"wife": {"husband": {"wife": None}}}, Husband(Wife(Husband()))),
]


@pytest.mark.parametrize(("hint", "value", "expected"), READINGS)
def test_json_becomes_what_the_hint_asks_for(hint: Any, value: Json, expected: Any) -> None:
    found = json_type(hint).read(value)

    assert (found, type(found)) == (expected, type(expected))


def test_the_error_for_an_unknown_field_names_the_known_ones() -> None:
    with pytest.raises(ValidationError, match=r'^0: unknown "lives"; known: name$'):
        json_type(list[Cat]).read([{"name": "Tom", "lives": 9}])


Typed: TypeAlias = tuple[Any, st.SearchStrategy[Any]]
"""A hint with a strategy for its Python values."""


def hints_with_values() -> st.SearchStrategy[Typed]:
    parents = st.none() | st.builds(Folder, st.just("p"))
    leaves: list[Typed] = [
        (str, st.text(max_size=3)),
        (int, st.integers(-9, 9)),
        (float, st.floats(-9, 9)),
        (bool, st.booleans()),
        (None, st.none()),
        (Unit, st.sampled_from(Unit)),
        (Level, st.sampled_from(Level)),
        (Literal["a", 1], st.sampled_from(["a", 1])),
        (Point, st.builds(Point, st.floats(-9, 9), st.floats(-9, 9))),
        (Folder, st.builds(Folder, st.text(max_size=3), parents)),
    ]

    def of_one(pair: Typed) -> list[Typed]:
        hint, values = pair
        several = st.lists(values, max_size=2)
        return [
            (list[hint], several),
            (tuple[hint, ...], several.map(tuple)),
            (tuple[hint, str], st.tuples(values, st.text(max_size=2))),
            (dict[str, hint], st.dictionaries(st.text(max_size=2), values, max_size=2)),
            (Optional[hint], st.none() | values),  # noqa: UP045  # the older spelling is read, too
        ]

    def around(inner: st.SearchStrategy[Typed]) -> st.SearchStrategy[Typed]:
        return inner.flatmap(lambda pair: st.sampled_from(of_one(pair)))

    return st.recursive(st.sampled_from(leaves), around, max_leaves=4)


@given(st.data())
def test_every_value_of_a_hint_is_accepted_by_its_schema_and_read_back(data: st.DataObject) -> None:
    hint, values = data.draw(hints_with_values(), label="hint")
    value = data.draw(values, label="value")

    form = json_type(hint)
    written = to_json_value(value)

    check(form.schema, written)
    assert form.read(written) == value


@pytest.mark.parametrize(
    ("hint", "added"),
    [
        (Annotated[int, "count"], {"description": "count"}),
        (Annotated[int, "inner", "outer"], {"description": "outer"}),
        (Annotated[int, Doc("count")], {"description": "count"}),
        (Annotated[int, at.Ge(1), at.Lt(9)], {"minimum": 1, "exclusiveMaximum": 9}),
        (Annotated[int, at.Interval(gt=1, le=9)], {"exclusiveMinimum": 1, "maximum": 9}),
        (Annotated[int, at.MultipleOf(2)], {"multipleOf": 2}),
        (Annotated[int, object()], {}),
        (Annotated[int, {"minimum": 1, "examples": [3]}], {"minimum": 1, "examples": [3]}),
        (Annotated[int, pydantic.Field(ge=1, description="count")],
         {"description": "count", "minimum": 1}),
        (Annotated[str, at.Len(1, 3)], {"minLength": 1, "maxLength": 3}),
        (Annotated[str, at.MaxLen(3)], {"maxLength": 3}),
        (Annotated[str, pydantic.StringConstraints(pattern="^a")], {"pattern": "^a"}),
        (Annotated[str, pydantic.Field(pattern="^a", max_length=2)],
         {"pattern": "^a", "maxLength": 2}),
        (Annotated[list, at.MinLen(1)], {"minItems": 1}),
        (Annotated[dict, at.MinLen(1)], {"minProperties": 1}),
    ],
)  # fmt: skip
def test_extras_are_keywords_of_the_type(hint: Any, added: dict[str, Json]) -> None:
    bare = json_type(hint.__origin__).schema

    assert json_type(hint).schema == {**bare, **added}


@pytest.mark.parametrize(
    ("hint", "message"),
    [
        (Annotated[str, at.Ge(1)], "ge=1 does not constrain a type like string"),
        (Annotated[int, at.MinLen(1)], "minLength=1 does not constrain a type like integer"),
        (
            Annotated[int, at.Ge(1j)],  # type: ignore[arg-type]  # wrong on purpose
            "Error building \"int\" validator: ValueError: 'ge' must be coercible to an integer",
        ),
        (Annotated[str, {"minLength": "3"}], 'not a JSON Schema: "3" is not of type "integer"'),
        (Annotated[str, {"default": b""}],
         "not a JSON Schema: $.default: bytes is not a JSON value"),
    ],
)  # fmt: skip
def test_a_constraint_for_another_type_is_refused(hint: Any, message: str) -> None:
    with pytest.raises(ToolError) as error:
        json_type(hint)

    assert str(error.value) == message
