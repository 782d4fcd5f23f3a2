"""JSON as text: what is refused when it is read is what could not be written."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given

from interp.json_text import JsonText, read_json, write_json
from lenses_ext.schemas import NotJson
from tests.interp import strategies

NOT_JSON = {
    "1e999": "1e999 is too large a number", '{"a": -1e999}': "-1e999 is too large a number",
    "NaN": "NaN is not JSON", "[-Infinity]": "-Infinity is not JSON",
    '{"a": ["\\ud800"]}': r"\$\.a\[0\]: lone surrogate", '{"\\udc00": 1}': r"\$: lone surrogate",
    '{"a": 1, "a": 2}': 'key "a" is given twice',
    "[" * 201 + "]" * 201: "nests deeper than 200 levels",
    "[" * 201 + "1" + "]" * 201: "nests deeper than 200 levels", "[" * 100_000: "nested too deep",
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), NOT_JSON.items())
def test_what_is_no_json_is_refused_with_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_json(text)


@pytest.mark.parametrize("text", ["1e308", '"\\ud83d\\ude00"', "[" * 200 + "1" + "]" * 200])
def test_what_only_looks_like_it_is_read(text: str) -> None:
    assert read_json(write_json(read_json(text))) == read_json(text)


@given(strategies.message_texts())
def test_whatever_is_read_can_be_written_and_read_again(text: str) -> None:
    try:
        value: Any = read_json(text)
    except ValueError:
        return
    assert read_json(write_json(value)) == value


def test_a_value_that_holds_itself_is_refused_at_once() -> None:
    itself: list[Any] = []
    itself += [itself, itself]
    with pytest.raises(NotJson, match="nests deeper"):
        write_json(itself)


@pytest.mark.parametrize("value", [float("nan"), "\ud800", {1: 2}, object(), {"\udfff": 1}])
def test_what_cannot_be_written_is_told_with_its_path(value: Any) -> None:
    with pytest.raises(NotJson, match=r"^\$\.a\[0\]: "):
        write_json({"a": [value]})


def test_a_checked_text_stays_as_it_is_and_is_equal_to_the_same_str() -> None:
    text = write_json({"a": [1, 1.0, True]})
    assert JsonText.read(text) is text
    assert JsonText.read('{ "a": [1, 1.0, true] }') == text == '{"a":[1,1.0,true]}'
    assert type(pickle.loads(pickle.dumps(text))) is JsonText
    assert text.value is not text.value
