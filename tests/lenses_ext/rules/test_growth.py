"""What judging a program costs: four times the faults, about four times the calls."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lenses_ext import parse_program, validate_program
from tests.calls import calls_of

AGENT = '[a:Agent {{instruction: "x", model: "A/b"{}}} | {}]'


def numbered(count: int, entry: str, between: str = ", ") -> str:
    return between.join(entry.format(each) for each in range(count))


def tool(signature: str) -> str:
    return AGENT.format("", f'[t:Tool {{description: "d"}} | {signature}]')


MANY: dict[str, Callable[[int], str]] = {
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
    "choices": lambda n: f"[w:Workflow | {numbered(n, '(a{0})-[:WHEN {{is: 1}}]->(b{0})')}]",
}


@pytest.mark.parametrize("what", MANY)
def test_calls_grow_with_the_faults_and_no_faster(what: str) -> None:
    make = MANY[what]
    assert validate_program(parse_program(make(5)))

    few, many = (calls_of(lambda n=n: validate_program(parse_program(make(n)))) for n in (25, 100))

    assert many < 6 * few + 1_000
