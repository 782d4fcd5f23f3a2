"""What is said of texts that are not gram, and that nothing but our own error is ever raised."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable

import pytest
from hypothesis import given

from gram import GramDecodeError, GramEncodeError, Subject, loads, loads_one, syntax_errors
from gram.reading.diagnosis import words
from tests.gram.strategies import any_texts, spoilt_texts, token_texts
from tests.gram.texts import table
from tests.gram.trees.test_pattern import nested_list

CASES: list[dict[str, str]] = table("errors")["case"]


def error_of(text: str) -> GramDecodeError:
    with pytest.raises(GramDecodeError) as caught:
        loads(text)
    return caught.value


# --- the texts of errors


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in CASES])
def test_an_error_says_what_was_found_what_was_expected_and_how_to_mend_it(
    case: dict[str, str],
) -> None:
    assert case["error"] == str(error_of(case["text"]))


def test_every_hint_has_a_case() -> None:
    shown = [case["error"].partition("\nhint: ")[2] for case in CASES]
    for *_, hint in (*words()["spellings"], *words()["places"]):
        pattern = re.compile(re.sub(r"\\\$\w+", ".*", re.escape(hint)))
        assert any(map(pattern.fullmatch, shown)), hint


def test_an_error_names_its_file() -> None:
    (error,) = syntax_errors("(a", "agents/hello.gram")
    assert str(error).startswith("agents/hello.gram:1:3: unexpected end of the text")
    assert (error.filename, error.lineno, error.colno, error.pos) == ("agents/hello.gram", 1, 3, 2)
    assert error.expected == ("a label", "a record", "`)`")


def test_an_error_survives_pickling_and_copying() -> None:
    error = error_of("(a {k: 1,})")
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert str(error) == str(twin)
        assert (error.pos, error.lineno, error.colno) == (twin.pos, twin.lineno, twin.colno)
        assert (error.expected, error.hint) == (twin.expected, twin.hint)
    for wrong in (None, nested_list(101)):
        with pytest.raises(GramEncodeError) as caught:
            Subject("a", (), {"k": wrong})
        twin = pickle.loads(pickle.dumps(caught.value))
        assert (type(twin), str(twin)) == (type(caught.value), str(caught.value))


@pytest.mark.parametrize(("text", "message", "place"), table("places")["not_one"])
def test_loads_one_wants_one_pattern(text: str, message: str, place: list[int]) -> None:
    with pytest.raises(GramDecodeError) as caught:
        loads_one(text)
    assert [message, *place] == [caught.value.msg, caught.value.lineno, caught.value.colno]


# --- every error of a text


@pytest.mark.parametrize(("what", "text", "lines"), table("places")["errors"])
def test_later_errors_are_found_where_a_pattern_begins_a_line(
    what: str, text: str, lines: list[int]
) -> None:
    assert lines == [error.lineno for error in syntax_errors(text)], what


@given(any_texts() | token_texts() | spoilt_texts())
def test_any_text_is_read_or_refused_at_places_inside_it_the_first_by_loading(text: str) -> None:
    errors = syntax_errors(text)
    for error in errors:
        assert 0 <= error.pos <= len(text)
        assert 1 <= error.lineno <= text.count("\n") + 1
        assert error.colno >= 1
    if errors:
        assert str(error_of(text)) == str(errors[0])
        assert [error.pos for error in errors] == sorted({error.pos for error in errors})
    else:
        loads(text)


# --- whatever is read


DEPTHS = [
    pytest.param(lambda n: "[a | " * (n - 1) + "(b)" + "]" * (n - 1), id="brackets"),
    pytest.param(lambda n: "(a {k: " + "[" * (n - 1) + "]" * (n - 1) + "})", id="arrays"),
    pytest.param(lambda n: "(a {k: " + "{k: " * (n - 2) + "{}" + "}" * (n - 2) + "})", id="maps"),
    pytest.param(lambda n: "@k(" + "[" * (n - 1) + "]" * (n - 1) + ") (b)", id="annotations"),
    pytest.param(lambda n: "[ | " * (n - 2) + "(a)-->(b)" + "]" * (n - 2), id="an edge"),
    pytest.param(lambda n: "[ | " * (n - 3) + "(a)--(b)--(c)" + "]" * (n - 3), id="a walk"),
]


@pytest.mark.parametrize("nested", DEPTHS)
def test_a_hundred_levels_are_read_and_one_more_is_refused(nested: Callable[[int], str]) -> None:
    (tree,) = loads(nested(100))
    assert tree.levels == 100
    error = error_of(nested(101))
    assert error.msg == "nests deeper than 100 levels"
    assert error.doc[error.pos] in "([{@"


@pytest.mark.parametrize("levels", [101, 150, 30_000])
def test_the_bracket_that_opens_a_level_too_many_is_cited(levels: int) -> None:
    opened, closed = "[a | " * levels, "]" * levels
    assert error_of(opened).pos in (len(opened), 100 * len("[a | "))
    assert error_of(f"{opened}b{closed}").pos == 100 * len("[a | ")
    assert error_of("(a {k: " + "[" * levels + "]" * levels).pos in (
        len("(a {k: ") + 99,
        len("(a {k: ") + 2 * levels,
    )


NUMBERS = {
    "an integer": "9" * 10_000,
    "a hexadecimal number": "0x" + "F" * 100_000,
    "an octal number": "0" + "7" * 100_000,
    "a decimal": "9" * 400 + ".5",
    "a measurement": "9" * 10_000 + "kg",
    "a range": "1.." + "9" * 10_000,
}


@pytest.mark.parametrize("number", [pytest.param(n, id=name) for name, n in NUMBERS.items()])
def test_a_number_too_large_to_hold_is_refused_with_its_place(number: str) -> None:
    error = error_of(f"(a {{k: {number}}})")
    assert error.msg == "this number is too large"
    assert error.pos == 7 + (3 if number.startswith("1..") else 0)
    assert len(str(error)) < 500


def test_a_small_number_may_have_many_digits() -> None:
    loads("(a {k: 0." + "0" * 10_000 + "1, l: 1." + "1" * 10_000 + "})")
    loads("(" + "9" * 10_000 + ")")
    loads("(a {k: " + "9" * 4300 + "})")


MANY = 20_000
HOSTILE = {
    "a long line": '(a {k: "' + "a" * 10 * MANY + '"} b)',
    "a long open string": '(a {k: "' + "a" * 10 * MANY,
    "a long open fence": "(a {k: ```\n" + "` `` " * MANY,
    "a long comment": "//" + "/" * 10 * MANY,
    "open brackets": "[" * MANY,
    "backticks": "`" * MANY,
    "a hexadecimal measurement": "(a {k: 0x" + "A" * MANY + "g})",
    "errors in every line": "(a b)\n" * 300,
    "NUL": "\0" * MANY,
    "lone surrogates": "\ud800" * MANY,
}


@pytest.mark.parametrize("text", [pytest.param(t, id=name) for name, t in HOSTILE.items()])
def test_a_hostile_text_is_read_or_refused(text: str) -> None:
    for error in syntax_errors(text):
        assert len(str(error)) < 1000


def test_a_lone_surrogate_in_a_string_is_refused_at_the_string() -> None:
    assert str(error_of("(a {k: 'x\ud800'})")).startswith("1:8: lone surrogate at index 1")
    assert [error_of(text).colno for text in ("(`\udfff`)", "@`\udfff`(1) (a)")] == [2, 2]
