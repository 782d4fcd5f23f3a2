"""Tools are moved into an agent of their own, and back."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from gram import Pattern, loads_one, only_errors
from lenses_ext import (
    FocusError,
    factor_agent,
    inline_agent,
    parse_program,
    tool_as_agent,
    tool_spec_schema,
    validate_agent_pattern,
    validate_program,
    view,
)
from lenses_ext.language import tool_spec_of
from lenses_ext.strategies import agents, tool_specs

TEXT = """\
[helper:Agent {instruction: "Help.", model: "Offline/rehearsal"} | // first
  [read:Tool {description: "Reads"} | (path::Text)==>(::Text)], // reads
  // about writing
  [write:Tool {description: "Writes"} | (path::Text)==>(::Text)],
  [count:Tool {description: "Counts"} | (text::Text)==>(::Integer)] // counts
] // end
"""


def test_a_tool_becomes_an_agent_that_takes_and_gives_the_same() -> None:
    tool = loads_one('[add:Tool {description: "Adds."} | (a::Int)==>(b::P)==>(::P), [P:Integer]]')

    agent = tool_as_agent(tool, "adder", "Offline/rehearsal", "Add.")

    assert only_errors(validate_agent_pattern(agent)) == ()
    assert view(tool_spec_schema, tool_spec_of(agent)) == view(tool_spec_schema, tool)
    assert agent.elements[-1] is tool


@given(tool_specs())
def test_every_tool_can_become_an_agent(tool: Pattern) -> None:
    agent = tool_as_agent(tool, "wrapped_agent", "Offline/rehearsal", "Do it.")

    assert view(tool_spec_schema, tool_spec_of(agent)) == view(tool_spec_schema, tool)
    assert only_errors(validate_agent_pattern(agent)) == ()


def test_tools_move_into_an_agent_and_back_and_every_comment_stays() -> None:
    document = parse_program(TEXT)
    (agent,) = document.patterns

    factored = factor_agent(agent, ["read", "write"], "files", "Handles files.", "Do it.")
    text = document.replace([factored]).text

    assert [each.value.identity for each in factored.elements] == ["files", "count"]
    assert [each.value.identity for each in factored.elements[0].elements] == ["read", "write"]
    for comment in ("// first", "// counts", "// end"):
        assert comment in text
    assert inline_agent(factored, "files") == agent
    assert document.replace([factored]).replace([inline_agent(factored, "files")]).text == TEXT


@given(agents("outer", depth=0), st.data())
def test_inlining_undoes_factoring_of_neighbours(agent: Pattern, data: st.DataObject) -> None:
    names = [each.value.identity for each in agent.elements]
    start = data.draw(st.integers(0, len(names)))
    some = names[start : data.draw(st.integers(start, len(names)))]
    if not some:
        return

    factored = factor_agent(agent, some, "inner_agent", "Does it.", "Do it.")

    assert only_errors(validate_agent_pattern(factored)) == ()
    assert inline_agent(factored, "inner_agent") == agent


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda a: factor_agent(a, ["raed"], "x", "d", "i"), "did you mean read"),
        (lambda a: factor_agent(a, [], "x", "d", "i"), "no tool is named"),
        (lambda a: factor_agent(a, ["read"], "write", "d", "i"), "the name of another element"),
        (lambda a: inline_agent(a, "files"), 'no agent "files"'),
    ],
)
def test_what_is_not_there_cannot_be_moved(make: object, reason: str) -> None:
    with pytest.raises(FocusError, match=reason):
        make(parse_program(TEXT).patterns[0])  # type: ignore[operator]  # a function of an agent


def test_tools_of_one_name_are_not_inlined_over_each_other() -> None:
    agent = loads_one("[a:Agent | (t:Tool), [b:Agent | (t:Tool)]]")

    with pytest.raises(FocusError, match='"t" is the name of another element'):
        inline_agent(agent, "b")


SUB = '{description: "Helps.", instruction: "x", model: "p/m"}'
READ = '[read:Tool {description: "Reads"} | (doc::Doc)==>(::Doc)]'
WRITE = '[write:Tool {description: "Writes"} | (doc::Doc)==>(::Doc)]'
COUNT = '[count:Tool {description: "Counts"} | (text::Text)==>(::Integer)]'
DOC = "[Doc:Object | (title::Text)]"
OTHER_DOC = "[Doc:Object | (pages::Integer)]"


def helper(*elements: str) -> str:
    return f'[helper:Agent {{instruction: "x", model: "p/m"}} | {", ".join(elements)}]'


@pytest.mark.parametrize(
    "text",
    [
        helper(READ, WRITE, COUNT) + DOC,
        helper(DOC, READ, WRITE, COUNT),
        helper("read", "write", COUNT) + READ + WRITE + DOC,
        helper("read", WRITE, COUNT) + READ + DOC,
        helper(
            READ.replace("(::Doc)]", f"(::Doc), {DOC}]"),
            WRITE.replace("(::Doc)]", f"(::Doc), {OTHER_DOC}]"),
        ),
        helper("(q::Text)==>(::Text)", READ, WRITE, COUNT) + DOC,
        helper(READ, WRITE, f"[sub:Agent {SUB} | count]") + COUNT + DOC,
        helper(READ, WRITE, "(helper)-[:HANDOFF]->(other)") + DOC + f"[other:Agent {SUB}]",
    ],
    ids=[
        "a type at the top",
        "a type in the agent",
        "references",
        "a reference beside a tool",
        "two types of one name",
        "a signature",
        "an agent beside",
        "handing over",
    ],
)
def test_a_program_has_no_fault_when_tools_are_factored_out_and_inlined(text: str) -> None:
    document = parse_program(text)
    agent, *others = document.patterns
    assert only_errors(validate_program(document)) == ()

    factored = factor_agent(agent, ["read", "write"], "files", "Handles files.", "Do it.")
    assert only_errors(validate_program(document.replace([factored, *others]))) == ()
    assert inline_agent(factored, "files") == agent


@pytest.mark.parametrize(
    ("elements", "names", "name", "reason"),
    [
        ([READ, f"[sub:Agent {SUB} | read]"], ["read"], "files", '"sub" refers to "read", which'),
        (
            [f"[sub:Agent {SUB}]", "(helper)-[:HANDOFF]->(sub)"],
            ["sub"],
            "files",
            '"helper" refers to "sub", which it would not see any more',
        ),
        (["read"], ["read"], "read", '"helper" refers to another "read", which would be hidden'),
        (
            [READ, f"[sub:Agent {SUB} | files]"],
            ["read"],
            "files",
            '"sub" refers to another "files"',
        ),
        *(
            (
                [READ, f"[sub:Agent {SUB} | (sub)-[:HANDOFF]->(helper)]"],
                [moved],
                "helper",
                '"sub" refers to another "helper", which would be hidden',
            )
            for moved in ("sub", "read")
        ),
    ],
)
def test_tools_are_not_factored_away_from_what_refers_to_them(
    elements: list[str], names: list[str], name: str, reason: str
) -> None:
    (agent,) = parse_program(helper(*elements)).patterns

    with pytest.raises(FocusError, match=reason):
        factor_agent(agent, names, name, "d", "i")


@pytest.mark.parametrize(
    ("elements", "inlined"),
    [
        (["read", f"[b:Agent {SUB} | read, {COUNT}]"], ["read", COUNT]),
        ([READ, f"[b:Agent {SUB} | read, {COUNT}]"], [READ, COUNT]),
        ([DOC, WRITE, f"[b:Agent {SUB} | {DOC}, {READ}]"], [DOC, WRITE, READ]),
    ],
    ids=["a reference in both", "a reference to a tool outside", "a type in both"],
)
def test_what_both_agents_have_is_inlined_once(elements: list[str], inlined: list[str]) -> None:
    (agent,), (expected,) = (parse_program(helper(*each)).patterns for each in (elements, inlined))

    assert inline_agent(agent, "b") == expected


@pytest.mark.parametrize(
    ("elements", "reason"),
    [
        ([f"[b:Agent {SUB}]", "(helper)-[:HANDOFF]->(b)"], '"helper" refers to "b", which'),
        ([f"[b:Agent {SUB}]", f"[c:Agent {SUB} | b]"], '"c" refers to "b", which'),
        ([f"[b:Agent {SUB} | [c:Agent {SUB}], (b)-[:HANDOFF]->(c)]"], '"helper" refers to "b"'),
        ([f"[b:Agent {SUB} | {READ}]", f"[c:Agent {SUB} | read]"], '"c" refers to another "read"'),
        ([DOC, f"[b:Agent {SUB} | {OTHER_DOC}]"], '"Doc" is the name of another element'),
    ],
)
def test_an_agent_is_not_inlined_where_a_name_would_mean_something_else(
    elements: list[str], reason: str
) -> None:
    (agent,) = parse_program(helper(*elements)).patterns

    with pytest.raises(FocusError, match=reason):
        inline_agent(agent, "b")
