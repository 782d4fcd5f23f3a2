"""What may change in a program, and what a candidate may not hold."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from interp import Case, ConfigurationError, File, ValidationError
from interp.evaluation.improving.changes import Changeable, Leaks, diff_of
from lenses_ext import Project, parse_program
from tests.by_day import given_few

SOURCE = """\
// Kept, every byte of it.
[desk:Agent {
  instruction: "Help the customer.",  // may change
  model: "Offline/rehearsal",   settings: {temperature: 0.5},
  examples: ["one", "two"]
} |
  [find:ToolSpecification {description: "Finds an order"} |
    (order::Text {description: "Its number"})==>(::Text) ]  // kept, too
]
"""
PATHS = (
    "desk.instruction, desk.tools.*.description, desk.tools.*.parameters.*.description, "
    "desk.settings.temperature, desk.examples"
)


def program() -> Project:
    return Project.of(parse_program(SOURCE, "desk.gram"))


def test_texts_and_values_change_by_their_paths() -> None:
    changeable = Changeable.of(program(), PATHS)

    assert changeable.texts == {
        "desk.instruction": "Help the customer.",
        "desk.tools.find.description": "Finds an order",
        "desk.tools.find.parameters.order.description": "Its number",
        "desk.settings.temperature": "0.5",
        "desk.examples": '["one", "two"]',
    }
    assert changeable.changes_tools
    changed = changeable.with_texts({"desk.settings.temperature": "1", "desk.examples": '["x"]'})
    assert changed.document.text == SOURCE.replace("0.5", "1").replace('["one", "two"]', '["x"]')


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


@given_few(TEXTS.filter(str.strip), TEXTS.filter(str.strip))
def test_every_byte_outside_of_what_may_change_stays(instruction: str, description: str) -> None:
    changeable = Changeable.of(program(), PATHS)
    texts = {"desk.instruction": instruction, "desk.tools.find.description": description}

    found = changeable.with_texts(texts).document.text

    first, rest = SOURCE.split('"Help the customer."')
    middle, last = rest.split('"Finds an order"')
    assert found.startswith(first)
    assert found.endswith(last)
    assert middle in found
    again = Changeable.of(Project.of(parse_program(found)), PATHS)
    assert again.texts == {**changeable.texts, **texts}
    assert again.with_texts(changeable.texts).document.text


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        ("desk.tools", "desk.tools cannot change: it is no text"),
        ("desk", "desk cannot change: it is no text"),
        ("desk.model", "desk.model cannot change: it is no text"),
        ("desk.schema", "desk.schema cannot change"),
        ("desk.instructon", "did you mean instruction"),
    ],
)
def test_what_cannot_change_is_refused_with_its_path(paths: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        Changeable.of(program(), paths)


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ({"desk.model": "A/b"}, "desk.model may not change; what may: desk.instruction"),
        ({"desk.instruction": " "}, "instruction"),
        ({"desk.settings.temperature": "hot"}, "temperature"),
    ],
)
def test_a_candidate_that_is_no_program_is_refused(texts: dict[str, str], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Changeable.of(program(), PATHS).with_texts(texts)


def test_a_difference_is_one_of_the_source(tmp_path: Path) -> None:
    changeable = Changeable.of(program(), PATHS)

    found = diff_of(changeable.program, changeable.with_texts({"desk.instruction": "Help."}))

    changed = [each for each in found.splitlines() if each[0] in "+-"]
    assert changed == [
        "--- desk.gram",
        "+++ desk.gram (new)",
        '-  instruction: "Help the customer.",  // may change',
        '+  instruction: "Help.",  // may change',
    ]


CASE = Case(
    name="late",
    input="One two three four five six seven eight, nine?",
    attachments=(File(b"a b c d e f g h", "note.txt"),),
    expected={"state": "it was lost", "by": "us"},
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Three  FOUR five, six seven eight nine.", None),
        ("Say: two_three ｆｏｕｒ five six seven eight nine", "repeats .* of case late"),
        ("Say: two three four five six seven eight nine", "repeats .* of case late"),
        ("state: it was lost", None),
        ("state it was lost by us", "the whole answer that case late expects"),
        (["two\nthree", {"four five": "six seven"}, "eight nine"], "repeats .* of case late"),
        ("a b c d e f g h", "repeats .* of case late"),
        ("回答：三天前就应该到了没有", '"三 天 前 就 应 该 到 了" of case zh'),  # as words
        ("三天前应该到了", None),
        ("总是说请联系快递公司。", "the whole answer that case zh expects"),
    ],
)
def test_eight_words_of_a_case_and_whole_answers_are_found(text: Any, said: str | None) -> None:
    other = Case(name="zh", input="我的订单三天前就应该到了", expected="请联系快递公司")
    found = Leaks([CASE, other], []).of(text)
    assert found is None if said is None else re.search(said, found or "")


def test_what_the_program_had_already_is_no_leak() -> None:
    had = f'[a:Agent {{instruction: "{CASE.input}", model: "A/b"}}]'
    assert Leaks([CASE], parse_program(had).patterns).of(f"Now: {CASE.input}") is None
