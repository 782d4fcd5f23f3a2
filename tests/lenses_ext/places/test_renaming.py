"""Another name for what a path names, wherever it is meant."""

from __future__ import annotations

import re
from collections import Counter

import attrs
import pytest
from hypothesis import assume, given, strategies as st

from gram import Pattern, operations, walk
from lenses_ext import PathError, ProgramError, parse_program, rename, resolve, write_program
from lenses_ext.labels import is_agent, is_runnable
from lenses_ext.names import Definition, Program, uses
from lenses_ext.places import mentions, named_at
from lenses_ext.places.place import write_path
from lenses_ext.strategies import programs

PROGRAM = """\
// The desk.
[desk:Agent {instruction: "Use `search`, `search(q)`, or search."} |
  search, (desk)-[:HANDOFF]->(help), (u::User)==>(::String)]
[help:Agent |
  [search:Tool | (u::User)==>(::String)], // its own
  [note:Tool | (t::Own)==>(::Text), [Own:Object | (n::Text)]]]
[flow:Loop {max: 2, until: {again: "x", desk: "y"}} |
  desk, (desk)-->(again::help), (again)-[{as: "u"}]->(desk)]
[search:Tool | (q::Text {k: 0x10})==>(r::Int)==>(::Array {elementType: User})]
[User:Object | (n::Text)] // shared
"""


@pytest.mark.parametrize(
    ("path", "new", "lines"),
    [
        ("search", "find", {3: "find,", 9: "[find:"}),
        ("help.tools.search", "find", {5: "[find:"}),
        ("desk", "front", {2: "[front:", 3: "(front)-[", 7: "front: ", 8: "front, (front)-->"}),
        ("help", "aid", {3: "->(aid)", 4: "[aid:", 8: "again::aid"}),
        ("User", "Person", {3: "u::Person", 5: "u::Person", 9: "Type: Person", 10: "[Person:"}),
        ("help.tools.note.Own", "Mine", {6: "(t::Mine)==>(::Text), [Mine:Object"}),
        ("flow.nodes.again", "once", {7: "once: ", 8: "(desk)-->(once::help), (once)-["}),
        ("search.parameters.r", "limit", {9: "(limit::Int)"}),
        ("search.parameters.q", "the query", {9: "(`the query`::Text {k: 0x10})"}),
        ("desk.parameters.u", "who", {3: "(who::User)", 8: '{as: "who"}'}),
    ],
)  # fmt: skip
def test_a_name_is_changed_where_it_is_meant_and_nowhere_else(
    path: str, new: str, lines: dict[int, str]
) -> None:
    document = parse_program(PROGRAM)

    renamed = rename(document, path, new)

    old, now = PROGRAM.splitlines(), renamed.text.splitlines()
    assert {at for at, line in enumerate(now, 1) if line != old[at - 1]} == set(lines)
    for at, part in lines.items():
        assert part in now[at - 1]
    assert renamed.replace(document.patterns).text == PROGRAM


@pytest.mark.parametrize(
    ("path", "new", "message"),
    [
        ("search", "desk", '"desk" is defined already at 2:1'),
        ("help", "desk", '"desk" is defined already at 2:1'),
        ("help.tools.search", "note", '"note" is defined already at 6:3'),
        ("help.tools.note.Own", "User", '"User" is used already'),
        ("User", "Own", '"Own" is used already'),
        ("User", "Text", "Text is a type of the language"),
        ("flow.nodes.again", "desk", '"desk" is defined already at 2:1'),
        ("help", "again", '"again" is used already'),
        ("search.parameters.q", "r", 'there is a parameter "r" already'),
        ("search", " ", "the new name of search is empty"),
    ],
)
def test_a_name_that_is_taken_or_would_mean_another_thing_is_refused(
    path: str, new: str, message: str
) -> None:
    with pytest.raises(ProgramError, match=re.escape(message)):
        rename(parse_program(PROGRAM), path, new)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("*", "`*` leads to 5 places: rename one at a time"),
        ("desk.instruction", "`desk.instruction` leads to no name"),
        ("nix", "`nix` leads nowhere"),
        ("search.parameters.x", "there is no such parameter; it has q, r"),
        ("help.tools.note.Nix", "`help.tools.note.Nix` leads nowhere"),
    ],
)
def test_what_has_no_name_cannot_be_renamed(path: str, message: str) -> None:
    with pytest.raises(PathError, match=re.escape(message)):
        rename(parse_program(PROGRAM), path, "x")


def test_instructions_that_name_it_in_backticks_are_found_and_changed_on_demand() -> None:
    document = parse_program(PROGRAM)
    (agent,) = mentions(document.patterns, named_at(document.patterns, "search"))

    assert agent.name == "desk"
    assert not mentions(document.patterns, named_at(document.patterns, "help.tools.search"))
    renamed = rename(document, "search", "find", instructions=True)
    assert '"Use `find`, `find(q)`, or search."' in renamed.text


def _path_of(program: Program, each: Definition) -> str:
    around = program.runnables.get(each.scope)
    if around is None or is_runnable(each.pattern):
        return write_path([each.name])
    list_of = "tools" if is_agent(around.pattern) else "nodes"
    return write_path([around.name, list_of, each.name])


@given(st.data(), programs())
def test_the_resolved_program_has_the_other_name_and_the_way_back_gives_the_same_bytes(
    data: st.DataObject, patterns: tuple[Pattern, ...]
) -> None:
    program = Program(patterns)
    named = Counter(
        name
        for _, each in walk(patterns)
        for name in (each.value.identity, *each.value.labels)
        if name
    )
    known = Counter(use.meant.name for use in uses(program))
    twice = Counter(each.name for each in program.named.values())
    alone = [
        each
        for each in program.named.values()
        if twice[each.name] == 1 and named[each.name] == known[each.name]
    ]
    assume(alone)
    chosen = data.draw(st.sampled_from(alone))
    document = parse_program(write_program(patterns))

    renamed = rename(document, _path_of(program, chosen), "another")

    new = attrs.evolve(chosen.pattern, value=attrs.evolve(chosen.pattern.value, identity="another"))
    there = Definition(chosen.path, new, chosen.scope)
    back = rename(renamed, _path_of(Program(renamed.patterns), there), chosen.name)
    assert back.text == document.text
    for each in program.outermost:
        if is_agent(each.pattern):
            name = "another" if each is chosen else each.name
            try:
                before = resolve(document, each.name)
            except ProgramError:
                continue
            assert resolve(renamed, name) == operations.map(
                lambda it: (
                    attrs.evolve(it, identity="another") if it.identity == chosen.name else it
                ),
                before,
            )
