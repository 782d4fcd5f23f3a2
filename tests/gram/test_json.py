"""The canonical JSON: its forms, the trap of maps with a type, its schema, what is refused."""

from __future__ import annotations

import copy
import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given

from gram import GramDecodeError, Pattern, from_json, json_schema, loads_one, to_json
from gram.grammar import terminal
from tests.by_day import given_few
from tests.gram.strategies import forests
from tests.gram.trees.test_pattern import nested_list
from tests.interp.strategies import json_data
from tests.paths import DATA

VALIDATOR = jsonschema_rs.validator_for(json_schema())


SUBJECT: dict[str, Any] = {"identity": "", "labels": [], "properties": {}}


def with_subject(**changes: Any) -> dict[str, Any]:
    """A pattern's canonical JSON with another subject."""
    return {"subject": SUBJECT | changes, "elements": []}


def with_value(value: Any) -> dict[str, Any]:
    """A pattern's canonical JSON with one property."""
    return with_subject(identity="a", properties={"k": value})


MAPS = json.loads((DATA / "maps.json").read_text("utf-8"))
"""Maps with a type, which are plain, and entries that look like another value."""


@pytest.mark.parametrize("plain", MAPS["plain"])
def test_a_map_with_a_type_is_a_plain_object(plain: dict[str, Any]) -> None:
    assert to_json(from_json(with_value(plain))) == with_value(plain)
    assert VALIDATOR.is_valid(with_value(plain))


@pytest.mark.parametrize("entries", MAPS["special"])
def test_a_map_that_looks_like_a_special_value_is_wrapped_and_properties_are_not(
    entries: str,
) -> None:
    tree, top = loads_one(f"(a {{k: {{{entries}}}}})"), loads_one(f"(a {{{entries}}})")
    data = to_json(tree)
    plain = to_json(top)["subject"]["properties"]
    assert data["subject"]["properties"]["k"] == {"type": "map", "entries": plain}
    assert (from_json(data), from_json(to_json(top))) == (tree, top)
    assert VALIDATOR.is_valid(data)


@given_few(forests())
def test_what_is_written_is_valid_under_the_schema(trees: tuple[Pattern, ...]) -> None:
    data = json.loads(json.dumps(to_json(trees)))
    VALIDATOR.validate(data)
    for pattern in data:
        VALIDATOR.validate(pattern)


def test_the_schema_is_valid_as_the_grammar_says_and_a_fresh_copy_each_time() -> None:
    jsonschema_rs.validator_for({"$ref": "https://json-schema.org/draft/2020-12/schema"}).validate(
        json_schema()
    )

    before, changed = copy.deepcopy(json_schema()), json_schema()
    changed["$defs"]["symbol"]["properties"].clear()
    changed["$defs"]["entries"]["additionalProperties"].clear()

    assert json_schema() == before
    symbol = before["$defs"]["symbol"]["properties"]["value"]["pattern"]
    unit = before["$defs"]["measurement"]["properties"]["unit"]["pattern"]
    assert symbol == f"^(?!(?:true|false)$)(?:{terminal('SYMBOL').pattern})$"
    assert unit == f"^(?:{terminal('UNIT').pattern})$"


@given(json_data())
def test_the_schema_and_the_reader_agree(data: Any) -> None:
    try:
        from_json(with_value(data))
        is_read = True
    except GramDecodeError:
        is_read = False
    assert VALIDATOR.is_valid(with_value(data)) == is_read


MALFORMED = json.loads((DATA / "malformed.json").read_text("utf-8"))
"""Data that is not the canonical form, each with what is said of it."""


@pytest.mark.parametrize(("data", "message"), MALFORMED)
def test_what_the_schema_refuses_is_refused_with_its_path(data: Any, message: str) -> None:
    assert not VALIDATOR.is_valid(data)
    with pytest.raises(GramDecodeError) as caught:
        from_json(data)
    assert message == caught.value.msg


CYCLIC: list[Any] = []
CYCLIC.append(CYCLIC)
CYCLIC_PATTERN = with_value(1) | {"elements": []}
CYCLIC_PATTERN["elements"].append(CYCLIC_PATTERN)


@pytest.mark.parametrize(
    "data",
    [
        with_value(CYCLIC),
        CYCLIC_PATTERN,
        with_value(nested_list(100)),
        with_value("\ud800"),
        with_value(float("nan")),
        with_value(10**5000),
        with_value({1: 2}),
        with_value(b"bytes"),
        with_value({"type": "symbol", "value": "x" * 3 + "\n"}),
        {"subject": {**SUBJECT, 1: 2}, "elements": []},
        (with_value(1),),
        1,
    ],
)
def test_what_has_no_notation_is_a_decode_error(data: Any) -> None:
    with pytest.raises(GramDecodeError):
        from_json(data)


def test_a_hundred_levels_are_read_and_a_wrapped_map_may_be_any_map() -> None:
    assert from_json(with_value(nested_list(99))).levels == 100
    wrapped = {"type": "map", "entries": {"a": 1}}
    assert from_json(with_value(wrapped)) == loads_one("(a {k: {a: 1}})")
