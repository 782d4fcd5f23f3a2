"""A tool that agents share: what stays the same, what is refused, and what is left alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import assume, given, strategies as st

from gram import Pattern, loads, loads_one
from gram.diagnostics import only_errors
from lenses_ext import FocusError, agent_name, find_agents, resolve, share_tool, validate_program
from lenses_ext.optics import view
from tests.lenses_ext.strategies import TOOL_NAMES, programs


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
    assert only_errors(validate_program(shared)) == ()


def _share(program: tuple[Pattern, ...], name: str) -> tuple[Pattern, ...]:
    """A program that shares a tool; examples that cannot are passed over."""
    try:
        return share_tool(program, name)
    except FocusError:
        assume(False)
        raise


# --- what is refused

AGENT = loads_one("[a:Agent | (sayHello:Tool), other, (b.c:Tool)]")
REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: share_tool([AGENT], "sayHelo"),
     'share_tool: no agent has a tool "sayHelo" at the agents of the document;'
     " did you mean sayHello?"),
    (lambda: share_tool([AGENT, *loads("[b:Agent | (sayHello:Tool {v: 2})]")], "sayHello"),
     '1:12: share_tool: "sayHello" is something else elsewhere in the document'
     " at value.identity of [sayHello:Tool]"),
    (lambda: share_tool([AGENT, loads_one("(sayHello:Person)")], "sayHello"),
     '1:1: share_tool: "sayHello" is something else elsewhere in the document'
     " at value.identity of [sayHello:Person]"),
]  # fmt: skip


@pytest.mark.parametrize(("edit", "message"), REFUSED, ids=[row[1][:60] for row in REFUSED])
def test_what_cannot_be_done_is_refused(edit: Callable[[], object], message: str) -> None:
    with pytest.raises(FocusError) as refused:
        edit()

    assert str(refused.value) == message
