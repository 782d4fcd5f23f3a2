"""A workflow as it is read: nodes, arrows, defaults, joins and alternatives, loops."""

from __future__ import annotations

import pytest
from pyrsistent import pmap

from gram import Pattern, loads_one
from lenses_ext import Workflow, workflow_of
from lenses_ext.workflows import FlowArrow, arrows_in, handoffs


def read(elements: str, head: str = "w:Workflow") -> Workflow:
    return workflow_of(loads_one(f"[{head} | {elements}]"))


def shown(arrow: FlowArrow) -> str:
    label = "" if arrow.kind == "PLAIN" else arrow.kind
    return f"{arrow.source or ''}-{label}->{arrow.target or ''}"


def arrows_of(workflow: Workflow) -> list[str]:
    return [shown(arrow) for arrow in workflow.arrows]


def test_a_sequence_starts_with_the_input_and_ends_with_the_result() -> None:
    workflow = read("researcher, writer, editor, (researcher)-->(writer)-->(editor)")

    assert list(workflow.nodes) == ["researcher", "writer", "editor"]
    assert arrows_of(workflow) == [
        "researcher-->writer",
        "writer-->editor",
        "-->researcher",
        "editor-->",
    ]
    assert [arrow.is_written for arrow in workflow.arrows] == [True, True, False, False]
    assert workflow.order == ("researcher", "writer", "editor")
    assert workflow.nodes["editor"].waits_for == {"writer"}
    assert not any(node.input.is_record for node in workflow.nodes.values())


def test_nodes_without_arrows_run_side_by_side_and_give_a_record() -> None:
    workflow = read("a, b")

    assert arrows_of(workflow) == ["-->a", "-->b", "a-->", "b-->"]
    assert workflow.result.is_record
    assert [workflow.key_of(arrow) for arrow in workflow.result.arrows] == ["a", "b"]


def test_a_join_is_a_record_by_the_names_of_its_sources_or_of_the_arrows() -> None:
    workflow = read('a, b, c, (a)-->(c), (b)-[{as: "second"}]->(c), ()-->(c)')
    join = workflow.nodes["c"].input

    assert join.is_record
    assert [workflow.key_of(arrow) for arrow in join.arrows] == ["a", "second", "input"]


def test_the_input_is_called_by_the_only_parameter_in_a_record() -> None:
    workflow = read("(topic::Text)==>(::String), a, b, (a)-->(b), ()-->(b)")

    assert workflow.inputs == ("topic",)
    assert [workflow.key_of(each) for each in workflow.nodes["b"].input.arrows] == ["a", "topic"]


@pytest.mark.parametrize(
    ("elements", "nodes"),
    [
        ("writer, critic, (writer)-->(critic)-->(again::writer)", ["writer", "critic", "again"]),
        ("writer, (first::writer)-->(second::writer)", ["first", "second"]),
        ("(x::Item)==>(::String), [Item:Object | (a::Text), (b::Text)], a, (a)-->()", ["a"]),
        ("c, [inner:Loop {max: 2} | a, b], (c)-->(inner)", ["c", "inner"]),
        ("(a)-->(b)", ["a", "b"]),
        ("a, b, c, (c)-->(a)-->(b)-->(a)", ["a", "b", "c"]),
    ],
)
def test_elements_and_ends_of_arrows_are_nodes_and_types_are_not(
    elements: str, nodes: list[str]
) -> None:
    assert list(read(elements).nodes) == nodes


def test_a_node_has_its_definition_and_a_cycle_comes_last_in_the_order() -> None:
    nodes = read("writer, [inner:Loop | a, b], (writer)-->(again::writer)-->(inner)-->(c)").nodes

    again = nodes["again"]
    assert (again.definition, again.pattern) == ("writer", loads_one("(writer)"))
    assert nodes["inner"].pattern == loads_one("[inner:Loop | a, b]")
    assert nodes["c"].pattern is None, "it is defined elsewhere"
    assert read("a, b, c, (c)-->(a)-->(b)-->(a)").order == ("c", "a", "b")
    assert read("a, b, (b)<--(a)").arrows[0] == read("a, b, (a)-->(b)").arrows[0]
    assert workflow_of(Pattern()).nodes == {}


TO_A = '(t)-[:WHEN {is: "x"}]->(a)-->(s), (t)-[:OTHERWISE]->(b)-->(s)'


@pytest.mark.parametrize(
    ("elements", "joins"),
    [
        ('a, s, (a)-[{as: "x"}]->(s)', True),
        (f"t, a, b, s, {TO_A}", False),
        (f"t, a, b, s, {TO_A}, (t)-->(s)", True),
        ("t, u, a, b, c, s, (t)-[:WHEN {is: 1}]->(u), (t)-[:OTHERWISE]->(c)-->(s), "
         "(u)-[:WHEN {is: 1}]->(a)-->(s), (u)-[:OTHERWISE]->(b)-->(s)", False),
    ],
    ids=["a name", "arms", "arms and an arrow that is always taken", "choices after choices"],
)  # fmt: skip
def test_what_may_come_together_joins_and_arms_do_not(elements: str, joins: bool) -> None:
    assert read(elements).nodes["s"].input.is_record == joins


def test_an_arm_has_the_answer_that_it_is_for() -> None:
    workflow = read(f"t, a, b, s, {TO_A}")

    assert not workflow.result.is_record
    assert workflow.nodes["a"].input.arrows[0].equals == "x"


@pytest.mark.parametrize(
    ("first", "second", "joins"),
    [
        ('{is: "x"}', '{is: "y"}', False),
        ('{is: "x"}', '{is: "x"}', True),
        ('{is: {kind: "x"}}', '{is: {kind: "y"}}', False),
        ('{is: {kind: "x"}}', "{is: {urgent: true}}", True),
        ('{is: {kind: "x", urgent: true}}', '{is: {kind: "y", urgent: true}}', False),
        ("{is: 1}", "{is: true}", False),
    ],
)
def test_two_choices_exclude_each_other_where_they_ask_for_other_values_of_a_field(
    first: str, second: str, joins: bool
) -> None:
    workflow = read(f"t, a, b, s, (t)-[:WHEN {first}]->(a)-->(s), (t)-[:WHEN {second}]->(b)-->(s)")

    assert workflow.nodes["s"].input.is_record == joins


def test_a_map_has_its_arrow_and_its_bound() -> None:
    worker = read("list, worker, (list)-[:EACH {at_once: 8}]->(worker)").nodes["worker"]

    assert worker.each is worker.input.arrows[0]
    assert worker.each is not None
    assert worker.each.at_once == 8


def test_a_loop_says_how_often_until_when_and_what_it_goes_on_with() -> None:
    workflow = read(
        "writer, critic, (writer)-->(critic), (writer)-->()",
        'refine:Loop {max: 3, until: {critic: "approved"}}',
    )

    loop = workflow.loop
    assert loop is not None
    assert (loop.max, dict(loop.until)) == (3, {"critic": "approved"})
    assert [arrow.source for arrow in loop.feedback.arrows] == ["critic"]
    assert [arrow.source for arrow in workflow.result.arrows] == ["writer"]
    assert not loop.feedback.is_record


def test_until_a_value_asks_the_last_node_and_a_map_asks_for_fields() -> None:
    arrows = "writer, critic, (writer)-->(critic)"
    last = read(arrows, 'r:Loop {max: 3, until: "approved"}').loop
    fields = read(arrows, "r:Loop {max: 3, until: {critic: {ok: true}}}").loop

    assert last is not None
    assert fields is not None
    assert dict(last.until) == {"critic": "approved"}
    assert dict(fields.until) == {"critic": pmap({"ok": True})}


@pytest.mark.parametrize(
    ("until", "ends", "goes_on"),
    [
        ("{critic: json`null`}", None, 0),
        ("{critic: 1}", 1.0, True),
        ("{critic: {ok: [yes]}}", {"ok": ["yes"], "more": 1}, {"more": 1}),
        ('{critic: json`{"ok": null}`}', {"ok": None}, {"ok": None, "more": 1}),
    ],
)
def test_a_loop_is_ended_by_the_answer_that_it_asks_for(
    until: str, ends: object, goes_on: object
) -> None:
    loop = read("writer, critic, (writer)-->(critic)", f"r:Loop {{max: 3, until: {until}}}").loop

    assert loop is not None
    assert loop.is_ended_by({"critic": ends, "writer": goes_on})
    assert not loop.is_ended_by({"critic": goes_on})
    assert not loop.is_ended_by({"writer": ends})


def test_an_agent_hands_over_along_its_arrows() -> None:
    agent = loads_one(
        "[t:Agent | (t)-[:HANDOFF]->(billing), (t)-[:HANDOFF]->(tech), (x)-[:HANDOFF]->(y)]"
    )

    assert handoffs(agent) == ("billing", "tech")
    assert [arrow.kind for arrow in arrows_in(agent)] == ["HANDOFF"] * 3
