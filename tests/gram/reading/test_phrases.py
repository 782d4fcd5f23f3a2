"""Reading by phrases gives what reading token by token gives: trees, places and errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product

import pytest
from hypothesis import given, settings

from gram import GramDecodeError, loads, origin, walk
from gram.grammar import grammar
from gram.reading import lexer, phrases
from tests.gram.strategies import gram_texts, spoilt_texts, token_texts
from tests.gram.test_conformance import ROWS, Row, each


@contextmanager
def long_from(length: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(phrases, "LONG", length)
        yield


def told(text: str, long: int) -> object:
    """All that reading a text tells."""
    with long_from(long):
        try:
            patterns = loads(text)
        except GramDecodeError as error:
            return str(error), error.pos, error.expected, error.hint
    return patterns, [place.span for _, each in walk(patterns) if (place := origin(each))]


def assert_read_alike(text: str) -> None:
    assert told(text, 0) == told(text, len(text) + 1)


@settings(max_examples=300)
@given(gram_texts() | spoilt_texts() | token_texts())
def test_generated_texts_are_read_alike(text: str) -> None:
    assert_read_alike(text)


@each(ROWS)
def test_the_conformance_corpus_is_read_alike(row: Row) -> None:
    assert_read_alike(row["source"])


IDENTITIES = ("", "a", "true", "0", "007", "5kg", "-1", "`b c`", "`", '"q"')
LABELS = ("", ":A", "::A", " : A :B", ":`x y`", ":1", ":", ":true")
RECORDS = (
    "",
    "{}",
    "{k: 1}",
    '{"k": "v", `k` :: \'w\'}',
    "{k: 0x1F, l: 017, m: 0xFFg, n: -0.5, o: 2.5kg}",
    "{k: true, l: trueish, m: false}",
    "{k: ```\ntext\n```, l: ```md\ntext\n```}",
    "{k: tag`x`}",
    "{k: [1, 2]}",
    "{k: {l: 1}}",
    "{k: 1..2}",
    "{k: 08}",
    "{k: 1,}",
    "{k: 1 // , l: 2\n}",
    "{k: " + "9" * 5000 + "}",
)
MARKS = (("(", ")"), ("[", "]"), ("[", "| (z)]"), ("(x)-[", "]->(y)"), ("(x)<~[", "]~(y)"))


@pytest.mark.parametrize(("first", "last"), MARKS)
def test_every_form_of_a_phrase_is_read_alike(first: str, last: str) -> None:
    for identity, labels, record in product(IDENTITIES, LABELS, RECORDS):
        for between in ("", " ", " // :c {d: 1}\n"):
            inside = between.join((identity, labels, record))
            assert_read_alike(f"{first}{inside}{between}{last}")


@pytest.mark.parametrize(
    "text",
    [
        "@k(a) (b)",
        "@k(a)",
        "(a {k: [b]})",
        "(a {k: [b | c]})",
        "[a | [b], [c | d], (e)]",
        "[a)",
        "(a]",
        "(a|",
        "(a)-[b](c)",
        "(a {k: \ud800})",
        '(a {k: "\ud800"})',
        "[" * 99 + "a]" * 99,
        "[a | " * 200 + "(b)" + "]" * 200,
        "\ufeff(a)",
    ],
)
def test_what_looks_like_a_phrase_is_read_alike(text: str) -> None:
    assert_read_alike(text)


def test_what_is_spelled_alike_is_one_object() -> None:
    with long_from(0):
        first, second = loads("(a:B {k: 1}) (a:B {k: 1})")

    assert first.value is second.value


def test_most_of_a_text_is_phrases() -> None:
    """So that a change of the grammar cannot make reading slow without being noticed."""
    agent = '[a:Agent {k: "v", n: 1} | [t:Tool {d: "x"} | (x::Text)==>(::String)]]'

    read = [name for name, _ in phrases.phrases(agent, 0, None)]

    marks = {"LPAR RPAR", "LSQB BAR"}
    assert [name for name in read if name in marks] == ["LSQB BAR"] * 2 + ["LPAR RPAR"] * 2
    assert len(read) < len(list(lexer.tokens(agent))) / 3


def test_a_token_of_a_phrase_excludes_those_that_the_lexer_would_prefer() -> None:
    known = grammar().phrases

    assert known is not None
    assert set(known.rules) == {"LPAR RPAR", "LSQB BAR", "LSQB RSQB"}
    assert known.values["DOUBLE"] == "string"
    assert {"ELLIPSIS", "LSQB"}.isdisjoint(known.values)
