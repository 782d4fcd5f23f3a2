"""The grammar file is the only definition of the syntax: table, parser and lark agree with it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import lark
import pytest
from hypothesis import given, strategies as st

from gram import GramDecodeError, Pattern, Source, loads, origin, read_in_pieces, walk
from gram.grammar import GRAMMAR, compile_grammar, digest, grammar, table_of
from gram.reading.builders import Builder
from gram.reading.lexer import END, ERROR, tokens
from gram.reading.parser import parse_tokens
from gram.reading.syntax import Token
from tests.gram.strategies import gram_texts, spoilt_texts, token_texts
from tests.gram.texts import ACCEPTED, OURS, ROWS, table

DEFINITION = GRAMMAR.read_text(encoding="utf-8")


def _builder_of(name: str) -> Callable[[object, list[Any]], Nested]:
    return lambda _, parts: (name, *map(_placed, parts))


def _placed(part: Any) -> Nested:
    return (part.type, *part.span) if isinstance(part, Token) else part


Nesting = type("Nesting", (), {rule.builder: _builder_of(rule.builder) for rule in grammar().rules})
"""A builder that makes of each rule its name and parts."""


def read_by_us(text: str) -> Nested | None:
    """All rules and tokens of a text as our parser reads it; None when it refuses the text."""
    try:
        nested: Nested = parse_tokens(GRAMMAR, text, Nesting(), lambda _: NotGramError())
    except NotGramError:
        return None
    return nested


class NotGramError(Exception):
    """A text is refused."""


def assert_read_as_by_lark(text: str) -> None:
    text = text.removeprefix("\ufeff")  # which is not of the grammar
    assert read_by_us(text) == read_by_lark(DEFINITION, text)


@given(gram_texts() | spoilt_texts() | token_texts())
def test_lark_reads_generated_texts_as_the_parser_does(text: str) -> None:
    assert_read_as_by_lark(text)


def test_lark_reads_known_texts_as_the_parser_does() -> None:
    for text in (*ACCEPTED.values(), *(row["source"] for row in ROWS)):
        assert_read_as_by_lark(text)


def test_our_own_texts_use_every_rule_of_the_grammar() -> None:
    used: set[str] = set()

    def note(nested: Any) -> None:
        if isinstance(nested, tuple):
            used.update(part for part in nested[:1] if isinstance(part, str))
            for part in nested:
                note(part)

    for text in OURS.values():
        note(read_by_us(text.removeprefix("\ufeff")))

    built = {rule.builder for rule in grammar().rules} - {""}
    terminals = set(grammar().terminals) - set(grammar().ignored)
    assert (built | terminals) - used == set()


def test_the_table_is_what_the_grammar_says_in_every_process() -> None:
    program = (
        "from gram.grammar import *\n"
        "text = GRAMMAR.read_text(encoding='utf-8')\n"
        "import sys\n"
        "sys.stdout.buffer.write(render(compile_grammar(text), digest(text)).encode())"
    )

    written = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        capture_output=True,
        check=True,
    )

    assert written.stdout.decode() == table_of(GRAMMAR).read_text(encoding="utf-8"), (
        "grammar.lark was edited: run python -m gram.grammar"
    )
    assert compile_grammar(DEFINITION) == grammar()
    assert digest(DEFINITION) in written.stdout.decode()


def test_the_grammar_has_no_conflicts(caplog: pytest.LogCaptureFixture) -> None:
    assert conflicts_of('start: a\na: "x" | "x" a | a "x" "x"', caplog)
    assert conflicts_of(DEFINITION, caplog) == []


def conflicts_of(definition: str, caplog: pytest.LogCaptureFixture) -> list[str]:
    """The conflicts in which lark prefers one way, which it only says when it is asked."""
    caplog.clear()
    with caplog.at_level("WARNING", logger=lark.logger.name):
        lark.Lark(definition, parser="lalr", lexer="basic", debug=True)
    return [each for each in caplog.messages if "conflict" in each]


def test_every_rule_of_the_grammar_has_a_method_of_the_builder() -> None:
    builders = {rule.builder for rule in grammar().rules if rule.builder}
    methods = {name for name in vars(Builder) if not name.startswith("_")}
    assert builders == methods


@given(st.text() | token_texts())
def test_tokens_come_in_order_and_leave_out_only_blanks_and_comments(text: str) -> None:
    found = list(tokens(text))
    assert found[-1].type == END
    at = 1 if text.startswith("\ufeff") else 0
    for token in found:
        between = text[at : token.start]
        assert not between.strip(" \t\r\n\f\v") or "//" in between
        assert token.type in grammar().terminals or token.type in (END, ERROR)
        at = token.end
    assert at == len(text)


def told(read: Callable[[], tuple[Pattern, ...]]) -> object:
    try:
        patterns = read()
    except GramDecodeError as error:
        return error.pos, error.msg
    return patterns, [place.span for _, each in walk(patterns) if (place := origin(each))]


def assert_read_alike(text: str, size: int) -> None:
    assert told(lambda: tuple(read_in_pieces(Source(text), size))) == told(lambda: loads(text))


def lines(texts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(texts, max_size=4).map("\n".join)


@given(lines(gram_texts() | spoilt_texts() | token_texts()), st.integers(0, 30))
def test_texts_are_read_alike(text: str, size: int) -> None:
    assert_read_alike(text, size)


@pytest.mark.parametrize("text", table("places")["pieces"])
@pytest.mark.parametrize("size", [0, 1, 5, 1000])
def test_patterns_of_several_lines_are_read_alike(text: str, size: int) -> None:
    assert_read_alike(text, size)


def test_a_pattern_is_given_before_the_text_after_it_is_read() -> None:
    first = next(read_in_pieces(Source("(a)\n(b)\n(c"), 1))
    assert first.value.identity == "a"


# --- what lark itself says of a grammar and of a text

Nested: TypeAlias = tuple[Any, ...]
"""A rule with its parts, or a token with its place."""


@cache
def parser_of(definition: str) -> lark.Lark:
    """lark's own parser and lexer."""
    return lark.Lark(definition, parser="lalr", lexer="basic", keep_all_tokens=True)


def read_by_lark(definition: str, text: str) -> Nested | None:
    """All rules and tokens of a text as lark reads it; None when it refuses the text."""
    try:
        return _nested(parser_of(definition).parse(text))
    except lark.UnexpectedInput:
        return None


def _nested(part: Any) -> Nested:
    if isinstance(part, lark.Token):
        return part.type, part.start_pos, part.end_pos
    return str(part.data), *map(_nested, part.children)
