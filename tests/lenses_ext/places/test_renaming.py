"""Another name for what a path names, wherever it is meant."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import attrs
import pytest
from hypothesis import assume, strategies as st

from gram import Pattern, operations, walk
from lenses_ext import PathError, ProgramError, parse_program, rename, resolve, write_program
from lenses_ext.labels import is_agent, is_runnable
from lenses_ext.names import Definition, Program, uses
from lenses_ext.places import mentions, named_at
from lenses_ext.places.place import write_path
from lenses_ext.strategies import programs
from tests.by_day import given_few
from tests.paths import DATA, cases

PROGRAM = (DATA / "renaming.gram").read_text("utf-8")


@pytest.mark.parametrize("case", cases("renaming.toml"), ids=lambda it: f"{it['path']} {it['new']}")
def test_a_name_is_changed_where_it_is_meant_and_nowhere_else_or_refused(
    case: dict[str, Any],
) -> None:
    document = parse_program(PROGRAM)
    for kind, error in (("refused", ProgramError), ("nowhere", PathError)):
        if kind in case:
            with pytest.raises(error, match=re.escape(case[kind])):
                rename(document, case["path"], case["new"])
            return

    renamed = rename(document, case["path"], case["new"])

    pairs = enumerate(zip(PROGRAM.splitlines(), renamed.text.splitlines(), strict=True), 1)
    changed = {str(at): now for at, (old, now) in pairs if old != now}
    assert changed.keys() == case["lines"].keys()
    assert all(part in changed[at] for at, part in case["lines"].items())
    assert renamed.replace(document.patterns).text == PROGRAM


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


@given_few(st.data(), programs())
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
