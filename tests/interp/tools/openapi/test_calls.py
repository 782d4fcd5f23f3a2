"""Values in requests, read back by a decoder that knows RFC 6570 and nothing of ours."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given, reject, strategies as st

from interp import ToolError
from interp.tools.openapi.calls import in_header, in_path, in_query
from interp.tools.openapi.document import ApiParameter

PATH = ApiParameter("p", "p q", "path")
texts = st.text(st.characters(codec="utf-8"), max_size=8)
ascii_texts = st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=8)
lists = st.lists(texts, min_size=1, max_size=4)


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
        "%" + "25" * 50 + "2e/x", ["a", "../b"],
    ],
)  # fmt: skip
def test_no_part_of_a_path_leads_elsewhere_however_it_is_encoded(value: Any) -> None:
    with pytest.raises(ToolError, match=r"has a \. or \.\. that leads elsewhere"):
        in_path(PATH, value)


def test_dots_in_names_and_sentences_are_sent() -> None:
    words = "a..b ... .gitignore v1.0 a. ..a 100% 50%25 x;y a/b.c ..é a%20.b a.\ufffd"
    for value in (*words.split(), "$.", "HEAD@{1}..@{0}", 'He said "no" (twice!).', "a . b"):
        assert unquote(in_path(PATH, value)) == value


@given(texts | lists)
def test_a_path_says_what_was_given(value: Any) -> None:
    try:
        text = in_path(PATH, value)
    except ToolError:
        reject()

    assert not {*"/?"} & {*text}
    parts = [unquote(each) for each in text.split(",")]
    assert parts == (value if isinstance(value, list) else [value])


@given(texts | lists | st.dictionaries(texts, texts, min_size=1, max_size=4), st.booleans())
def test_a_query_says_what_was_given(value: Any, explode: bool) -> None:
    try:
        pairs = in_query(ApiParameter("p", "p q", "query", explode), value)
    except ToolError:
        reject()

    assert not {*"&=# +\r\n"} & {*"".join(map("".join, pairs))}
    plain = [(unquote(name), [*map(unquote, one.split(","))]) for name, one in pairs]
    if isinstance(value, dict):
        assert {name: one for name, (one,) in plain} == value
        return
    assert {name for name, _ in plain} == {"p q"}
    assert [part for _, one in plain for part in one] == (
        value if isinstance(value, list) else [value]
    )
    assert len(plain) == 1 or explode


@given(ascii_texts | st.lists(ascii_texts, min_size=1, max_size=4))
def test_a_header_says_what_was_given(value: Any) -> None:
    try:
        text = in_header(ApiParameter("p", "p q", "header"), value)
    except ToolError:
        reject()

    assert value == (text.split(",") if isinstance(value, list) else text)


@pytest.mark.parametrize(
    ("place", "write"), [("path", in_path), ("query", in_query), ("header", in_header)]
)
def test_objects_that_no_server_reads_alike_are_not_sent(place: str, write: Any) -> None:
    with pytest.raises(ToolError, match=f'"p" is an object, which is not sent in a {place}'):
        write(ApiParameter("p", "p", place, explode=False), {"R": 100})


def test_a_header_that_has_what_separates_values_is_refused() -> None:
    with pytest.raises(ToolError, match="an item with one cannot be sent"):
        in_header(ApiParameter("p", "p", "header"), ["a,b"])


def test_a_deep_object_has_the_names_that_lead_to_each_value() -> None:
    value = {"at": {"from": 1, "to": "é"}, "in": ["x"]}
    assert in_query(ApiParameter("c", "c", "query", is_deep=True), value) == [
        ("c%5Bat%5D%5Bfrom%5D", "1"),
        ("c%5Bat%5D%5Bto%5D", "%C3%A9"),
        ("c%5Bin%5D%5B0%5D", "x"),
    ]
