"""Known texts: every one of ours is read as the JSON beside it, in all directions; of every row of
the conformance data, where it is, acceptance, trees and error places."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyrsistent import PMap, PVector

import gram
from gram import GramDecodeError, Measurement, Pattern, Range, dumps, from_json, loads, to_json
from tests.gram.texts import ROWS, Row
from tests.paths import DATA, NOT_HERE

FILES = sorted((DATA / "valid").glob("*.gram"))


def test_every_text_has_its_json() -> None:
    assert len(FILES) >= 20
    assert [file.with_suffix(".json").exists() for file in FILES] == [True] * len(FILES)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_text_says_what_its_json_says_in_every_direction(file: Path) -> None:
    expected = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
    text = file.read_bytes().decode()
    trees = gram.load_file(file)
    assert repr(to_json(trees)) == repr(expected), "integers and decimals differ, too"
    assert from_json(expected) == trees
    assert gram.syntax_errors(text) == ()
    assert loads(dumps(trees)) == trees
    assert dumps(loads(dumps(trees))) == dumps(trees)
    document = gram.parse(text)
    assert (document.patterns, document.text) == (trees, text)


needs_rows = pytest.mark.skipif(not ROWS, reason=NOT_HERE)


def each(rows: list[Row]) -> Any:
    """One test for each row, under its own name."""
    return pytest.mark.parametrize(
        "row", [pytest.param(row, id=row["id"], marks=needs_rows) for row in rows]
    )


@needs_rows
def test_the_data_has_every_kind_of_row() -> None:
    kinds = {row["id"].partition("/")[0] for row in ROWS}
    assert {"corpus", "file", "reject", "superset", "accept"} <= kinds
    assert len(ROWS) > 300


@each([row for row in ROWS if row["superset_accepts"]])
def test_what_gram_accepts_has_the_trees_of_the_row_and_keeps_them(row: Row) -> None:
    trees = loads(row["source"])
    expected = row["superset_shape"] if row["shape"] is None else row["shape"]
    assert expected == [_shape(tree) for tree in trees]
    text = dumps(trees)
    assert loads(text) == trees
    assert dumps(loads(text)) == text
    assert from_json(json.loads(json.dumps(to_json(trees)))) == trees


@each([row for row in ROWS if not row["superset_accepts"]])
def test_what_gram_refuses_is_refused_at_the_place_of_the_row(row: Row) -> None:
    with pytest.raises(GramDecodeError) as caught:
        loads(row["source"])
    place = f"{caught.value.lineno}:{caught.value.colno}"
    assert row.get("expected_error", place) == place, str(caught.value)


def _shape(pattern: Pattern) -> dict[str, Any]:
    """A pattern in the encoding of the conformance data, which is not the canonical JSON."""
    subject = pattern.value
    return {
        "identity": subject.identity,
        "labels": sorted(subject.labels),
        "properties": {key: _value(value) for key, value in subject.properties.items()},
        "elements": [_shape(element) for element in pattern.elements],
    }


def _value(value: object) -> Any:
    match value:
        case float():
            return {"type": "decimal", "value": value}
        case Measurement(number, unit):
            return {"type": "measurement", "value": number, "unit": unit}
        case Range(lower, upper):
            return {"type": "range", "lower": _value(lower), "upper": _value(upper)}
        case gram.TaggedString(tag, content):
            return {"type": "tagged", "tag": tag, "content": content}
        case gram.Symbol(word):
            return {"type": "symbol", "value": word}
        case PMap():
            return {"type": "map", "entries": {key: _value(item) for key, item in value.items()}}
        case PVector():
            return [_value(item) for item in value]
    return value
