"""What Annotated adds to a schema."""

from __future__ import annotations

from typing import Annotated, Any

import annotated_types as at
import pydantic
import pytest
from typing_extensions import Doc

from interp.errors import ToolError
from interp.json_text import Json
from interp.tools.from_functions.json_types import json_type


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
    ],
)  # fmt: skip
def test_extras_of_a_number_are_keywords(hint: Any, added: dict[str, Json]) -> None:
    assert json_type(hint).schema == {"type": "integer", **added}


@pytest.mark.parametrize(
    ("hint", "added"),
    [
        (Annotated[str, at.Len(1, 3)], {"minLength": 1, "maxLength": 3}),
        (Annotated[str, at.MaxLen(3)], {"maxLength": 3}),
        (Annotated[str, pydantic.StringConstraints(pattern="^a")], {"pattern": "^a"}),
        (Annotated[str, pydantic.Field(pattern="^a", max_length=2)],
         {"pattern": "^a", "maxLength": 2}),
        (Annotated[list, at.MinLen(1)], {"minItems": 1}),
        (Annotated[dict, at.MinLen(1)], {"minProperties": 1}),
    ],
)  # fmt: skip
def test_a_length_is_said_as_the_type_counts_it(hint: Any, added: dict[str, Json]) -> None:
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
        (
            Annotated[str, {"default": b""}],
            "not a JSON Schema: $.default: bytes is not a JSON value",
        ),
    ],
)
def test_a_constraint_for_another_type_is_refused(hint: Any, message: str) -> None:
    with pytest.raises(ToolError) as error:
        json_type(hint)

    assert str(error.value) == message
