"""Reading a text in pieces gives what reading it at once gives: trees, places and errors."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st

from gram import GramDecodeError, Pattern, Source, loads, origin, read_in_pieces, walk
from tests.gram.strategies import gram_texts, spoilt_texts, token_texts


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


@pytest.mark.parametrize(
    "text",
    [
        "",
        "// nothing",
        "{a: 1}\n(b)\n[c]",
        "(a)\n-->(b)\n(c)",
        "(a)-->\n(b)",
        "[a |\n(b),\n(c)]\n(d)",
        "(a {k: ```\n(b)\n(c)\n```})\n(d)",
        "/* \n(a)\n*/\n(b)",
        "@k(1)\n(a)\n[b]",
        "(a)\n(b\n(c)",
        "\ufeff(a)\r\n(b)\r\n",
    ],
)
@pytest.mark.parametrize("size", [0, 1, 5, 1000])
def test_patterns_of_several_lines_are_read_alike(text: str, size: int) -> None:
    assert_read_alike(text, size)


def test_a_pattern_is_given_before_the_text_after_it_is_read() -> None:
    first = next(read_in_pieces(Source("(a)\n(b)\n(c"), 1))

    assert first.value.identity == "a"
