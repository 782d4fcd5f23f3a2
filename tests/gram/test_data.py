"""Every text in tests/data/valid is read as the JSON beside it, in all directions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gram import dumps, from_json, load_file, loads, parse, syntax_errors, to_json

DATA = Path(__file__).parents[1] / "data" / "valid"
FILES = sorted(DATA.glob("*.gram"))

each_file = pytest.mark.parametrize("file", [pytest.param(file, id=file.name) for file in FILES])


def expected(file: Path) -> Any:
    return json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))


def test_every_text_has_its_json() -> None:
    assert len(FILES) >= 20
    assert {file.stem for file in FILES} == {file.stem for file in DATA.glob("*.json")}


@each_file
def test_a_text_says_what_its_json_says(file: Path) -> None:
    trees = load_file(file)

    assert expected(file) == to_json(trees)
    assert from_json(expected(file)) == trees
    assert syntax_errors(file.read_bytes().decode()) == ()


@each_file
def test_integers_and_decimals_of_a_text_stay_apart(file: Path) -> None:
    assert repr(to_json(load_file(file))) == repr(expected(file))


@each_file
def test_what_is_written_of_a_text_reads_back_and_is_written_the_same(file: Path) -> None:
    trees = load_file(file)

    text = dumps(trees)

    assert loads(text) == trees
    assert dumps(loads(text)) == text


@each_file
def test_a_document_gives_the_same_patterns_and_keeps_the_text(file: Path) -> None:
    text = file.read_bytes().decode()

    document = parse(text)

    assert document.patterns == load_file(file)
    assert document.text == text
