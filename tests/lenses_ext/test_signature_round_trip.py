"""Nothing is lost between JSON Schema and signatures, nor between signatures and their text."""

import copy
import json
from typing import Any

from hypothesis import given
from tree_sitter import Language, Parser
from tree_sitter_gram import language

from gram import loads
from lenses_ext import (
    json_schema_to_type_signature,
    parse_type_signature,
    signature_patterns,
    type_signature_to_json_schema,
    write_type_signature,
)
from tests.strategies import parameter_schemas

_TREE_SITTER = Parser(Language(language()))


def same(value: Any) -> str:
    """Text that is equal for schemas that differ at most in key order and ``required``."""
    return json.dumps(_comparable(value), sort_keys=True)


def _comparable(value: Any) -> Any:
    if isinstance(value, list):
        return [_comparable(item) for item in value]
    if not isinstance(value, dict):
        return value
    required = value.get("required")
    rest = {key: _comparable(item) for key, item in value.items() if key != "required"}
    if isinstance(required, list) and all(isinstance(name, str) for name in required):
        return {**rest, "required": sorted(required)} if required else rest
    return {**rest, **({} if "required" not in value else {"required": _comparable(required)})}


def tree_sitter_accepts(text: str) -> bool:
    return not _TREE_SITTER.parse(text.encode()).root_node.has_error


@given(parameter_schemas())
def test_a_schema_comes_back_from_its_signature(schema: dict[str, Any]) -> None:
    before = copy.deepcopy(schema)

    text = json_schema_to_type_signature(schema)

    assert schema == before
    assert same(type_signature_to_json_schema(text)) == same(schema)
    assert json_schema_to_type_signature(schema) == text


@given(parameter_schemas())
def test_what_is_written_is_gram_for_every_parser(schema: dict[str, Any]) -> None:
    text = json_schema_to_type_signature(schema)

    assert loads(text)
    assert tree_sitter_accepts(text)


@given(parameter_schemas())
def test_a_signature_comes_back_from_its_text(schema: dict[str, Any]) -> None:
    text = json_schema_to_type_signature(schema)

    signature = parse_type_signature(text)

    assert write_type_signature(signature) == text
    assert parse_type_signature(write_type_signature(signature)) == signature
    assert signature_patterns(signature) == loads(text)
