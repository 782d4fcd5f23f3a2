"""The errors of the notation, and how a wrong type of argument is refused."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping

import pytest

import gram
from gram import ArgumentError, GramDecodeError, GramEncodeError, GramError, NoPatternError, Pattern
from gram.errors import expect


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        (5, Pattern, "view: agent must be a Pattern, got int"),
        (None, str, "view: agent must be a str, got None"),
        (Pattern, Pattern, "view: agent must be a Pattern, got the class Pattern"),
        ([], (int, type(None)), "view: agent must be an int or None, got list"),
        (5, Callable, "view: agent must be a function, got int"),
        (5, (Iterable, Mapping), "view: agent must be an iterable or a mapping, got int"),
    ],
)
def test_the_message_says_what_is_wanted_and_what_was_given(
    value: object, kind: type, message: str
) -> None:
    with pytest.raises(ArgumentError) as error:
        expect(value, kind, "agent", by="view")
    assert str(error.value) == message


def test_what_is_of_the_wanted_type_passes_and_the_error_is_ours_and_pickles() -> None:
    expect("x", str, "text", by="loads")
    expect(True, int, "width", by="format_text")
    expect(None, (str, type(None)), "filename", by="parse")
    expect(len, Callable, "style", by="dumps")
    error = ArgumentError("view: agent must be a Pattern, got int")
    assert isinstance(error, GramError)
    assert isinstance(error, TypeError)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize(
    "kind", [GramError, ArgumentError, NoPatternError, GramDecodeError, GramEncodeError]
)
def test_the_text_of_an_error_hides_nothing(kind: type[GramError]) -> None:
    assert str(kind("a\x1b[2J\u202eb")) == r"a\x1b[2J\u202eb"


def test_it_has_the_lines_of_the_caller_and_the_message() -> None:
    try:
        gram.loads("(a")
    except GramError as error:
        shown = error._render_traceback_()
    assert shown[-1] == "hint: close it with )" or "GramDecodeError" in "\n".join(shown)
    assert sum(line.startswith("  File ") for line in shown) == 1
    assert 'loads("(a")' in "\n".join(shown)


def test_a_cause_of_the_caller_is_shown_and_one_of_a_library_is_not() -> None:
    def fails() -> None:
        raise ValueError("theirs")

    shown = []
    for act in (fails, lambda: gram.loads_one("(a")):
        try:
            try:
                act()
            except Exception as cause:
                if act is not fails:
                    cause = cause.with_traceback(None)
                raise GramError("ours") from cause
        except GramError as error:
            shown.append("\n".join(error._render_traceback_()))

    assert "ValueError: theirs" in shown[0]
    assert "GramDecodeError" not in shown[1]
    assert all(each.endswith("GramError: ours") for each in shown)
