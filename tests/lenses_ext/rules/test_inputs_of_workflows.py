"""What workflows without a signature take, at every depth, and the hints that write one."""

from __future__ import annotations

from itertools import product

import pytest

from gram import Diagnostic, only_errors
from lenses_ext import parse_program, validate_program

AGENT = 'Agent {instruction: "x", model: "Offline/rehearsal"}'
LOOP = 'Loop {max: 1, until: "x"}'
SHAPES = (
    "[User:Object | (name::Text), (age::Integer {optional: true})] "
    '[Tree:Type:Object | (v::Integer), (kids::Array {elementType: "Tree"})]'
)


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


@pytest.mark.parametrize("body", ["t", "()-[:EACH]->(t)", "t, o, (t)-->(o)", "v"])
@pytest.mark.parametrize(
    "signature",
    [
        "(n::Integer)==>(::Text)",
        "(::Integer)==>(::Text)",
        "(a::Text)==>(b::Integer {optional: true})==>(::Text)",
        '(xs::Array {elementType: "Integer"})==>(::Number)',
        "(u::User)==>(::Boolean)",
        "(t::Tree)==>(::Text)",
        "(a::Integer::Null)==>(::Array {elementType: Text})",
        '(k::String {enum: ["a", "b"]})==>(::Text)',
        "(`two words`::Integer)==>(::Text)",
    ],
)
def test_the_signature_that_is_needed_is_the_one_in_the_hint(signature: str, body: str) -> None:
    text = f'[w:Workflow | {body}] [t:Tool {{description: "d"}} | {signature}] (o:{AGENT}) {SHAPES}'
    text += " [v:Workflow | t]" if body == "v" else ""
    assert errors(text)

    for _ in range(2):  # of the workflow inside, then of the one around it
        hints = [each.hint or "" for each in errors(text)]
        for hint in hints[:1]:
            written, _, name = hint.removeprefix("write ").rpartition(" in ")
            bar = text.index("|", text.index(f"[{name}:")) + 1
            text = f"{text[:bar]} {written},{text[bar:]}"

    assert errors(text) == ()
