"""The one layout: it keeps the trees and the comments, and is its own fixed point."""

import re
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from gram import dumps, loads
from gram.documents import formatting
from gram.documents.formatting import format_text
from tests.gram.strategies import forests, gram_texts
from tests.gram.texts import ACCEPTED
from tests.paths import DATA

CASES = sorted((DATA / "format").glob("*.before.gram"))
assert CASES


@pytest.mark.parametrize("before", CASES, ids=lambda path: path.name)
def test_the_layout_is_the_golden_one(before: Path) -> None:
    after = before.with_name(before.name.replace(".before.", ".after."))
    expected = after.read_bytes().decode()
    assert format_text(before.read_bytes().decode()) == expected
    assert format_text(expected) == expected


@given(gram_texts() | forests().map(dumps), st.sampled_from([100, 40, 15]))
def test_trees_and_comments_stay_and_a_second_time_changes_nothing(text: str, width: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(formatting, "WIDTH", width)
        assert_only_the_layout_changes(text)


def test_nothing_but_the_layout_changes_in_any_known_text() -> None:
    for text in (*ACCEPTED.values(), "[a | " * 99 + "a" + "]" * 99):
        assert_only_the_layout_changes(text)


def assert_only_the_layout_changes(text: str) -> None:
    formatted = format_text(text)
    assert loads(formatted) == loads(text)
    assert re.findall(r"// \d+", formatted) == re.findall(r"// \d+", text)
    assert format_text(formatted) == formatted


@pytest.mark.parametrize(
    ("text", "formatted"),
    [
        ("", ""),
        (" \n\n", ""),
        ("\ufeff(a)", "\ufeff(a)\n"),
        ("\ufeff\n// c", "\ufeff// c\n"),
        ("(a)\r\n\r\n\r\n// c  \r\n(b)", "(a)\r\n\r\n// c\r\n(b)\r\n"),
        ("(a) // c", "(a) // c\n"),
    ],
)
def test_byte_order_mark_and_line_breaks_follow_the_text(text: str, formatted: str) -> None:
    assert format_text(text) == formatted


def test_a_fence_is_content_whatever_its_line_breaks() -> None:
    text = "(a)\n(b {k: ```\r\n one\r\n two\r\n```})"
    assert loads(format_text(text)) == loads(text)
    assert "```\r\n one\r\n two\r\n```" in format_text(text)
