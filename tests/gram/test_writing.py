"""The canonical text, rule by rule, the same in every process; and texts that are cut."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, strategies as st

from gram import Pattern, Subject, dumps, from_json, loads, loads_one, to_json
from gram.writing import Spelling, abridged
from tests.by_day import given_few
from tests.gram.strategies import forests, patterns
from tests.gram.texts import table


def atom(name: str = "", *labels: str) -> Pattern:
    return Pattern(Subject(name, labels))


TEXTS = table("canonical")


@pytest.mark.parametrize(
    ("text", "expected"), [*TEXTS["rewritten"], *((text, text) for text in TEXTS["written"])]
)
def test_a_text_has_one_canonical_form(text: str, expected: str) -> None:
    trees = loads(text)
    assert dumps(iter(trees)) == dumps(trees[0] if len(trees) == 1 else trees) == expected
    assert loads(expected) == trees


def test_hops_whose_nodes_differ_in_the_kind_of_a_number_are_no_walk() -> None:
    equal, other = Pattern(Subject("b", (), {"k": 1})), Pattern(Subject("b", (), {"k": 1.0}))
    hops = [Pattern(elements=(atom("a"), equal)), Pattern(elements=(other, atom("c")))]
    walk = Pattern(Subject("", {"Gram.Walk"}), hops)
    assert dumps(walk) == "[:Gram.Walk | (a)-->(b {k: 1}), (b {k: 1.0})-->(c)]"


def test_a_style_chooses_arrows_colons_and_brackets() -> None:
    asked = []

    def style(path: tuple[Pattern, ...]) -> Spelling:
        asked.append("/".join(pattern.value.identity for pattern in path))
        is_atom = not path[-1].elements
        return Spelling("::", "=", bracketed=is_atom and path[-1].value.identity == "b", path=True)

    assert dumps(loads("(a:A)-->(:B)"), style=style) == "(a::A)==>(::B)"
    assert dumps(loads("[x:X | (b:B), c, d]"), style=style) == "[x::X | [b::B], c, d]"
    assert dumps(loads("[lower:case | a, c]"), style=style) == "(a)=[lower::case]=>(c)"
    assert dumps(loads("(b:B)"), style=style) == "(b::B)"
    assert {"x", "x/b", "lower/a", "b"} <= set(asked), (
        "it is asked with the ancestors of each pattern"
    )


def test_the_text_is_the_same_in_every_process() -> None:
    source = "(a:D:C:B:A {z: 1, y: {q: 1, p: 2, o: 3}, x: [{b: 1, a: 2}], w: 1, v: 2, u: 3})"
    program = (
        "import gram, json, sys\n"
        f"trees = gram.loads({source!r})\n"
        "print(gram.dumps(trees)); print(json.dumps(gram.to_json(trees)))"
    )

    output = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": "31337"},
        capture_output=True,
        check=True,
        text=True,
    ).stdout

    assert output.splitlines()[0] == dumps(loads(source))
    assert output.splitlines()[0].startswith(
        "(a:A:B:C:D {u: 3, v: 2, w: 1, x: [{a: 2, b: 1}], y: {"
    )


@pytest.mark.parametrize("text", TEXTS["whole"])
def test_what_fits_is_written_whole(text: str) -> None:
    assert abridged(loads_one(text)) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('(a {k: "' + "x" * 41 + '"})', '(a {k: "x…'),
        ("[a | " + ", ".join("bcdefghijklmnop") + "]", "[a | b, c…"),
        ('(a {k: "one\\ntwo"})', '(a {k: "o…'),
    ],
    ids=["a string", "many elements", "lines"],
)
def test_what_is_cut_says_so(text: str, expected: str) -> None:
    assert abridged(loads_one(text), 10) == expected
    many = loads_one("[a | " + ", ".join(f"b{n}" for n in range(50)) + "]")
    assert abridged(many).endswith("b10, b11]…")


def test_a_repr_is_gram_and_shows_control_characters_as_escapes() -> None:
    assert repr(loads_one('(a:B {k: "v"})').value) == '<Subject a:B {k: "v"}>'
    assert repr(Pattern(Subject("a", (), {"k": "\x1b[2J"}))) == '<Pattern (a {k: "\\x1b[2J"})>'


@given(patterns())
def test_it_is_one_short_line_and_whole_only_when_it_is_the_canonical_text(tree: Pattern) -> None:
    text = abridged(tree)
    assert text.isprintable()
    assert len(text) < 20_000
    if text == dumps(tree):
        assert loads_one(text) == tree


@given_few(forests(), st.sampled_from([":", "::"]), st.sampled_from("-=~"))
def test_what_is_written_as_json_or_as_text_in_any_style_reads_back_as_the_same_trees(
    trees: tuple[Pattern, ...], separator: Any, family: Any
) -> None:
    text, data = dumps(trees), json.loads(json.dumps(to_json(trees)))
    assert loads(text) == trees
    assert dumps(loads(text)) == text
    assert from_json(data) == trees
    assert loads(dumps(trees, style=lambda _: Spelling(separator, family, bracketed=True))) == trees
