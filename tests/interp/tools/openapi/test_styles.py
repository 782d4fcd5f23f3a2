"""Every style that is sent, read back by a decoder that knows RFC 6570 and nothing of ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given, reject, strategies as st

from interp import ToolError
from interp.tools.openapi.styles import ApiParameter, in_header, in_path, in_query

texts = st.text(st.characters(codec="utf-8"), max_size=8)
ascii_texts = st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=8)


def values_of(texts: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    """Texts, and lists and objects of texts that are not empty."""
    return (
        texts
        | st.lists(texts, min_size=1, max_size=4)
        | st.dictionaries(texts.filter(bool), texts, min_size=1, max_size=4)
    )


def parameter(place: str, explode: bool) -> ApiParameter:
    return ApiParameter("p", "p q", place, explode)


def written(write: Callable[[ApiParameter, Any], Any], to: ApiParameter, value: Any) -> Any:
    """What is written of a value, where it is not refused."""
    try:
        return write(to, value)
    except ToolError:
        reject()


def read_parts(parts: list[str], like: Any, explode: bool) -> Any:
    """The value of parts that are still escaped, of the same shape as another."""
    if isinstance(like, dict) and explode:
        return {
            unquote(key): unquote(one) for key, _, one in (each.partition("=") for each in parts)
        }
    plain = [unquote(each) for each in parts]
    if isinstance(like, dict):
        return dict(zip(plain[::2], plain[1::2], strict=True))
    return plain if isinstance(like, list) else plain[0]


@pytest.mark.parametrize(
    "value",
    [
        "..", ".", "../admin", "a/../b", "a/./b", "..\\b", "a/..", "%2e%2e", "%2E.", "%252e%252e",
        "%25252e%25252e/x", "..%2fx", "..%252f", "a%2f%2e%2e%2fb", "%%32e%%32e", "..;/x", "..;a=1",
        "%c0%ae%c0%ae/x", "%C0%AE./x", "%e0%80%ae./x", "..%c0%af", "%u002e%u002e/x",
        "．．/x", "\u2024\u2024/", "\u2025/x", "..／x", "..＼x", "..\0/x", ".. /x", " ../x",
        "../\t", "..\u200b/x", "\ufeff../x", ".\u00ad./x", "..?x", "..#x", "..%3Fx", ".\0./x",
        "%c0%2e%c0%2e/x", "a%c1%9c..", "%f8%80%80%80%ae./x", "a%e0%81%9c..", "..%u2215x",
        "a%u005c..",
        "a\u2215..", "a\u2044..", "\u3002\u3002/x", "..%ff/x",
        "%" + "25" * 50 + "2e/x", ["a", "../b"], {"a": "x/../b"},
    ],
)  # fmt: skip
def test_no_part_of_a_path_leads_elsewhere_however_it_is_encoded(value: Any) -> None:
    with pytest.raises(ToolError, match=r"has a \. or \.\. that leads elsewhere"):
        in_path(parameter("path", explode=False), value)


def test_dots_in_names_are_sent() -> None:
    words = "a..b ... .gitignore v1.0 a. ..a 100% 50%25 x;y a/b.c ..é a%20.b"
    for value in words.split():
        assert unquote(in_path(parameter("path", explode=False), value)) == value


@given(values_of(texts), st.booleans())
def test_a_path_says_what_was_given(value: Any, explode: bool) -> None:
    text = written(in_path, parameter("path", explode), value)
    assert "/" not in text
    assert "?" not in text
    parts = text.split(",") if isinstance(value, list | dict) else [text]
    assert read_parts(parts, value, explode) == value


@given(values_of(texts), st.booleans())
def test_a_query_says_what_was_given(value: Any, explode: bool) -> None:
    pairs = written(in_query, parameter("query", explode), value)
    query = "&".join(f"{name}={one}" for name, one in pairs)
    assert not set(query) & set("# +\r\n")
    read = [each.split("=") for each in query.split("&")]
    assert all(len(each) == 2 for each in read)
    if explode and isinstance(value, dict):
        assert {unquote(name): unquote(one) for name, one in read} == value
    elif explode and isinstance(value, list):
        assert {unquote(name) for name, _ in read} == {"p q"}
        assert [unquote(one) for _, one in read] == value
    else:
        ((name, text),) = read
        assert unquote(name) == "p q"
        parts = text.split(",") if isinstance(value, list | dict) else [text]
        assert read_parts(parts, value, False) == value


@given(values_of(ascii_texts), st.booleans())
def test_a_header_says_what_was_given(value: Any, explode: bool) -> None:
    text = written(in_header, parameter("header", explode), value)
    if isinstance(value, str):
        assert text == value
        return
    parts = text.split(",")
    if isinstance(value, list):
        assert parts == value
    elif explode:
        assert dict(each.split("=") for each in parts) == value
    else:
        assert dict(zip(parts[::2], parts[1::2], strict=True)) == value


# What the specification shows for the values "blue", ["blue","black"] and {"R": 100, "G": 200}.
LIST, RECORD = ["blue", "black"], {"R": 100, "G": 200}


@pytest.mark.parametrize(
    ("explode", "value", "path", "query"),
    [
        (False, "x", "x", "c=x"),
        (False, LIST, "blue,black", "c=blue,black"),
        (False, RECORD, "R,100,G,200", "c=R,100,G,200"),
        (True, LIST, "blue,black", "c=blue&c=black"),
        (True, RECORD, "R=100,G=200", "R=100&G=200"),
    ],
)
def test_paths_and_queries_are_those_of_the_specification(
    explode: bool, value: Any, path: str, query: str
) -> None:
    assert in_path(ApiParameter("c", "c", "path", explode), value) == path
    pairs = in_query(ApiParameter("c", "c", "query", explode), value)
    assert "&".join(f"{name}={one}" for name, one in pairs) == query


def test_a_deep_object_has_the_names_that_lead_to_each_value() -> None:
    value = {"at": {"from": 1, "to": "é"}, "in": ["x"]}

    assert in_query(ApiParameter("c", "c", "query", True, is_deep=True), value) == [
        ("c%5Bat%5D%5Bfrom%5D", "1"),
        ("c%5Bat%5D%5Bto%5D", "%C3%A9"),
        ("c%5Bin%5D%5B0%5D", "x"),
    ]
