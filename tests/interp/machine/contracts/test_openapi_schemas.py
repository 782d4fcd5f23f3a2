"""Schemas of OpenAPI 3.0, as JSON Schema."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from interp import ValidationError
from interp.machine.contracts.openapi_schemas import from_openapi_schema
from lenses_ext.signatures import json_schema_diagnostics
from tests.lenses_ext.strategies import parameter_schemas


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ({"type": "string", "nullable": False}, {"type": "string"}),
        ({"type": "string", "nullable": True, "enum": ["a"]},
         {"type": ["string", "null"], "enum": ["a", None]}),
        ({"$ref": "#/x", "nullable": True, "description": "D"},
         {"description": "D", "anyOf": [{"$ref": "#/x"}, {"type": "null"}]}),
        ({"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}),
        ({"maximum": 1, "exclusiveMaximum": False}, {"maximum": 1}),
        ({"example": 3, "xml": {"name": "x"}}, {"examples": [3]}),
        (
            {
                "properties": {"nullable": {"type": "string"}},
                "items": {"anyOf": [{"type": "string", "nullable": True}]},
            },
            {
                "properties": {"nullable": {"type": "string"}},
                "items": {"anyOf": [{"type": ["string", "null"]}]},
            },
        ),
    ],
)  # fmt: skip
def test_what_openapi_writes_in_its_own_way(written: dict[str, Any], meant: dict[str, Any]) -> None:
    assert from_openapi_schema(written) == meant


def test_a_flag_of_another_type_is_refused_with_its_place() -> None:
    with pytest.raises(ValidationError, match=r"^\$.items.nullable: expected true or false, found"):
        from_openapi_schema({"items": {"nullable": "yes"}})


@given(parameter_schemas())
def test_a_json_schema_stays_valid(schema: dict[str, Any]) -> None:
    before = [fault.code for fault in json_schema_diagnostics(schema) if fault.severity == "error"]
    after = json_schema_diagnostics(from_openapi_schema(schema))

    assert before == [fault.code for fault in after if fault.severity == "error"] == []
