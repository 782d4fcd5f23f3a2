"""Short text of patterns, as their reprs show it."""

from __future__ import annotations

import pytest
from hypothesis import given

from gram import Pattern, Subject, dumps, loads_one
from gram.writing import abridged
from tests.gram.strategies import patterns


@pytest.mark.parametrize(
    "text",
    ["()", "(a)", '(a:B {k: "v"})', "(a)-->(b)", "(a)-->(b)-->(c)", "[a | b, [c | d]]", "(`a b`)"],
)
def test_what_fits_is_written_whole(text: str) -> None:
    assert abridged(loads_one(text)) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('(a {k: "' + "x" * 41 + '"})', '(a {k: "' + "x" * 40 + '…"})'),
        ("(a {k: [[[[1]]]]})", "(a {k: [[[[…]]]]})"),
        ("[a | [b {k: 1} | c], (d {k: 1}), (e)-[:F {k: 1}]->(g)]",
         "[a | [b | …], (d …), (e)-[:F]->(g)]"),
        ("[a | " + ", ".join("bcdefghijklmnop") + "]",
         "[a | (b), (c), (d), (e), (f), (g), (h), (i), (j), (k), (l), (m), … 3 more]"),
        ('(a {k: "one\\ntwo"})', '(a {k: "one\\ntwo"})'),
    ],
    ids=["a string", "nested arrays", "elements", "many elements", "lines"],
)  # fmt: skip
def test_what_is_cut_says_so(text: str, expected: str) -> None:
    assert abridged(loads_one(text), 10) == expected


def test_a_repr_is_gram_and_shows_control_characters_as_escapes() -> None:
    assert repr(loads_one('(a:B {k: "v"})').value) == '<Subject a:B {k: "v"}>'
    assert repr(Pattern(Subject("a", (), {"k": "\x1b[2J"}))) == '<Pattern (a {k: "\\x1b[2J"})>'


@given(patterns())
def test_it_is_one_short_line_and_whole_only_when_it_is_the_canonical_text(tree: Pattern) -> None:
    text = abridged(tree)

    assert text.isprintable()
    assert len(text) < 20_000
    if "…" not in text and text == dumps(tree):
        assert loads_one(text) == tree
