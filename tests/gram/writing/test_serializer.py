"""The canonical text, rule by rule, the same in every process; and texts that are cut."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, strategies as st

from gram import (
    Measurement,
    Pattern,
    Range,
    Subject,
    TaggedString,
    dumps,
    from_json,
    loads,
    loads_one,
    to_json,
)
from gram.writing import Spelling, abridged
from tests.gram.strategies import forests, patterns
from tests.gram.texts import table


def written(value: Any) -> str:
    """The canonical text of a value."""
    text = dumps(Pattern(Subject("", (), {"k": value}), [Pattern(Subject("e"))]))
    return text.removeprefix("[{k: ").removesuffix("} | e]")


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


# --- rule 2: names


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.b-c@d", "(a.b-c@d)"),
        ("true", "(true)"),
        ("42", "(42)"),
        ("-7", "(-7)"),
        ("-0", "(-0)"),
        ("042", "(`042`)"),
        ("1.5", "(`1.5`)"),
        ("5kg", "(`5kg`)"),
        ("+1", "(`+1`)"),
        ("٣", "(`٣`)"),
        ("two words", "(`two words`)"),
        ("a\n", "(`a\\n`)"),
        ("a`b\\", "(`a\\`b\\\\`)"),
        ("é", "(`é`)"),
        ("a\rb\tc\fd\be", "(`a\\rb\\tc\\fd\\be`)"),
        ("\0", "(`\0`)"),
    ],
)
def test_a_name_is_bare_where_it_reads_back_and_else_in_backticks(name: str, expected: str) -> None:
    assert dumps(atom(name)) == expected
    assert loads(expected) == (atom(name),)


# --- rule 5: numbers and measurements


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, "0"),
        (-5, "-5"),
        (10**30, "1" + "0" * 30),
        (2.0, "2.0"),
        (-0.0, "-0.0"),
        (0.1, "0.1"),
        (1e21, "1" + "0" * 21 + ".0"),
        (1.5e-7, "0.00000015"),
        (5e-324, "0." + "0" * 323 + "5"),
        (True, "true"),
        (Measurement(5, "kg"), "5kg"),
        (Measurement(5.0, "kg"), "5kg"),
        (Measurement(2.5, "kg"), "2.5kg"),
        (Measurement(1e-7, "kg"), "0.0000001kg"),
        (Measurement(-0.0, "m"), "0m"),
        (Measurement(0, "xFF"), "-0xFF"),
        (Measurement(0, "xa"), "-0xa"),
        (Measurement(0, "x"), "0x"),
        (Measurement(0, "xFg"), "0xFg"),
        (Measurement(0, "XFF"), "0XFF"),
        (Measurement(10, "xFF"), "10xFF"),
        (Measurement(1, "e"), "1e"),
        (Range(1, 2), "1..2"),
        (Range(1.0, Measurement(5, "kg")), "1.0..5kg"),
        (Range(1), "1..."),
        (Range(None, -1), "...-1"),
        (Range(Measurement(0, "xFF"), Measurement(0, "xA")), "-0xFF..-0xA"),
    ],
)
def test_numbers_are_written_without_exponent(value: Any, expected: str) -> None:
    text = dumps(Pattern(Subject("a", (), {"k": value})))

    assert text == f"(a {{k: {expected}}})"
    assert loads_one(text).value.properties["k"] == value
    assert written(value) == expected


# --- rule 6: strings


LONG = "x" * 121


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", '""'),
        ("it's", '"it\'s"'),
        ('a "b"', '"a \\"b\\""'),
        ("a\\b/c", '"a\\\\b/c"'),
        ("\b\f\r\t", '"\\b\\f\\r\\t"'),
        ("\0\x1f\u2028\x85", '"\0\x1f\u2028\x85"'),
        ("x" * 120, f'"{"x" * 120}"'),
        (LONG, f"```\n{LONG}\n```"),
        ("a\nb", "```\na\nb\n```"),
        ("a\n", "```\na\n\n```"),
        ("\na", "```\n\na\n```"),
        ("a\n  ", "```\na\n  \n```"),
        ("a\n  \n ", "```\na\n  \n \n```"),
        ("a\n```", '"a\\n```"'),
        ("a\nb`", "```\na\nb`\n```"),
        ("a\\n\n\\", "```\na\\n\n\\\n```"),
        ("\r\n", "```\n\r\n\n```"),
        ("// c\n", "```\n// c\n\n```"),
        ("\n", "```\n\n\n```"),
        ("`\n`", "```\n`\n`\n```"),
        ("``\n", "```\n``\n\n```"),
        ("\t\n\t", "```\n\t\n\t\n```"),
    ],
)
def test_a_string_is_fenced_where_it_is_long_and_reads_back(text: str, expected: str) -> None:
    assert written(text) == expected
    assert loads_one(f"(a {{k: {expected}}})").value.properties["k"] == text
    for value in (TaggedString("t", text), text + LONG, LONG + text):
        tree = Pattern(Subject("a", (), {"k": value}))
        assert loads_one(dumps(tree)) == tree


def test_a_tagged_string_is_in_backticks_or_a_fence_with_its_tag() -> None:
    assert written(TaggedString("d", "a`b\\")) == "d`a\\`b\\\\`"
    assert written(TaggedString("md", "a\nb")) == "```md\na\nb\n```"
    assert written(TaggedString("md", "a\n```")) == "md`a\\n\\`\\`\\``"
    assert written(TaggedString("true.", "x")) == "true.`x`"


# --- rule 7: styles


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


@given(forests(), st.sampled_from([":", "::"]), st.sampled_from("-=~"))
def test_a_style_does_not_change_what_is_said(
    trees: tuple[Pattern, ...], separator: Any, family: Any
) -> None:
    text = dumps(trees, style=lambda _: Spelling(separator, family, bracketed=True))

    assert loads(text) == trees


# --- the same everywhere


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


@given(forests())
def test_what_is_written_as_text_and_json_reads_back_as_the_same_trees(
    trees: tuple[Pattern, ...],
) -> None:
    text, data = dumps(trees), json.loads(json.dumps(to_json(trees)))

    assert loads(text) == trees
    assert dumps(loads(text)) == text
    assert from_json(data) == trees
