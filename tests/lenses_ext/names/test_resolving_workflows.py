"""Workflows and agents that hand over, with their references resolved."""

from __future__ import annotations

import pytest

from gram import Pattern, parse
from lenses_ext import ProgramError, resolve, result_schema, write_program
from lenses_ext.language import tool_spec_of
from lenses_ext.names import definitions_of
from lenses_ext.workflows import handoffs


def resolved(text: str, name: str | None = None) -> Pattern:
    return resolve(parse(text), name)


def test_agents_that_are_handed_over_to_are_held_by_the_whole_and_not_called() -> None:
    text = """
        [triage:Agent | (triage)-[:HANDOFF]->(billing), (triage)-[:HANDOFF]->(tech)]
        [billing:Agent | refund, (billing)-[:HANDOFF]->(triage)] (refund:Tool) (tech:Agent)
    """

    triage = resolved(text, "triage")

    assert handoffs(triage) == ("billing", "tech")
    held = definitions_of(triage)
    assert list(held) == ["billing", "tech", "triage"]
    assert held["triage"] is triage
    assert handoffs(held["billing"]) == ("triage",)
    assert [each.value.identity for each in held["billing"].elements] == ["refund", ""]
    assert resolve(triage) is triage


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("(a:Agent) (b:Agent) [w:Workflow | a, b]", "w"),
        ("[a:Agent | b] (b:Agent)", "a"),
        ("[a:Agent | (a)-[:HANDOFF]->(b)] (b:Agent)", "a"),
        ("[w:Workflow | (a)-->(v)] (a:Agent) [v:Workflow | a]", "w"),
        ("[v:Loop {max: 2, until: 1} | (a:Agent)]", "v"),
        ("[a:Agent | (a)-[:HANDOFF]->(b)] [b:Agent | (b)-[:HANDOFF]->(a)] [w:Workflow | a]", "w"),
    ],
)
def test_without_a_name_what_nothing_else_refers_to_is_meant(text: str, name: str) -> None:
    assert resolved(text).value.identity == name
    with pytest.raises(ProgramError, match="has 2 agents and workflows: v, w; choose one"):
        resolved("[v:Workflow | a] [w:Workflow | a] (a:Agent)")


def test_the_types_that_a_signature_shares_are_put_behind_the_elements() -> None:
    text = "[a:Agent | (x::P)==>(::P), (t:Tool)] [P:Object | (q::Q)] [Q:Object | (n::Text)]"

    agent = resolved(text)

    assert write_program(agent) == (
        "[a:Agent | (x::P)==>(::P), (t:Tool), [P:Object | (q:Q)], [Q:Object | (n:Text)]]"
    )
    found = result_schema(tool_spec_of(agent))
    assert found is not None
    assert list(found["properties"]) == ["q"]
    assert resolve(agent) is agent
