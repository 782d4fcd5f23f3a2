"""What programs cost, counted instead of timed: four times as much, about four times the calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gram import Pattern, Subject, loads
from lenses_ext import (
    agent_model,
    change_places,
    each_agent,
    find_places,
    new_errors,
    parse_program,
    put,
    remove_places,
    validate_program,
)
from lenses_ext.places import completions
from lenses_ext.signatures import signature_diagnostics
from tests.calls import assert_linear
from tests.lenses_ext.rules.test_lint import found_in

AGENT = '[a:Agent {{instruction: "x", model: "A/b"{}}} | {}]'
ONE_OF = "()==>(::Integer {enum: [%s]})"
RISKY = '(r:Tool {reads: "private"}) (u:Tool {returns: "untrusted"}) (s:Tool {sends: true})'
SHARED = '[shared:Tool {description: "d"} | (u::User)==>(::Text)]\n[User:Object | (n::Text)]'


def numbered(count: int, entry: str, between: str = ", ") -> str:
    return between.join(entry.format(each) for each in range(count))


def tool(signature: str) -> str:
    return AGENT.format("", f'[t:Tool {{description: "d"}} | {signature}]')


def agents(count: int, element: str) -> str:
    """Agents, each with an element, and what they share."""
    agent = f"[a{{0}}:Agent {{{{instruction: 'x', model: 'p/m'}}}} | {element}]"
    return numbered(count, agent, "\n") + SHARED


JUDGED: dict[str, Callable[[int], str]] = {
    "unknown keys": lambda n: tool(f"(x::Text {{{numbered(n, 'key{}: 1')}}})==>(::String)"),
    "unknown types": lambda n: tool(numbered(n, "(x{}::Txt)==>", "") + "(::String)"),
    "one parameter": lambda n: tool("(x::Text)==>" * n + "(::String)"),
    "settings": lambda n: AGENT.format(f", settings: {{{numbered(n, 'key{}: 1')}}}", "t"),
    "references": lambda n: AGENT.format("", numbered(n, "t{}")),
    "tools": lambda n: AGENT.format("", numbered(n, "[t{}:Tool | (x::Txt)==>(::String)]")),
    "arrows": lambda n: f"[w:Workflow | {numbered(n, '(a)-[:WEN]->(b{})')}]",
    "answers": lambda n: AGENT.format("", numbered(n, "[:Answer | (x{}::Txt)]")),
    "chain": lambda n: (
        f"[w:Workflow | {numbered(n, '[a{}:Agent | (x::Integer)==>(::String)]')}, "
        f"{numbered(n, '(a{})', '-->')}]"
    ),
    "arms": lambda n: (
        f"[w:Workflow | {AGENT.format('', 't')}, {numbered(n, '(a)-[:WHEN {{is: {}}}]->()')}]"
    ),
    "arms of listed answers": lambda n: (
        f"[w:Workflow | {AGENT.format('', ONE_OF % numbered(n, '{}'))}, "
        f"{numbered(n, '(a)-[:WHEN {{is: {}}}]->()')}]"
    ),
    "choices": lambda n: f"[w:Workflow | {numbered(n, '(a{0})-[:WHEN {{is: 1}}]->(b{0})')}]",
    "agents with a shared tool": lambda n: agents(n, "shared"),
    "agents with nothing": lambda n: agents(n, "nothing{0}"),
    "a cycle of agents": lambda n: "".join(
        f"[a{i}:Agent {{instruction: 'x', model: 'p/m'}} | a{(i + 1) % n}]\n" for i in range(n)
    ),
    "agents with tools": lambda n: agents(
        n, "[search:Tool {{description: 'd'}} | (u::User)==>(::T{0})]"
    ),
    "agents with types": lambda n: agents(n, "[User:Object | (n::Text)], shared"),
}
LINTED: dict[str, Callable[[int], str]] = {
    "agents with a slip each": lambda n: numbered(
        n, '[a{0}:Agent {{instruction: "Call `lok{0}`"}} | [look{0}:Tool | ()==>(::T{0})]]', "\n"
    ),
    "copies of a tool": lambda n: numbered(
        n, '[a{0}:Agent | [t:Tool {{description: "{0}"}} | (x::Text)==>(::Text)]]', "\n"
    ),
    "types that nothing uses": lambda n: (
        "(a:Agent)" + numbered(n, "[T{0}:Object | (x::U{0})]", "\n")
    ),
    "agents around three tools": lambda n: numbered(n, "[a{}:Agent | r, u, s]", "\n") + RISKY,
    "silent tools of one agent": lambda n: (
        f"[a:Agent | r, u, s, {numbered(n, '[t{}:Tool | (x::Text)==>(::Text)]')}] {RISKY}"
    ),
}


@pytest.mark.parametrize("what", JUDGED)
def test_judging_grows_with_the_program_and_no_faster(what: str) -> None:
    assert_linear(lambda text: validate_program(parse_program(text)), JUDGED[what])


@pytest.mark.parametrize("what", LINTED)
def test_lint_grows_with_the_program_and_no_faster(what: str) -> None:
    assert_linear(found_in, LINTED[what])


@pytest.mark.parametrize(
    "work",
    [
        lambda document: put(each_agent & agent_model, "A/b", document),
        lambda document: new_errors(document, parse_program(document.text.replace("p/", ""))),
    ],
)
def test_an_edit_of_all_agents_grows_with_them_and_no_faster(work: Any) -> None:
    assert_linear(work, lambda count: parse_program(agents(count, "shared")))


def test_types_that_lead_back_are_checked_in_one_pass() -> None:
    def chain_of_types(count: int) -> str:
        """A signature with types that each hold the next, the last one the first."""
        types = "".join(f" [T{i}:Type:Object | (below::T{i + 1})]" for i in range(count))
        last = f" [T{count}:Type:Object | (first::T0 {{optional: true}})]"
        return f"(a::T0)==>(::String){types}{last}"

    assert signature_diagnostics(chain_of_types(50)) == ()
    assert_linear(signature_diagnostics, chain_of_types)


def shared_by_one(count: int) -> tuple[Pattern, ...]:
    """A document with many tools that one agent uses by name."""
    names = [f"t{number}" for number in range(count)]
    tools = [
        Pattern(Subject(name, {"Tool"}, {"description": "D"}), loads("()==>(::String)"))
        for name in names
    ]
    return (Pattern(Subject("a", {"Agent"}), map(Pattern, map(Subject, names))), *tools)


@pytest.mark.parametrize(
    "work",
    [
        lambda patterns: find_places(patterns, "*.tools.*.description"),
        lambda patterns: completions(patterns, "a.tools.t"),
        lambda patterns: completions(patterns, "*.tools.*."),
        lambda patterns: change_places(
            patterns, [(each, str.upper) for each in find_places(patterns, "*.tools.*.description")]
        ),
        lambda patterns: remove_places(patterns, find_places(patterns, "*.tools.*")),
    ],
)
def test_work_along_paths_grows_with_the_document_and_no_faster(work: Any) -> None:
    assert_linear(work, shared_by_one)
