"""Workflows from parts."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from gram import Pattern, loads, loads_one, only_errors
from lenses_ext import FocusError, validate_program, workflow_of, write_program
from lenses_ext.composing.flows import choice, for_each, loop, parallel, sequence

A, B = loads(
    '(a:Agent {instruction: "x", model: "p/m"}) (b:Agent {instruction: "x", model: "p/m"})'
)
CHOOSER = loads_one(
    '[ask:Agent {instruction: "x", model: "p/m"} | [:Answer:String {enum: ["yes", "no"]}]]'
)
LISTER = loads_one('[list:Tool {description: "d"} | (of::Text)==>(::Array {elementType: String})]')


@pytest.mark.parametrize(
    ("flow", "written"),
    [
        (sequence("w", A, "b", description="Both."),
         '[w:Workflow {description: "Both."} | (a:Agent {instruction: "x", model: "p/m"}), b, '
         "(a)-->(b)]"),
        (choice("w", CHOOSER, {"yes": A, "no": B}),
         '(ask)-[:WHEN {is: "yes"}]->(a), (ask)-[:WHEN {is: "no"}]->(b)]'),
        (choice("w", CHOOSER, {"yes": A}, otherwise="a"),
         '(ask)-[:WHEN {is: "yes"}]->(a), (ask)-[:OTHERWISE]->(a)]'),
        (choice("w", CHOOSER, {None: A, 1: B, False: "c"}),
         "(ask)-[:WHEN {is: json`null`}]->(a), (ask)-[:WHEN {is: 1}]->(b), "
         "(ask)-[:WHEN {is: false}]->(c)]"),
        (for_each("w", LISTER, A, at_once=4), "(list)-[:EACH {at_once: 4}]->(a)]"),
        (loop("w", A, CHOOSER, max=3, until={"ask": "yes"}, result="a", description="Both."),
         '[w:Loop {description: "Both.", max: 3, until: {ask: "yes"}} | '
         '(a:Agent {instruction: "x", model: "p/m"}), '
         '[ask:Agent {instruction: "x", model: "p/m"} | [::Answer::String {enum: ["yes", "no"]}]], '
         "(a)-->(ask), (a)-->()]"),
        (parallel("w", A, B), '(b:Agent {instruction: "x", model: "p/m"})]'),
    ],
)  # fmt: skip
def test_parts_become_a_workflow_without_faults(flow: Pattern, written: str) -> None:
    assert write_program(flow).endswith(written)
    if "json" not in written:  # which is a choice that the asked agent does not have
        others = [] if "(b:" in write_program(flow) else [B]
        assert only_errors(validate_program((flow, *others))) == ()


@pytest.mark.parametrize(
    ("steps", "order"),
    [
        (["a"], ("a",)),
        (["a", "b", "a"], ("a", "b", "a2")),
        (["a", "a", "a2", "a"], ("a", "a3", "a2", "a4")),
        (["a", "b", "c", "d"], ("a", "b", "c", "d")),
    ],
)
def test_the_steps_of_a_sequence_follow_each_other(steps: list[str], order: tuple[str]) -> None:
    flow = sequence("w", *steps)
    assert workflow_of(flow).order == order
    assert loads_one(write_program(flow)) == flow


@given(st.lists(st.sampled_from(["a", "b", "c", "a2"]), min_size=1, max_size=6))
def test_a_sequence_of_any_steps_has_no_fault(steps: list[str]) -> None:
    definitions = loads(
        " ".join(f'({each}:Agent {{instruction: "x", model: "p/m"}})' for each in set(steps))
    )
    assert only_errors(validate_program((sequence("w", *steps), *definitions))) == ()


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: sequence("w"), "there are no steps"),
        (lambda: parallel("w", "a", "a"), 'two steps are named "a"'),
        (lambda: choice("w", "ask", {}), "there are no arms"),
        (lambda: choice("w", "ask", {"yes": "ask"}), 'two steps are named "ask"'),
        (lambda: for_each("w", "a", "a"), 'two steps are named "a"'),
        (lambda: loop("w", "a", max=2, until="x", result="b"), 'no step is named "b"'),
        (lambda: loop("", "a", max=2, until="x"), "a loop needs a name"),
        (lambda: sequence("", "a"), "a workflow needs a name"),
        (lambda: sequence("w", "a", "w"), 'the workflow "w" would contain itself'),
        (lambda: sequence("w", loads_one("(:Agent)")), "a step has no name"),
        (lambda: sequence("w", loads_one("(n:Note)")), "a step is"),
        (lambda: sequence("w", A, loads_one("(a:Agent)")), "is two different steps"),
    ],
)
def test_what_is_no_workflow_is_refused(make: object, reason: str) -> None:
    with pytest.raises(FocusError, match=reason):
        make()  # type: ignore[operator]  # a function of no arguments
