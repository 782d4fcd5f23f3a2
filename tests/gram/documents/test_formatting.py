"""The one layout: it keeps the trees and the comments, and is its own fixed point."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest
from hypothesis import strategies as st

from gram import Pattern, dumps, format_text, loads, loads_one, parse
from gram.documents import format_changes, formatting
from tests.by_day import given_few
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


@given_few(gram_texts() | forests().map(dumps), st.sampled_from([100, 40, 15]))
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
        ("\ufeff(a)", "\ufeff(a)\n"),
        ("\ufeff\n// c", "\ufeff// c\n"),
        ("(a)\r\n\r\n\r\n// c  \r\n(b)", "(a)\r\n\r\n// c\r\n(b)\r\n"),
    ],
)
def test_byte_order_mark_and_line_breaks_follow_the_text(text: str, formatted: str) -> None:
    assert format_text(text) == formatted


def test_a_fence_is_content_whatever_its_line_breaks() -> None:
    text = "(a)\n(b {k: ```\r\n one\r\n two\r\n```})"
    assert loads(format_text(text)) == loads(text)
    assert "```\r\n one\r\n two\r\n```" in format_text(text)


# --- what an edit puts in is laid out as a whole text would be, and nothing else is

TEXT = "x" * 60
LONG = f'[long:Tool {{description: "{TEXT}"}} | (a:Text)-->(:Text), [b:Object | (c:Text)]]'
LAID_OUT = f"""\
[long:Tool {{description: "{TEXT}"}} |
  (a:Text)-->(:Text),
  [b:Object | (c:Text)]
]"""


def with_elements(text: str, *elements: str) -> str:
    """A text whose first pattern has more elements."""
    document = parse(text)
    first, *others = document.patterns
    new = Pattern(first.value, (*first.elements, *map(loads_one, elements)))
    return format_changes(document.replace([new, *others]))


def indented(text: str) -> str:
    return text.replace("\n", "\n  ")


@pytest.mark.parametrize("short", ["[a:Agent]", "[a:Agent {x: 1}]"])
def test_the_first_elements_of_a_pattern_have_lines_of_their_own(short: str) -> None:
    opened = short[:-1] + " |\n  "
    assert with_elements(short, LONG) == f"{opened}{indented(LAID_OUT)}\n]"
    assert with_elements(short, "(b)", LONG) == f"{opened}b,\n  {indented(LAID_OUT)}\n]"
    assert with_elements(short, "(b)") == short[:-1] + " | b]"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[a |   x ] // end", "[a |   x,\n  {} ] // end"),
        ("[a |\n      x, // one\n      y]", "[a |\n      x, // one\n      y,\n      {}]"),
        ("  [a |\n  x\n  ]\n", "  [a |\n  x,\n  {}\n  ]\n"),
        ("[a |\r\n  x]\r\n", "[a |\r\n  x,\r\n  {}]\r\n"),
    ],
)
def test_all_else_stays_as_it_was(old: str, new: str) -> None:
    given = with_elements(old, LONG)
    column = given[given.rindex("\n", 0, given.index("[long")) + 1 : given.index("[long")]
    breaks = "\r\n" if "\r" in old else "\n"
    assert given == new.format(LAID_OUT.replace("\n", f"{breaks}{column}"))


def test_a_new_pattern_of_a_text_begins_a_line_as_it_did() -> None:
    document = parse("[a   |x]\n")
    new = format_changes(document.replace([*document.patterns, loads_one(LONG)]))
    assert new == f"[a   |x]\n{LAID_OUT}\n"


@given_few(gram_texts(), forests() | gram_texts().map(loads), st.sampled_from([100, 30]))
def test_trees_and_comments_stay_and_what_fits_is_left_alone(
    text: str, trees: tuple[Pattern, ...], width: int
) -> None:
    document = parse(text)
    edited = document.replace([*document.patterns, *trees])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(formatting, "WIDTH", width)
        laid_out = format_changes(edited)

    assert loads(laid_out) == edited.patterns
    assert re.findall(r"// \d+", laid_out) == re.findall(r"// \d+", edited.text)
    assert format_changes(document) == text
    # in a text that is laid out, so is what is new; a copy would keep its spelling
    trees = pickle.loads(pickle.dumps(trees))
    tidy = parse("[a |\n  x, // why\n  [y:Tool]\n]\n")
    (first,) = tidy.patterns
    new = format_changes(tidy.replace([Pattern(first.value, (*first.elements, *trees))]))
    assert format_text(new) == new
