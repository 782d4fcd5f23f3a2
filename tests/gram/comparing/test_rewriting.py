"""Another pattern in the place of one that is found."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from gram import Pattern, Subject, loads, loads_one, parse
from gram.comparing import AsWritten, QueryError, rewrite
from tests.gram.comparing.test_query import pattern_for
from tests.gram.strategies import gram_texts
from tests.gram.texts import table


def rewritten(pattern: str, new: str, text: str) -> str:
    document = parse(text)
    trees = rewrite(loads_one(pattern), loads_one(new), AsWritten(document.patterns))
    edited = document.replace(trees)
    assert not edited.rescued
    assert loads(edited.text) == trees
    return edited.text


@pytest.mark.parametrize(("pattern", "new", "text", "expected"), table("searches")["rewritten"])
def test_the_new_pattern_takes_the_place_of_the_old(
    pattern: str, new: str, text: str, expected: str
) -> None:
    assert rewritten(pattern, new, text) == expected


@pytest.mark.parametrize(("pattern", "new", "text", "message"), table("searches")["refused"])
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
