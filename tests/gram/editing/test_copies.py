"""Copies, and patterns of other documents: they bring their text, and no comments."""

from __future__ import annotations

import pickle
import re

import attrs
import pytest
from hypothesis import given, strategies as st

from gram import Pattern, loads, parse, walk
from tests.gram.strategies import gram_texts

COMMENT = re.compile(r"// \d+")
TEXT = """\
// above
[a:A { // opening
  k: 0x0F, // in
  j: 'x'
} | // bar
  // above b
  (b {n: 017}), // after b
  (c)<~~(d // end
  )
] // after
"""
COPY = """\
[a:A {
  k: 0x0F,
  j: 'x'
} |
  (b {n: 017}),
  (c)<~~(d
  )
]"""


def test_a_copy_has_the_text_of_what_it_came_from_without_comments() -> None:
    document = parse(TEXT)

    assert document.replace([*document.patterns] * 2).text == f"{TEXT}{COPY}\n"
    other = parse("// mine\n(x)\n")
    edited = other.replace([*other.patterns, *loads(TEXT)])
    assert edited.text == f"// mine\n(x)\n{COPY}\n"
    pickled = pickle.loads(pickle.dumps(loads("(a {k: 0x0F})")[0]))  # which is no copy
    assert parse("").replace([pickled]).text == "(a {k: 15})"


def test_a_changed_copy_keeps_the_spelling_of_the_rest() -> None:
    (read,) = loads(TEXT)
    subject = attrs.evolve(read.value, identity="z", properties=read.value.properties.set("k", 16))
    changed = attrs.evolve(read, value=subject, elements=(*read.elements, Pattern()))

    text = parse("(x:X)").replace([changed]).text

    expected = COPY.replace("[a", "[z").replace("0x0F", "0x10").replace("  )\n", "  ),\n  ()\n")
    assert text == expected


@pytest.mark.parametrize(
    ("text", "top", "inside"),
    [
        ("{k: 'v'}", '(x)\n({k: "v"})', '[x | ({k: "v"})]'),
        ("@k('v') // c\n(a)", "(x)\n@k('v')\n(a)", '[x | [{k: "v"} | a]]'),
        ("(a {k: 'v'})", "(x)\n(a {k: 'v'})", "[x | (a {k: 'v'})]"),
        ("(a)", "(x)\n(a)", "[x | a]"),
        ("[a | b // c\n, c]", "(x)\n[a | b, c]", "[x | [a | b, c]]"),
    ],
)
def test_a_copy_is_written_in_a_form_that_its_place_allows(
    text: str, top: str, inside: str
) -> None:
    document, copies = parse("(x)"), loads(text)
    (x,) = document.patterns

    assert document.replace([x, *copies]).text == top
    assert document.replace([attrs.evolve(x, elements=copies)]).text == inside


@given(gram_texts(), gram_texts(), st.data())
def test_copies_of_any_pattern_read_back_and_bring_no_comment(
    text: str, other: str, data: st.DataObject
) -> None:
    document = parse(text)
    read = [each for _, each in walk(parse(other).patterns)] or [Pattern()]
    copy = data.draw(st.sampled_from(read))
    if data.draw(st.booleans()):
        copy = attrs.evolve(copy, value=attrs.evolve(copy.value, identity="copy"))

    edited = document.replace([*document.patterns, copy])

    assert edited.rescued == ()
    assert loads(edited.text) == edited.patterns == (*document.patterns, copy)
    assert sorted(COMMENT.findall(edited.text)) == sorted(COMMENT.findall(text))
