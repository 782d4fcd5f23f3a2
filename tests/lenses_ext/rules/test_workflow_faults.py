"""What is said of workflows before they run: of each kind of fault, and of random workflows."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import pytest
from hypothesis import note

from gram import Diagnostic, Document, check, only_errors
from lenses_ext import agent_diagnostics, new_errors, parse_program, validate_program, write_program
from lenses_ext.names import program_scopes, resolve
from lenses_ext.rules import PROGRAM_CHECKS
from tests.by_day import given_few
from tests.lenses_ext.workflow_strategies import well_typed_workflows
from tests.paths import cases

ABBREVIATIONS = {
    "$A": 'Agent {instruction: "x", model: "Offline/rehearsal"}',
    "$T": 'Tool {description: "d"}',
}
LOOP = 'Loop {max: 1, until: "x"}'
CASES = [pytest.param(row, id=row["name"]) for row in cases("workflows.toml")]


def written(text: str) -> str:
    for short, long in ABBREVIATIONS.items():
        text = text.replace(short, long)
    return text


def read(text: str) -> Document:
    return parse_program(written(text))


UNDESCRIBED = "called-without-description"


def faults_of(document: Document, row: dict[str, Any]) -> list[Diagnostic]:
    """The faults of a case; that `$A` has no description only where the case is about it."""
    is_about_it = any(each.startswith(UNDESCRIBED) for each in row["faults"])
    found = check(document, checks=PROGRAM_CHECKS, scopes=program_scopes)
    return [each for each in found if is_about_it or each.code != UNDESCRIBED]


def said(fault: Diagnostic) -> str:
    kind = "" if fault.severity == "error" else f" ({fault.severity})"
    return f"{fault.code}{kind}: {fault.message}"


@pytest.mark.parametrize("row", CASES)
def test_what_is_right_has_no_fault(row: dict[str, Any]) -> None:
    document = read(row["right"])

    faults = [each for each in faults_of(document, row) if each.severity != "info"]
    assert [each.with_hint() for each in faults] == []
    for name in re.findall(r"^\[(\w+)", row["right"]):
        assert only_errors(agent_diagnostics(document, name)) == ()
        assert resolve(document, name).value.identity == name


@pytest.mark.parametrize("row", CASES)
def test_what_is_wrong_is_told_with_its_places_and_refused_in_the_same_words(
    row: dict[str, Any],
) -> None:
    marked = written(row["wrong"])
    document = parse_program(marked.replace("^", ""))
    places = [mark.start() - count for count, mark in enumerate(re.finditer(r"\^", marked))]

    faults = faults_of(document, row)

    assert [said(each) for each in faults] == row["faults"]
    assert [each.hint or "" for each in faults] == row["hints"]
    assert [each.span.start if each.span else None for each in faults] == places
    # a run of it is refused in the same words
    errors = only_errors(faults)
    name = document.patterns[0].value.identity
    if name and document.patterns[0].value.labels & {"Agent", "Workflow", "Loop"}:
        refused = only_errors(agent_diagnostics(document, name))
        assert {said(each) for each in refused} <= {said(each) for each in errors}
        assert refused or not errors


@pytest.mark.parametrize("row", CASES[::3])
def test_an_edit_is_refused_for_the_faults_that_it_adds(row: dict[str, Any]) -> None:
    right, wrong = read(row["right"]), read(row["wrong"].replace("^", ""))
    edited = right.replace(wrong.patterns)
    told = {each.code for each in only_errors(faults_of(edited, row))}

    assert {each.code for each in new_errors(right, edited)} == told


@given_few(well_typed_workflows())
def test_a_well_typed_workflow_has_no_fault(text: str) -> None:
    note(text)
    document = parse_program(text)

    again = parse_program(write_program(document.patterns))
    assert [each.with_hint() for each in validate_program(document)] == []
    assert again.patterns == document.patterns
    assert validate_program(again) == ()


def test_faults_of_a_workflow_are_found_among_many() -> None:
    """Every arrow is looked at: the last of a long sequence is no exception."""
    names = [f"n{index}" for index in range(60)]
    tools = "\n".join(f"[{each}:$T | (x::Text)==>(::Text)]" for each in names)
    flow = "-->".join(f"({each})" for each in names)
    right = f"[w:Workflow | {flow}]\n{tools}"
    wrong = right.replace("[n59:$T | (x::Text)", "[n59:$T | (x::Int)")

    assert validate_program(read(right)) == ()
    assert [each.code for each in validate_program(read(wrong))] == ["arrow-type"]


@pytest.mark.parametrize(
    "arrows",
    [
        "a, b, (a)-->(in), (b)-->(in)",
        "n, (n)-->(in)",
        "l, (l)-->(in)",
        "l, (l)-[:EACH]->(in)",
        'a, ()-[:WHEN {is: "hi"}]->(in), ()-[:OTHERWISE]->(a)',
    ],
)
@pytest.mark.parametrize("depth", range(4))
def test_what_takes_anything_takes_it_at_every_depth(depth: int, arrows: str) -> None:
    for kinds in product(["Workflow", LOOP], repeat=depth):
        name, inner = "d", "(d:$A)"
        for level, kind in enumerate(kinds):
            inner += f" [w{level}:{kind} | {name}]"
            name = f"w{level}"

        around = f"[top:Workflow | {name}, {arrows.replace('(in)', f'({name})')}]"
        tools = (
            "[n:$T | (q::Text)==>(::Integer)] "
            '[l:$T | (q::Text)==>(::Array {elementType: "Integer"})]'
        )
        program = read(f"{around} (a:$A) (b:$A) {tools} {inner}")
        assert only_errors(validate_program(program)) == ()


@pytest.mark.parametrize("body", ["t", "()-[:EACH]->(t)", "t, o, (t)-->(o)", "v"])
@pytest.mark.parametrize(
    "signature",
    [
        "(n::Integer)==>(::Text)",
        "(a::Text)==>(b::Integer {optional: true})==>(::Text)",
        '(xs::Array {elementType: "Integer"})==>(::Number)',
        "(u::User)==>(::Boolean)",
        "(a::Integer::Null)==>(::Array {elementType: Text})",
        "(`two words`::Integer)==>(::Text)",
    ],
)
def test_the_signature_that_is_needed_is_the_one_in_the_hint(signature: str, body: str) -> None:
    text = f"[w:Workflow | {body}] [t:$T | {signature}] (o:$A) [User:Object | (name::Text)]"
    text += " [v:Workflow | t]" if body == "v" else ""
    assert only_errors(validate_program(read(text)))

    for _ in range(2):  # of the workflow inside, then of the one around it
        for each in only_errors(validate_program(read(text)))[:1]:
            hint = (each.hint or "").removeprefix("write ")
            needed, _, name = hint.rpartition(" in ")
            bar = text.index("|", text.index(f"[{name}:")) + 1
            text = f"{text[:bar]} {needed},{text[bar:]}"

    assert only_errors(validate_program(read(text))) == ()
