"""What a signature says in JSON Schema and back, case by case."""

import json
import re
from typing import Any

import pytest

import lenses_ext
from gram import ArgumentError, loads, loads_one, parse
from lenses_ext import SignatureError, parse_type_signature, type_signature_to_json_schema
from lenses_ext.signatures import signature_diagnostics, signature_elements
from tests.paths import DATA

CASES = DATA / "signatures"


def cases(name: str, title: str, *, in_a_tool: bool = False) -> Any:
    rows = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))
    if in_a_tool:  # the text form and broken gram are no pattern
        rows = [row for row in rows if not re.search("text form|not gram|empty", row[title])]
    assert rows
    return pytest.mark.parametrize("row", rows, ids=[row[title] for row in rows])


@cases("signatures", "claim")
def test_a_signature_has_one_written_form_which_says_its_schema_in_a_tool_too(
    row: dict[str, Any],
) -> None:
    expected = {"type": "object", "properties": row["properties"], "required": row["required"]}

    schema = type_signature_to_json_schema(row["signature"])

    assert schema == {**expected, **row.get("rest", {})}
    assert list(schema["properties"]) == list(row["properties"])
    if "result" in row:
        assert lenses_ext.result_schema(row["signature"]) == row["result"]
    written = row.get("written", row["signature"])
    assert lenses_ext.write_type_signature(parse_type_signature(row["signature"])) == written
    assert lenses_ext.write_type_signature(parse_type_signature(written)) == written
    tool = loads_one(f"[t:Tool | {written.replace(chr(10), ', ')}]")
    assert type_signature_to_json_schema(tool) == type_signature_to_json_schema(written) == schema


@cases("schemas", "claim")
def test_a_schema_has_one_signature_and_comes_back(row: dict[str, Any]) -> None:
    text = lenses_ext.json_schema_to_type_signature(row["schema"], return_schema=row.get("returns"))
    assert text == row["signature"]
    assert type_signature_to_json_schema(text) == {"required": [], **row["schema"]}
    assert lenses_ext.result_schema(text) == row.get("returns")


@cases("errors", "case")
def test_an_error_says_all_that_is_wrong_and_where(row: dict[str, Any]) -> None:
    with pytest.raises(SignatureError) as caught:
        parse_type_signature(row["signature"])
    assert [fault.message for fault in caught.value.faults] == row["faults"]
    if "place" in row:
        assert [caught.value.lineno, caught.value.colno] == row["place"]


@pytest.mark.parametrize("faults", [[], "ab", [1], None])
def test_an_error_of_signatures_has_at_least_one_fault(faults: Any) -> None:
    with pytest.raises(ArgumentError, match="SignatureError: faults"):
        SignatureError(faults)


@cases("slips", "signature")
def test_a_slip_is_reported_with_its_place_and_its_likely_fix(row: dict[str, Any]) -> None:
    found = signature_diagnostics(row["signature"])

    parts = ("severity", "code", "message", "hint")
    assert [
        {part: getattr(fault, part) for part in parts} | {"place": [fault.lineno, fault.colno]}
        for fault in found
    ] == row["faults"]
    if all(fault.severity == "warning" for fault in found):
        assert type_signature_to_json_schema(row["signature"])


def test_a_name_that_is_not_defined_may_be_a_type_of_elsewhere() -> None:
    text = "(u::User)==>(::Text)"
    assert parse_type_signature(text, open=True).parameters[0].type.labels == {"User"}
    assert signature_elements(text, open=True) == loads(text)
    with pytest.raises(SignatureError, match='unknown type "User"'):
        parse_type_signature(text)


def test_a_key_that_a_text_gives_again_is_told_as_the_notation_tells_it() -> None:
    with pytest.raises(SignatureError) as caught:
        parse_type_signature("(age::Int {default: 1, default: 2})==>(::String)")
    (fault,) = caught.value.faults
    assert str(fault).startswith("1:12: error[duplicate-key] the key `default` is given again")
    assert fault.fix


@cases("errors", "case", in_a_tool=True)
def test_an_error_of_a_tool_in_a_file_cites_the_file(row: dict[str, Any]) -> None:
    elements = row["signature"].replace(") [", "), [").replace("] [", "], [")
    elements = elements.replace(") (", "), (")
    document = parse(f"\n[t:Tool | {elements}]", "agents.gram")

    with pytest.raises(SignatureError) as caught:
        parse_type_signature(document.patterns[0])

    fault = caught.value.faults[0]
    assert (fault.filename, fault.lineno) == ("agents.gram", 2)
    assert str(caught.value).startswith(f"agents.gram:2:{fault.colno}: ")
    assert len(caught.value.faults) == len(row["faults"])


def test_a_schema_is_a_fresh_copy_each_time_and_unknown_keys_stay_in_it() -> None:
    tool = loads_one("[t:Tool | (a::Integer {optinal: true, enum: [1]})==>(::String)]")
    expected = {"type": "integer", "optinal": True, "enum": [1]}
    type_signature_to_json_schema(tool)["properties"]["a"]["enum"].append(2)
    assert type_signature_to_json_schema(tool)["properties"]["a"] == expected


def test_the_types_beside_a_tool_in_a_text_are_its_own_and_a_tool_by_itself_needs_them() -> None:
    text = "[t:Tool | (u::User)==>(::String)] [User:Object | (id::Id)] [Id:Text] [x:Agent {k: 1}]"
    schema = type_signature_to_json_schema(text)
    assert schema["properties"]["u"]["properties"] == {"id": {"type": "string"}}
    written = lenses_ext.write_type_signature(parse_type_signature(text))
    assert written == "(u::User)==>(::String)\n[User::Object | (id::Id)]\n[Id::Text]"
    with pytest.raises(SignatureError, match='unknown type "User"'):
        type_signature_to_json_schema(loads(text)[0])


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (True, "the parameters of a tool are an object schema, got true"),
        ({"type": "string"}, 'are an object, but the schema has type "string"'),
        ({"properties": {"age": {"minimum": "0"}}}, '"minimum" of "age" must be a number, got "0"'),
        ({"$ref": "http://x.org"}, '"$ref" to "http://x.org" is not local'),
        ({"type": "object", "default": {1}}, "the schema is not JSON: $.default: set is not"),
        ({"type": "object", "default": float("nan")}, "nan is not a JSON value"),
        ({"type": "object", "title": "\ud800"}, "lone surrogate"),
    ],
)
def test_what_no_signature_can_carry_is_refused(schema: Any, message: str) -> None:
    with pytest.raises(SignatureError, match=re.escape(message)):
        lenses_ext.json_schema_to_type_signature(schema)
