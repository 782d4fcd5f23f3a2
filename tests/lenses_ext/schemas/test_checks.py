"""What is no JSON Schema is refused."""

from typing import Any

import pytest

from lenses_ext import SchemaError
from lenses_ext.schemas import schema_validator


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "txt"}, {"type": 1}, {"title": 1}, {"enum": "ab"}, {"required": ["a", "a"]},
        {"required": [1]}, {"properties": {"a": 1}}, {"additionalProperties": "no"}, {"type": []},
        {"items": {"type": "txt"}}, {"type": ["string", "string"]}, {"anyOf": []},
        {"anyOf": [{"type": "txt"}]}, {"minimum": True}, {"minLength": -1}, {"uniqueItems": 1},
        {"$defs": {"a": 1}},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_schema_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(SchemaError):
        schema_validator(schema)
