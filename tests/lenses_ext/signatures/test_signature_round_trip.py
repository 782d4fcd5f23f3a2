"""Nothing is lost between JSON Schema and signatures, nor between signatures and their text."""

import copy
import json
from typing import Any

from hypothesis import example
from tree_sitter import Language, Parser
from tree_sitter_gram import language

import gram
import lenses_ext
from gram import Pattern, Subject, loads, loads_one
from lenses_ext import (
    signature_text,
    type_signature_to_json_schema,
    write_program,
    write_type_signature,
)
from lenses_ext.signatures import signature_elements
from lenses_ext.signatures.values import TypeSignature
from lenses_ext.signatures.writer import agent_style, signature_patterns
from tests.by_day import given_few
from tests.gram.strategies import forests
from tests.lenses_ext.strategies import json_schemas, parameter_schemas, type_signatures
from tests.paths import DATA

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


@given_few(parameter_schemas())
def test_a_schema_comes_back_from_its_signature_which_is_gram_for_every_parser(
    schema: dict[str, Any],
) -> None:
    before = copy.deepcopy(schema)

    text = lenses_ext.json_schema_to_type_signature(schema)

    assert schema == before
    assert same(type_signature_to_json_schema(text)) == same(schema)
    assert lenses_ext.json_schema_to_type_signature(schema) == text
    assert tree_sitter_accepts(text)
    signature = lenses_ext.parse_type_signature(text)
    assert write_type_signature(signature) == text
    assert lenses_ext.parse_type_signature(write_type_signature(signature)) == signature
    assert signature_patterns(signature) == loads(text)


@given_few(type_signatures())
def test_a_signature_made_by_hand_means_the_same_once_written(signature: TypeSignature) -> None:
    text = write_type_signature(signature)
    read = lenses_ext.parse_type_signature(text)
    assert type_signature_to_json_schema(read) == type_signature_to_json_schema(signature)
    assert lenses_ext.result_schema(read) == lenses_ext.result_schema(signature)
    assert write_type_signature(read) == text
    assert tree_sitter_accepts(text)


REFERS = {"$ref": "#/properties/b", "default": 1}


@given_few(parameter_schemas(), json_schemas())
@example(  # a reference leads elsewhere beside parameters
    {"type": "object", "properties": {"b": {"type": "string"}}},
    {"type": "object", "properties": {"a": REFERS, "b": {"type": "integer"}}},
)
@example(  # what leads nowhere keeps no other default from being judged
    {}, {"type": "object", "properties": {"a": {"not": {}, "default": 1}, "b": {"$ref": "#/c"}}}
)
@example({}, {"type": "object", "properties": {"a": {"not": True, "default": [], "": None}}})
def test_the_schema_of_a_result_comes_back_and_leaves_the_parameters_alone(
    schema: dict[str, Any], result: Any
) -> None:
    text = lenses_ext.json_schema_to_type_signature(schema, return_schema=result)
    assert same(type_signature_to_json_schema(text)) == same(schema)
    expected = {} if result is True else {"not": {}} if result is False else result
    assert same(lenses_ext.result_schema(text) or {}) == same(expected)


# --- the style of programs

AGENT = (DATA / "signatures/styled.gram").read_text("utf-8")


def test_a_program_is_written_in_its_own_style() -> None:
    assert write_program(loads(AGENT)) == AGENT
    tool = "[t:Tool | (a::Text)==>(::String), [U::Object | (a::Text), (b::Text)], [X | (a), (b)]]"
    assert write_program(loads_one(tool)) == tool.replace("(a), (b)", "a, b")


def test_the_signature_text_reads_back_as_the_elements() -> None:
    tool = loads(AGENT)[0].elements[0]

    text = signature_text(tool)

    assert text.splitlines()[:2] == [
        '(name::Text {default: "world"})==>(n::Int)==>(::String)',
        "[::Parameters {additionalProperties: false}]",
    ]
    assert loads(text) == tool.elements
    assert signature_elements(text) == tool.elements


@given_few(forests())
def test_any_program_reads_back(trees: tuple[Pattern, ...]) -> None:
    agent = Pattern(Subject("a", {"Agent"}), [Pattern(Subject("t", {"Tool"}), trees), *trees])
    text = gram.dumps(agent, style=agent_style)
    assert loads(signature_text(agent.elements[0])) == trees
    assert loads_one(text) == agent
    assert write_program(loads_one(text)) == text
