"""Another pattern in the place of one that is found."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from gram import Pattern, Subject, loads, loads_one, parse
from gram.comparing import AsWritten, QueryError, rewrite
from tests.gram.comparing.test_query import pattern_for
from tests.gram.strategies import gram_texts


def rewritten(pattern: str, new: str, text: str) -> str:
    document = parse(text)
    trees = rewrite(loads_one(pattern), loads_one(new), AsWritten(document.patterns))
    edited = document.replace(trees)
    assert not edited.rescued
    assert loads(edited.text) == trees
    return edited.text


@pytest.mark.parametrize(
    ("pattern", "new", "text", "expected"),
    [
        # values: what neither names stays, what only the old one names goes
        ("(_a {k: 1})", "(_a {k: 2, n: 3})", "(x {k: 1, j: 015})", "(x {k: 2, j: 015, n: 3})"),
        ("(_a {k: _})", "(_a)", "(x {j: 1, k: 2})", "(x {j: 1})"),
        ("(_a {k: _v})", "(_a {j: _v})", "(x {k: 0x0F})", "(x {j: 15})"),
        ("({k: {x: 1, y: _}})", "({k: {x: 2}})", "(a {k: {x: 1, y: 3}})", "(a {k: {x: 2}})"),
        ("({k: {x: 1}})", "({k: {x: 2}})", "(a {k: {x: 1, y: 3}})", "(a {k: {x: 2, y: 3}})"),
        ("(_a {_k: _v})", "(_a {_k: [_v, _a]})", "(a {k: 1})", '(a {k: [1, "a"]})'),
        ("(_a {k: __x})", "(_a {k: __y})", "(a {k: _x})", "(a {k: _y})"),
        # names and labels
        ("(a:_l)", "(b:_l:N)", "(a:A) // a", "(b:A:N) // a"),
        ("(_a:A)", "(_a:B)", "(a:A:C)", "(a:B:C)"),
        ("(_a {n: _n})", "(_n)", '(a:A {n: "b"})', "(b:A)"),
        # elements
        ("[_a | (_b:B)]", "[_a]", "[a | (b:B), // b\n  (c:C)] // a", "[a | (c:C)] // a"),
        ("[_a | (_b:B)]", "[_a | (_b:D), new]", "[a | (b:B), c]", "[a | (b:D), new, c]"),
        ("[_a | (:B)]", "[_a | (:B), new]", "[a | (b:B), (c:B)]", "[a | (b:B), new, (c:B)]"),
        ("[_a | (:B)]", "[_a | (:C)]", "[a | (x:B), (y:B)]", "[a | (x:C), (y:C)]"),
        ("[_a | b]", "[_a | c]", "[a | b, // b\n d]", "[a | c, // b\n d]"),
        ("(_a:A)", "[w:W | (_a:A)]", "(a:A {k: 1}) // a", "[w:W | (a:A {k: 1})] // a"),
        ("[w:W | _x]", "(_x)", "[w:W | [x:A | b]] // w", "[x:A | b] // w"),
        # paths
        ("(_x)-->(_y)", "(_x)-[:W]->(_y)", "(a)-->(b)-->(c)", "(a)-[:W]->(b)-[:W]->(c)"),
        ("(_x)-->(_y)", "(_y)-->(_x)", "(a)-->(b)-->(c)", "(a)<--(b)<--(c)"),
        ("(_x)-->(_y)", "(_x)-->(m)-->(_y)", "[t | (a)-->(b)]", "[t | (a)-->(m)-->(b)]"),
        ("(_x)-->(b)-->(_y)", "(_x)-->(_y)", "(a)-->(b)-->(c)-->(d)", "(a)-->(c)-->(d)"),
        ("(_x)-->(b)-->(_y)", "(_x)-->(_y)", "(a)-->(b)-->(c)", "(a)-->(c)"),
        ("[t | (a)-->(b)]", "[t]", "[t | c, (a)-->(b)]", "[t | c]"),
        ("(b)-->(_y)", "(n)-->(_y)", "(a)-->(b)-->(c)", "(a)-->(n)-->(c)"),
        ("(_x)<--(_y)", "(_x)<--(m)<--(_y)", "(a)-->(b)-->(c)", "(a)-->(m)-->(b)-->(m)-->(c)"),
    ],
)  # fmt: skip
def test_the_new_pattern_takes_the_place_of_the_old(
    pattern: str, new: str, text: str, expected: str
) -> None:
    assert rewritten(pattern, new, text) == expected


@pytest.mark.parametrize(
    ("pattern", "new", "text", "message"),
    [
        ("(_a)", "(_b)", "(x)", "the new pattern has _b, and the old one does not"),
        ("(_a {k: _})", "(_a {j: _})", "\n(x {k: 1})", "2:1: _ stands for nothing that is known"),
        ("(_a {k: _v})", "(_v {k: _v})", "(x {k: 1})", "1:1: _v is no name here, but 1"),
        ("[_a | (:_l)]", "(_l:_l)", "[a | (:B), (:C)]", "change its identity in two ways"),
        ("[_a | (:_l)]", "[w | _a, (:_l)]", "[a | (:B), (:C)]", "would be changed in two ways"),
        ("[t | (a)-->(b)]", "[t]", "[t | (a)-->(b)-->(c)]", "a part of a path cannot be moved"),
        ("[_a | _b]", "[_b | _b]", "[a | b]", "1:1: the new pattern puts an element into itself"),
        ("(_x)-->()-->(_y)", "(_x)-->(_y)", "(a)-->(b)-->(c)-->(d)", "change its node in two ways"),
        ("(_x)-->(_y)", "[p | _x, _y]", "(a)-->(b)-->(c)", "a part of a path cannot be moved"),
    ],
)  # fmt: skip
def test_what_cannot_be_made_is_refused(pattern: str, new: str, text: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        rewritten(pattern, new, text)


@given(st.data(), gram_texts())
def test_the_pattern_itself_changes_nothing(data: st.DataObject, text: str) -> None:
    trees = parse(text).patterns
    for tree in trees:
        pattern = data.draw(pattern_for(tree))
        assert rewrite(pattern, pattern, AsWritten(trees)) == trees


@given(st.data(), gram_texts())
def test_a_label_is_put_on_what_is_found_and_nothing_else_changes(
    data: st.DataObject, text: str
) -> None:
    document = parse(text)
    wanted = data.draw(st.sampled_from(["A", "B"]))
    old, new = Pattern(Subject("_", {wanted})), Pattern(Subject("_", {wanted, "NEW"}))

    trees = rewrite(old, new, AsWritten(document.patterns))

    without = rewrite(new, old, AsWritten(trees))
    assert without == document.patterns
    assert document.replace(trees).replace(without).text == text
