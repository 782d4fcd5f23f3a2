"""Agents from parts: what edits undo each other, what they refuse, and what they leave alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import assume, given, strategies as st

from gram import Document, Pattern, Subject, dumps, loads, loads_one
from gram.diagnostics import only_errors
from lenses_ext import (
    FocusError,
    add_tool,
    agent_description,
    agent_instruction,
    agent_model,
    agent_name,
    agent_tool_specs,
    collect,
    each_agent,
    each_agent_tool,
    find_agents,
    inline_tool,
    over,
    overlay,
    parse_program,
    put,
    remove_tool,
    replace_tool,
    resolve,
    share_tool,
    tool_spec_description,
    tool_spec_name,
    tool_spec_type_signature,
    validate_agent_pattern,
    validate_program,
    view,
)
from tests.calls import calls_of
from tests.lenses_ext.strategies import (
    TOOL_NAMES,
    agents,
    filled_texts,
    models,
    programs,
    signature_texts,
    tool_specs,
)

NEW = st.sampled_from(["fresh", "new_one"])
ODD = st.sampled_from(["fresh", "look.up"])  # as model APIs see it, look_up
EMPTY = Pattern(Subject("", {"Agent"}))


def tool_names(agent: Pattern) -> list[str]:
    return [view(tool_spec_name, tool) for tool in view(agent_tool_specs, agent)]


# --- laws


@given(agents(), tool_specs(NEW))
def test_adding_a_tool_and_removing_it_changes_nothing(agent: Pattern, tool: Pattern) -> None:
    assert remove_tool(add_tool(agent, tool), tool.value.identity) == agent


@given(agents(), tool_specs(NEW), st.data())
def test_replacing_a_tool_there_and_back_changes_nothing(
    agent: Pattern, tool: Pattern, data: st.DataObject
) -> None:
    assume(tool_names(agent))
    old = data.draw(st.sampled_from(view(agent_tool_specs, agent)))

    replaced = replace_tool(agent, old.value.identity, tool)

    assert tool in replaced.elements
    assert old not in replaced.elements
    assert replace_tool(replaced, tool.value.identity, old) == agent


@given(agents())
def test_an_agent_laid_over_itself_is_itself(agent: Pattern) -> None:
    assert overlay(agent, agent) == agent


@given(agents())
def test_an_empty_agent_changes_nothing_and_takes_everything(agent: Pattern) -> None:
    assert overlay(agent, EMPTY) == agent
    assert overlay(EMPTY, agent) == agent


@given(agents(), agents(), agents())
def test_overlaying_is_associative(a: Pattern, b: Pattern, c: Pattern) -> None:
    assert overlay(overlay(a, b), c) == overlay(a, overlay(b, c))


@given(programs(), st.sampled_from(TOOL_NAMES))
def test_sharing_a_tool_and_inlining_it_changes_nothing(
    program: tuple[Pattern, ...], name: str
) -> None:
    shared = _share(program, name)

    assert inline_tool(shared, name) == program


@given(programs(), st.sampled_from(TOOL_NAMES))
def test_agents_have_the_same_tools_whether_shared_or_not(
    program: tuple[Pattern, ...], name: str
) -> None:
    shared = _share(program, name)

    def resolved(patterns: tuple[Pattern, ...]) -> list[Pattern]:
        names = [view(agent_name, agent) for agent in find_agents(patterns)]
        return [resolve(patterns, name) for name in names]

    assert resolved(shared) == resolved(program)
    assert sum(each.value.identity == name for each in shared) == 1


def _share(program: tuple[Pattern, ...], name: str) -> tuple[Pattern, ...]:
    """A program that shares a tool; examples that cannot are passed over."""
    try:
        return share_tool(program, name)
    except FocusError:
        assume(False)
        raise


# --- validity


def agent_edits(draw: st.DrawFn) -> list[Callable[[Pattern], Pattern]]:
    """Every edit of an agent that keeps it valid."""
    text, name, tool, other = (
        draw(filled_texts()),
        draw(ODD),
        draw(tool_specs(ODD)),
        draw(agents()),
    )
    signature, model = draw(signature_texts()), draw(models())
    old = draw(st.sampled_from(TOOL_NAMES))
    return [
        partial(put, agent_name, name),
        partial(put, agent_description, text),
        partial(put, agent_description, None),
        partial(put, agent_instruction, text),
        partial(put, agent_model, model),
        partial(put, agent_tool_specs, (tool,)),
        partial(put, each_agent_tool & tool_spec_description, text),
        partial(put, each_agent_tool & tool_spec_type_signature, signature),
        lambda agent: add_tool(agent, tool),
        lambda agent: remove_tool(agent, old),
        lambda agent: replace_tool(agent, old, tool),
        lambda agent: overlay(agent, other),
        lambda agent: overlay(other, agent),
    ]


EDITS = st.composite(agent_edits)()


@given(agents(), EDITS)
def test_a_valid_agent_stays_valid_under_every_edit(
    agent: Pattern, edits: list[Callable[[Pattern], Pattern]]
) -> None:
    for edit in edits:
        try:
            edited = edit(agent)
        except FocusError:
            continue  # refused: there is no such tool, or the name is taken
        assert only_errors(validate_agent_pattern(edited)) == ()


def _keeping_its_name(edit: Callable[[Pattern], Pattern]) -> Callable[[Pattern], Pattern]:
    """An edit for every agent of a program, which may not have two agents of one name."""
    return lambda agent: put(agent_name, view(agent_name, agent), edit(agent))


@given(programs(), EDITS, st.sampled_from(TOOL_NAMES))
def test_a_valid_program_stays_valid_under_edits_of_every_agent(
    program: tuple[Pattern, ...], edits: list[Callable[[Pattern], Pattern]], name: str
) -> None:
    program_edits: list[Callable[[tuple[Pattern, ...]], tuple[Pattern, ...]]] = [
        *(partial(over, each_agent, _keeping_its_name(edit)) for edit in edits),
        lambda patterns: share_tool(patterns, name),
        lambda patterns: inline_tool(share_tool(patterns, name), name),
    ]
    for edit in program_edits:
        try:
            edited = edit(program)
        except FocusError:
            continue
        assert only_errors(validate_program(edited)) == ()


# --- what is refused

AGENT = loads_one("[a:Agent | (sayHello:Tool), other, (b.c:Tool)]")
REFUSED: list[tuple[Callable[[], object], str]] = [
    (
        lambda: remove_tool(AGENT, "sayHelo"),
        '1:1: remove_tool: no tool "sayHelo" at elements of [a:Agent]; did you mean sayHello?',
    ),
    (
        lambda: replace_tool(AGENT, "x", loads_one("(t:Tool)")),
        '1:1: replace_tool: no tool "x" at elements of [a:Agent]',
    ),
    (
        lambda: add_tool(AGENT, Pattern(Subject("other"))),
        '1:1: add_tool: a tool "other" is there already at elements of [a:Agent]',
    ),
    (
        lambda: add_tool(AGENT, loads_one("(b_c:Tool)")),
        '1:1: add_tool: tools "b.c" and "b_c" are both sent as "b_c" at elements of [a:Agent]',
    ),
    (
        lambda: add_tool(AGENT, loads_one("(t:Tol)")),
        "1:1: add_tool: expected a tool, or the bare name of one at value.labels of [t:Tol]",
    ),
    (
        lambda: add_tool(AGENT, loads_one("(:Tool)")),
        "1:1: add_tool: no name at value.identity of [:Tool]",
    ),
    (
        lambda: remove_tool(loads_one("[a:Agent | (t:Tool), (t:Tool)]"), "t"),
        '1:1: remove_tool: 2 tools are named "t" at elements of [a:Agent]',
    ),
    (
        lambda: overlay(AGENT, loads_one("(a {model: 'x/y'})")),
        "1:1: overlay: expected the label Agent at value.labels of [a]",
    ),
    (
        lambda: overlay(AGENT, loads_one("[a:Agent | (t:Tool), (t:Tool)]")),
        '1:1: overlay: two elements are named "t" at elements of [a:Agent]',
    ),
    (
        lambda: overlay(AGENT, loads_one("[a:Agent | (sayHello:Agent)]")),
        '1:1: overlay: "sayHello" is an agent in one and not in the other at elements of [a:Agent]',
    ),
    (
        lambda: overlay(AGENT, loads_one("[a:Agent | (b_c:Tool)]")),
        '1:1: overlay: tools "b.c" and "b_c" are both sent as "b_c" at elements of [a:Agent]',
    ),
    (
        lambda: share_tool([AGENT], "sayHelo"),
        'share_tool: no agent has a tool "sayHelo" at the agents of the document;'
        " did you mean sayHello?",
    ),
    (
        lambda: share_tool([AGENT, *loads("[b:Agent | (sayHello:Tool {v: 2})]")], "sayHello"),
        '1:12: share_tool: "sayHello" is something else elsewhere in the document'
        " at value.identity of [sayHello:Tool]",
    ),
    (
        lambda: share_tool([AGENT, loads_one("(sayHello:Person)")], "sayHello"),
        '1:1: share_tool: "sayHello" is something else elsewhere in the document'
        " at value.identity of [sayHello:Person]",
    ),
    (
        lambda: inline_tool([AGENT, loads_one("(shared:Tool)")], "share"),
        'inline_tool: no tool "share" at the top level of the document; did you mean shared?',
    ),
    (
        lambda: inline_tool([AGENT, loads_one("(shared:Tool)")], "shared"),
        "1:1: inline_tool: no agent refers to it at value.identity of [shared:Tool]",
    ),
]


@pytest.mark.parametrize(("edit", "message"), REFUSED, ids=[row[1][:60] for row in REFUSED])
def test_what_cannot_be_done_is_refused(edit: Callable[[], object], message: str) -> None:
    with pytest.raises(FocusError) as refused:
        edit()

    assert str(refused.value) == message


# --- the work


def with_tools(count: int) -> Pattern:
    tools = [Pattern(Subject(f"t.{number}", {"Tool"})) for number in range(count)]
    notes = [Pattern(Subject("", {"Note"}, {"n": number})) for number in range(count)]
    return Pattern(Subject("a", {"Agent"}), [*tools, *notes])


def test_overlaying_grows_with_the_number_of_tools_and_not_with_its_square() -> None:
    few, many = (
        calls_of(lambda count=count: overlay(*[with_tools(count)] * 2)) for count in (50, 200)
    )

    assert many < 4.4 * few


# --- the rules of overlaying


@pytest.mark.parametrize(
    ("base", "changes", "expected"),
    [
        ("(a:Agent)", "(b:Agent:Fast)", "(b:Agent:Fast)"),
        ("(a:Agent {m: 1, i: 1})", "(:Agent {m: 2})", "(a:Agent {i: 1, m: 2})"),
        ("(a:Agent {m: [1, 2]})", "(:Agent {m: [3]})", "(a:Agent {m: [3]})"),
        ("[a:Agent | (t:Tool {v: 1})]", "[:Agent | (t:Tool {w: 2})]",
         "[a:Agent | (t:Tool {v: 1, w: 2})]"),
        ("[a:Agent | [t:Tool | (:Text)]]", "[:Agent | (t:Tool)]", "[a:Agent | [t:Tool | (:Text)]]"),
        ("[a:Agent | [t:Tool | (:Text)]]", "[:Agent | [t:Tool | (:Int)]]",
         "[a:Agent | [t:Tool | (:Int)]]"),
        ("[a:Agent | (t:Tool), x]", "[:Agent | (u:Tool), x]", "[a:Agent | (t:Tool), x, (u:Tool)]"),
        ("[a:Agent | t]", "[:Agent | (t:Tool)]", "[a:Agent | (t:Tool)]"),
        ("[a:Agent | (t:Tool)]", "[:Agent | t]", "[a:Agent | (t:Tool)]"),
        ("[a:Agent | [b:Agent | (t:Tool)]]", "[:Agent | [b:Agent {m: 1} | (u:Tool)]]",
         "[a:Agent | [b:Agent {m: 1} | (t:Tool), (u:Tool)]]"),
        ("[a:Agent | (:Note)]", "[:Agent | (:Note), (:Other)]", "[a:Agent | (:Note), (:Other)]"),
    ],
)  # fmt: skip
def test_each_part_is_overlaid_by_its_rule(base: str, changes: str, expected: str) -> None:
    assert dumps(overlay(loads_one(base), loads_one(changes))) == expected


# --- documents keep every other byte

TEAM = """\
// The team.
[greeter:Agent {   // greets
  instruction: 'Greet.',
  model: "OpenAI/gpt-5.6-luna"
} |
  // says it
  [sayHello:ToolSpecification {description: "Says hello"} | // here
    (name::Text {default: 'you'})==>(::String)],

  (now:ToolSpecification {description: "The time"})  // no signature
]

[other:Agent {instruction: "Wait.", model: "Offline/rehearsal"} |   // nothing but one
  [sayHello:ToolSpecification {description: "Says hello"} |
    (name::Text {default: "you"})==>(::String)]
]
// The end.
"""
NOW = '  (now:ToolSpecification {description: "The time"})  // no signature\n'


def document() -> Document:
    return parse_program(TEAM, "team.gram")


def lines_that_differ(old: str, new: str) -> tuple[list[str], list[str]]:
    """The lines of each text that the other has not."""
    before, after = old.splitlines(), new.splitlines()
    return [x for x in before if x not in after], [x for x in after if x not in before]


def in_first(edit: Callable[[Pattern], Pattern]) -> str:
    """The text after an edit of the first agent."""
    first, *others = document().patterns
    return document().replace([edit(first), *others]).text


def test_a_property_is_overlaid_in_its_line() -> None:
    text = in_first(lambda agent: overlay(agent, loads_one("(:Agent {instruction: 'Be kind.'})")))

    assert text == TEAM.replace("'Greet.'", "'Be kind.'")


def test_a_tool_is_replaced_in_its_line() -> None:
    new = loads_one("(now:ToolSpecification {description: 'Tells the time'})")

    text = in_first(lambda agent: replace_tool(agent, "now", new))

    assert text == TEAM.replace("The time", "Tells the time")


def test_a_tool_is_added_behind_the_last_line() -> None:
    text = in_first(lambda agent: add_tool(agent, loads_one("(t:ToolSpecification)")))

    gone, new = lines_that_differ(TEAM, text)
    assert [line.strip() for line in new] == [
        '(now:ToolSpecification {description: "The time"}),  // no signature',
        "(t:ToolSpecification)",
    ]
    assert gone == [NOW.rstrip("\n")]


def test_a_tool_is_removed_with_its_line_alone() -> None:
    text = in_first(lambda agent: remove_tool(agent, "now"))

    gone, _ = lines_that_differ(TEAM, text)
    assert NOW.rstrip("\n") in gone
    assert len(gone) <= 2
    assert all(comment in text for comment in ("// says it", "// here", "// greets", "// The end."))


def test_a_tool_is_added_to_every_agent() -> None:
    add = partial(add_tool, tool=loads_one("(t:ToolSpecification)"))

    edited = document().replace(over(each_agent, add, document().patterns))

    assert edited.text.count("(t:ToolSpecification)") == 2
    assert all(
        line in edited.text for line in TEAM.splitlines() if "//" in line and "now" not in line
    )


def test_a_tool_is_shared_and_inlined_with_the_comments_around_it() -> None:
    shared = document().replace(share_tool(document().patterns, "sayHello"))

    assert shared.text.count("[sayHello:ToolSpecification") == 1
    for comment in (
        "// The team.",
        "// greets",
        "// no signature",
        "// nothing but one",
        "// The end.",
    ):
        assert comment in shared.text
    assert [len(collect(each_agent_tool, agent)) for agent in find_agents(shared.patterns)] == [
        1,
        0,
    ]
    assert document().replace(inline_tool(shared.patterns, "sayHello")).text == TEAM
    assert shared.replace(inline_tool(shared.patterns, "sayHello")).text == TEAM
