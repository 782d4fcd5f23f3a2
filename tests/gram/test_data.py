"""Every text in tests/data/valid is read as the JSON beside it, in all directions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gram import dumps, from_json, load_file, loads, parse, syntax_errors, to_json

DATA = Path(__file__).parents[1] / "data" / "valid"
FILES = sorted(DATA.glob("*.gram"))


def test_every_text_has_its_json() -> None:
    assert len(FILES) >= 20
    assert {file.stem for file in FILES} == {file.stem for file in DATA.glob("*.json")}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_text_says_what_its_json_says_in_every_direction(file: Path) -> None:
    expected = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
    text = file.read_bytes().decode()

    trees = load_file(file)

    assert repr(to_json(trees)) == repr(expected), "integers and decimals differ, too"
    assert from_json(expected) == trees
    assert syntax_errors(text) == ()
    assert loads(dumps(trees)) == trees
    assert dumps(loads(dumps(trees))) == dumps(trees)
    document = parse(text)
    assert (document.patterns, document.text) == (trees, text)
