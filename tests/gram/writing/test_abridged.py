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
        ('(a {k: "' + "x" * 41 + '"})', '(a {k: "x…'),
        ("[a | " + ", ".join("bcdefghijklmnop") + "]", "[a | b, c…"),
        ('(a {k: "one\\ntwo"})', '(a {k: "o…'),
    ],
    ids=["a string", "many elements", "lines"],
)
def test_what_is_cut_says_so(text: str, expected: str) -> None:
    assert abridged(loads_one(text), 10) == expected


def test_of_many_elements_the_first_are_shown() -> None:
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
