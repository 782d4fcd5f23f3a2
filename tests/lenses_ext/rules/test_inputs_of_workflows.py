"""What workflows without a signature take, at every depth."""

from __future__ import annotations

from itertools import product

import pytest

from gram import Diagnostic, only_errors
from lenses_ext import parse_program, validate_program

AGENT = 'Agent {instruction: "x", model: "Offline/rehearsal"}'
LOOP = 'Loop {max: 1, until: "x"}'


def errors(text: str) -> tuple[Diagnostic, ...]:
    return only_errors(validate_program(parse_program(text)))


@pytest.mark.parametrize(
    "arrows",
    [
        "a, b, (a)-->(in), (b)-->(in)",
        "n, (n)-->(in)",
        "l, (l)-->(in)",
        "l, (l)-[:EACH]->(in)",
        'a, ()-[:WHEN {is: "hi"}]->(in), ()-[:OTHERWISE]->(a)',
    ],
)
@pytest.mark.parametrize("depth", range(4))
def test_what_takes_anything_takes_it_at_every_depth(depth: int, arrows: str) -> None:
    for kinds in product(["Workflow", LOOP], repeat=depth):
        name, inner = "d", f"(d:{AGENT})"
        for level, kind in enumerate(kinds):
            inner += f" [w{level}:{kind} | {name}]"
            name = f"w{level}"

        around = f"[top:Workflow | {name}, {arrows.replace('(in)', f'({name})')}]"
        tools = (
            '[n:Tool {description: "d"} | (q::Text)==>(::Integer)] '
            '[l:Tool {description: "d"} | (q::Text)==>(::Array {elementType: "Integer"})]'
        )
        assert errors(f"{around} (a:{AGENT}) (b:{AGENT}) {tools} {inner}") == ()
