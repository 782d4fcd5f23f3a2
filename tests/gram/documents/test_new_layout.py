"""What an edit puts in is laid out as a whole text would be, and nothing else is."""

from __future__ import annotations

import pickle
import re

import pytest
from hypothesis import given, strategies as st

from gram import Pattern, format_text, loads, loads_one, parse
from gram.documents import format_changes, formatting
from tests.gram.strategies import forests, gram_texts

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


@given(gram_texts(), forests() | gram_texts().map(loads), st.sampled_from([100, 30]))
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
