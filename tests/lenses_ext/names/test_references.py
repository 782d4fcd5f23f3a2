"""References: what a name among the elements of an agent means, and how that is found out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from gram import ArgumentError, Pattern, dumps, loads, loads_one, only_errors, parse, pattern_at
from gram.reading import spans_in_text
from lenses_ext import ProgramError, find_agents, resolve, validate_agent_pattern, validate_program
from lenses_ext.language import tool_spec_of
from lenses_ext.names import Program, definitions_of, shared_tools, uses
from lenses_ext.signatures import result_schema, type_signature_to_json_schema, write_program
from lenses_ext.workflows import handoffs
from tests.by_day import given_few
from tests.lenses_ext.strategies import programs
from tests.paths import cases

HEAD = 'Agent {instruction: "x", model: "p/m"}'


@pytest.mark.parametrize("case", cases("references.toml"), ids=lambda case: case["text"])
def test_a_reference_is_replaced_by_the_definition_that_is_visible(case: dict[str, str]) -> None:
    text, first = case["text"], case["text"][1]
    if "refused" in case:
        with pytest.raises(ProgramError, match=re.escape(case["refused"])):
            resolve(parse(text), first)
        return

    found = resolve(parse(text), first)

    assert write_program(found) == write_program(resolve(loads(text), first)) == case["resolved"]
    assert resolve(found) is found


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("(a:Agent) (a:Agent {k: 1})", "a"),
        ("[a:Agent | t] (t:Tool) (t:Tool {k: 1})", "t"),
        ("[a:Agent | b] (b:Agent) (b:Agent {k: 1})", "b"),
        ("[a:Agent | (t:Tool), (t:Tool {k: 1})]", "t"),
    ],
)
def test_what_is_defined_twice_is_refused_instead_of_chosen(text: str, name: str) -> None:
    with pytest.raises(ProgramError, match=f'"{name}"'):
        resolve(loads(text), "a")
    others = loads(f"{text} (other:Agent)")
    assert resolve(others, "other") == others[-1]


def test_an_agent_is_chosen_by_its_name() -> None:
    text = "[a:Agent | t, b] [b:Agent | t] (t:Tool)"

    assert dumps(resolve(parse(text), "b")) == "[b:Agent | (t:Tool)]"
    assert dumps(resolve(parse(text), agent="a")) == "[a:Agent | (t:Tool), [b:Agent | (t:Tool)]]"
    with pytest.raises(
        ProgramError, match="the program has 2 agents: a, b; choose one, with agent="
    ):
        resolve(parse("[a:Agent | t] [b:Agent | t] (t:Tool)"))
    with pytest.raises(ProgramError, match='no agent "c"; it has a, b'):
        resolve(parse(text), "c")


def test_none_of_two_agents_that_hand_over_to_each_other_is_meant_without_a_name() -> None:
    program = parse("[a:Agent | (a)-[:HANDOFF]->(b)] [b:Agent | (b)-[:HANDOFF]->(a)]")

    with pytest.raises(ProgramError) as caught:
        resolve(program)

    assert str(caught.value) == (
        "the program has 2 agents: a, b, and each is used or handed over to by another; choose "
        'one, with agent="a" in Python or --agent a on the command line'
    )


def test_a_pattern_with_an_open_reference_is_not_resolved_but_refused_by_its_name() -> None:
    with pytest.raises(ProgramError, match=r'undefined-reference\] "t" is not defined') as error:
        resolve(loads("[a:Agent | t] (t:Tool)")[0])
    agent = resolve(parse("[a:Agent | t] [t:Tool | (u::U)==>(::Text)] [U:Object | (n::Text)]"))
    assert resolve(agent) is agent
    assert [(each.lineno, each.colno) for each in error.value.faults] == [(1, 12)]


def test_types_of_the_file_and_of_the_agent_are_put_beside_the_signatures_that_use_them() -> None:
    text = (
        f'[a:{HEAD} | [t:Tool {{description: "d"}} | (u::User)==>(::City)],'
        " [City:Object | (zip::Text)]]\n[User:Object | (name::Text)]"
    )

    assert validate_program(loads(text)) == ()
    assert type_signature_to_json_schema(resolve(loads(text)).elements[0])["properties"] == {
        "u": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    }


def test_a_shared_type_may_be_another_name_of_one() -> None:
    patterns = loads(
        '[t:Tool {description: "d"} | (u::Alias)==>(::String)]\n'
        "[Alias:User]\n[User:Object | (name::String)]\n(bob:User)"
    )
    whole = loads_one("[t:Tool | (u::User)==>(::String), [User:Object | (name::String)]]")

    assert validate_program(patterns) == ()
    assert type_signature_to_json_schema(
        shared_tools(patterns)[0]
    ) == type_signature_to_json_schema(whole)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (f'[y:{HEAD} | x, [u:Tool {{description: "d"}} | (u::User)==>(::Text)], '
         f'[User:Object | (n::Text)]] [x:{HEAD} | [t:Tool {{description: "d"}} | '
         "(u::User)==>(::Text)], [User:Object | (m::Text)]]", "y"),
        (f"[w:Workflow | a, b, (a)-->(b)] [a:{HEAD}] [b:{HEAD} | (b)-[:HANDOFF]->(a)]", "w"),
    ],
    ids=["types of one name in two agents", "a node that is handed over to as well"],
)  # fmt: skip
def test_a_resolved_agent_is_resolved_and_valid_as_it_is_and_as_a_text(
    text: str, name: str
) -> None:
    program = parse(text)
    assert only_errors(validate_program(program)) == ()

    whole = resolve(program, name)

    assert resolve(whole) == whole
    for each in (whole, loads_one(dumps(whole))):
        assert each == whole
        assert only_errors(validate_program(each)) == ()


def test_agents_that_hold_each_other_twice_are_refused() -> None:
    pairs = (f"[{side}{i}:{HEAD} | a{i + 1}, b{i + 1}]" for i in range(25) for side in "ab")
    patterns = loads("\n".join(pairs) + f"\n(a25:{HEAD}) (b25:{HEAD})")

    with pytest.raises(ProgramError, match=r"too-many-agents\] more than 100 agents"):
        resolve(patterns, "a0")

    faults = only_errors(validate_program(patterns))
    assert {fault.code for fault in faults} == {"too-many-agents"}


def test_a_long_circle_of_agents_is_told_by_its_ends() -> None:
    circle = loads(" ".join(f"[a{i}:{HEAD} | a{(i + 1) % 12}]" for i in range(12)))

    told = [each.message for each in validate_program(circle) if each.code == "reference-cycle"]

    assert told == [
        'agent "a0" contains itself: a0 -> a1 -> a2 -> a3 -> a4 -> … -> a9 -> a10 -> a11 -> a0'
    ]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("a.gram", r"program is a path: read it with load_project\('a.gram'\)"),
        (Path("a.gram"), "program is a path"),
        (" [a:Agent]", "program is a text: read it with lenses_ext.parse_program"),
    ],
)
def test_what_is_to_be_read_first_says_what_reads_it(given: Any, told: str) -> None:
    for call in (resolve, validate_program, find_agents):
        with pytest.raises(ArgumentError, match=f"{call.__name__}: {told}"):
            call(given)


@given_few(programs())
def test_a_resolved_agent_of_a_valid_program_is_valid(program: tuple[Pattern, ...]) -> None:
    for agent in find_agents(program):
        resolved = resolve(program, agent.value.identity)

        assert resolved == agent
        assert not [f for f in validate_agent_pattern(resolved) if f.severity == "error"]


PROGRAM = """
[desk:Agent | search, (desk)-[:HANDOFF]->(help), (q::User)==>(::String)]
[help:Agent | [search:Tool | (u::User)==>(::String)]]
[flow:Workflow | (desk)-->(again::help)]
[search:Tool | (t::Text)==>(::Array {elementType: User})]
[User:Object | (n::Text)]
"""


def test_references_ends_of_arrows_and_types_mean_their_definitions() -> None:
    document = parse(PROGRAM)
    found = []
    for use in uses(Program(document.patterns)):
        spans = spans_in_text(pattern_at(document.patterns, use.path))
        assert spans
        start = spans.part_or_subject(use.part).start
        if not use.is_definition:
            found.append((document.source.position(start), use.meant.path))

    assert sorted(found) == [
        ((2, 15), (3,)),  # search
        ((2, 24), (0,)),  # desk, at the left of an arrow
        ((2, 43), (1,)),  # help, at the right of it
        ((2, 54), (4,)),  # User, in a signature
        ((3, 34), (4,)),
        ((4, 19), (0,)),
        ((4, 35), (1,)),  # another use of help
        ((5, 51), (4,)),  # User, in a key
    ]


@given(programs())
def test_what_is_used_is_defined_in_the_program(patterns: tuple[Pattern, ...]) -> None:
    for use in uses(Program(patterns)):
        assert pattern_at(patterns, use.meant.path) == use.meant.pattern


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
