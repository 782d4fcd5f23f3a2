"""Where a pattern with holes is found in a program."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from gram import GramDecodeError, Pattern
from lenses_ext import agent_model, change_places, each_match, query, rewrite, tool_spec_description
from lenses_ext.optics import collect, over, put
from lenses_ext.signatures import parse_program
from tests.paths import DATA

ROWS = json.loads((DATA / "matches.json").read_text("utf-8"))

PROGRAM = (DATA / "matches.gram").read_text("utf-8")


def found(pattern: str, **options: bool) -> list[dict[str, Any]]:
    """What the holes stand for in each match; elements by their names."""
    return [
        {
            name: bound.value.identity if isinstance(bound, Pattern) else bound
            for name, bound in match.bindings.items()
        }
        for match in query(pattern, parse_program(PROGRAM), **options)
    ]


def test_references_are_followed_and_labels_that_are_read_as_the_same_are_the_same() -> None:
    pattern = "[_agent:Agent {model: _m} | [_t:ToolSpecification {description: _d}]]"

    assert found(pattern) == [
        {"_agent": "desk", "_m": "OpenAI/x", "_t": "search", "_d": "Searches."},
        {"_agent": "desk", "_m": "OpenAI/x", "_t": "note", "_d": "Notes."},
        {"_agent": "helper", "_m": "OpenAI/y", "_t": "search", "_d": "Searches."},
        {"_agent": "helper", "_m": "OpenAI/y", "_t": "note", "_d": "Other."},
    ]
    assert found(pattern, as_written=True) == []
    assert [
        each["_t"] for each in found(pattern.replace("Specification", ""), as_written=True)
    ] == ["note", "note"]


@pytest.mark.parametrize(("pattern", "expected"), ROWS["found"])
def test_signatures_and_arrows_are_found(pattern: str, expected: list[dict[str, Any]]) -> None:
    assert found(pattern) == expected


def test_a_place_that_was_found_is_looked_at_and_changed_as_any_other() -> None:
    document = parse_program(PROGRAM)
    places = [match.place for match in query("(_t:Tool {description: _d})", document)]
    names = [place.get(document.patterns).value.identity for place in places]
    changes = [(each, lambda it: put(tool_spec_description, "New.", it)) for each in places]
    edited = document.replace(change_places(document.patterns, changes))
    assert names == ["note", "search", "note"]
    assert edited.text == re.sub(r'"(Notes|Searches|Other)\."', '"New."', PROGRAM)


def test_the_traversal_composes_with_lenses() -> None:
    document = parse_program(PROGRAM)
    dear = each_match('[:Agent {model: "OpenAI/x"} | [:Tool {description: "Searches."}]]')
    edited = over(dear & agent_model, lambda _: "Ollama/z", document)
    assert edited.text == PROGRAM.replace("OpenAI/x", "Ollama/z")
    assert collect(dear & agent_model, edited) == ()
    with pytest.raises(GramDecodeError, match="expected one pattern, found 2"):
        [*query("(a) (b)", document)]


def test_a_tool_is_rewritten_where_it_is_defined_and_may_lose_a_parameter() -> None:
    document = parse_program(PROGRAM)

    edited = rewrite(
        '[:Agent {model: "OpenAI/x"} | [search:Tool | (_p::String)==>()]]',
        '[:Agent {model: "OpenAI/z"} | [search:Tool | (_p::Text)==>(limit::Int)==>()]]',
        document,
    )

    assert edited.text == PROGRAM.replace("OpenAI/x", "OpenAI/z").replace(
        "(query::String)==>", "(query::Text)==>(limit::Int)==>"
    )
    edited = rewrite("[note:Tool | (times)==>()]", "[note:Tool | ()==>()]", document)
    assert edited.text == PROGRAM.replace("==>(times::Int {default: 1})", "")
