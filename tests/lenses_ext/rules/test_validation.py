"""Every rule for valid programs: what it says, of which part of the text."""

from __future__ import annotations

import re
from typing import Any

import attrs
import pytest
from hypothesis import strategies as st

from gram import Pattern, Subject, check, dumps, loads_one, parse, replace_at, walk
from gram.diagnostics import only_errors
from lenses_ext import validate_agent_pattern, validate_program, validate_tool_spec_pattern
from lenses_ext.names import program_scopes
from lenses_ext.rules import PROGRAM_CHECKS, new_errors
from tests.by_day import given_few
from tests.lenses_ext.strategies import agent_forests, programs
from tests.paths import cases

AGENT = '[a:Agent {instruction: "x", model: "p/m"} | '
"""Stands for the ``A `` that some texts begin with."""


@pytest.mark.parametrize("case", cases("faults.toml"), ids=lambda case: case["text"])
def test_each_fault_is_reported_with_its_place(case: dict[str, Any]) -> None:
    text = re.sub("^A ", AGENT, case["text"])

    faults = validate_program(parse(text, "team.gram").patterns)

    for each, expected in zip(faults, case["fault"], strict=True):
        assert each.span is not None
        assert each.filename == "team.gram"
        assert f"{each.severity}[{each.code}] {each.message}" == expected["says"]
        assert text[each.span.start : each.span.end] == expected["at"]
        assert [*each.path] == expected["path"]
        assert each.hint == expected.get("hint")


def test_a_pattern_without_the_label_is_neither_an_agent_nor_a_tool() -> None:
    agent = loads_one('(a:Agnt {instruction: "x", model: "p/m"})')
    tool = loads_one('[t {description: "T"} | (::Text)]')

    faults = (*validate_agent_pattern(agent), *validate_tool_spec_pattern(tool))

    assert [f"{each.place} {each.code} {each.message} - {each.hint}" for each in faults] == [
        "1:4 missing-label an agent has the label Agent, this has the label Agnt - "
        "did you mean Agent instead of Agnt?",
        "1:2 missing-label a tool has the label ToolSpecification or Tool, this has no label"
        " - None",
    ]


def test_a_fault_of_a_shared_tool_is_reported_once_whether_read_or_made() -> None:
    properties = {"instruction": "x", "model": "p/m"}
    agents = [
        Pattern(Subject(name, {"Agent"}, properties), [Pattern(Subject("t"))]) for name in "ab"
    ]
    tool = Pattern(Subject("t", {"Tool"}, {"description": ""}), [Pattern(Subject("", {"Text"}))])

    (fault,) = validate_program((*agents, tool))

    assert (fault.code, fault.path) == ("empty-description", (2, "description"))


@given_few(programs())
def test_a_valid_program_has_no_errors(program: tuple[Pattern, ...]) -> None:
    assert only_errors(validate_program(program)) == ()


@given_few(agent_forests())
def test_any_patterns_can_be_validated(patterns: tuple[Pattern, ...]) -> None:
    for fault in validate_program(patterns):
        here = patterns
        for step in fault.path[:-1]:
            assert isinstance(step, int)
            here = here[step].elements


@given_few(programs() | agent_forests(), st.data())
def test_judging_an_edit_where_it_can_matter_misses_no_error(
    patterns: tuple[Pattern, ...], data: st.DataObject
) -> None:
    before = parse(dumps(patterns * data.draw(st.sampled_from([1, 1, 2]))))
    if not before.patterns:
        return
    path, chosen = data.draw(st.sampled_from(list(walk(before.patterns))))
    key = data.draw(st.sampled_from(["description", "instruction", "model", "settings"]))
    properties = chosen.value.properties.set(key, data.draw(st.sampled_from(["", "A/b", "x", 1])))
    subject = attrs.evolve(chosen.value, properties=properties)
    after = before.replace(replace_at(before.patterns, path, [attrs.evolve(chosen, value=subject)]))

    found = new_errors(before, after)

    assert new_errors(before, parse(after.text)) == found  # which shares no pattern with it


def test_an_error_elsewhere_that_an_edit_causes_is_found() -> None:
    before = parse(
        '[greet:Tool {description: "Greets."} | (name::Text)==>(::String)]\n'
        '[a:Agent {instruction: "x", model: "A/b"} | greet]\n'
        '[b:Agent {instruction: "x", model: "A/b"}]\n'
    )

    after = before.replace(before.patterns[1:])

    assert [fault.code for fault in new_errors(before, after)] == ["undefined-reference"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[x:Agnet {instruction: "i", model: "p/m"}]', ["Agent instead of Agnet"]),
        ('[t:Tol {description: "d"} | (a::Text)==>(::String)]', ["Tool instead of Tol"]),
        (
            '[U:Objct | (a::Text)] [t:Tool {description: "d"} | (u::U)==>(::String)]',
            ["Object instead of Objct"],
        ),
        ('[x:Agnet {name: "just data"}] (a:Tol)-->(b)', []),
        ('[x:Person {model: "Ford"}]', []),
    ],
)
def test_a_label_that_is_nearly_one_of_the_language_is_reported(text: str, told: list[str]) -> None:
    found = check(parse(text), checks=PROGRAM_CHECKS, scopes=program_scopes)
    hints = [each.hint for each in found if each.code == "misspelt-label"]

    assert hints == [f"did you mean {each}?" for each in told]
