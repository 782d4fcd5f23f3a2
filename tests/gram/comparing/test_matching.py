"""Which elements of an old list are which of a new one."""

from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from gram import Pattern, Subject, loads
from gram.comparing import Matching, match, match_values
from tests.gram.strategies import gram_texts, tree_editors, values

Trees = tuple[Pattern, ...]
FEW = gram_texts(comments=False).map(loads)


def assert_one_partner_or_none(
    found: Matching, old: Sequence[object], new: Sequence[object]
) -> None:
    assert sorted([*found.removed, *(one for one, _ in found.pairs)]) == [*range(len(old))]
    assert sorted([*found.added, *(other for _, other in found.pairs)]) == [*range(len(new))]


@given(FEW, FEW)
def test_each_element_has_one_partner_or_none(old: Trees, new: Trees) -> None:
    found = match(old, new)
    assert_one_partner_or_none(found, old, new)
    staying = [one for one, other in found.pairs if (one, other) not in found.moved]
    assert staying == sorted(staying)


@given(FEW, st.randoms())
def test_what_only_moved_has_its_partner(old: Trees, random: object) -> None:
    new = sorted(old, key=lambda _: random.random())  # type: ignore[attr-defined]  # a Random
    found = match(old, new)
    assert all(old[one] == new[other] for one, other in found.pairs)
    assert not found.removed
    assert not found.added


@given(FEW, tree_editors())
def test_a_name_that_is_still_there_is_not_taken_away(old: Trees, editor: object) -> None:
    new = editor.edit(old)  # type: ignore[attr-defined]  # a TreeEditor
    found = match(old, new)
    gone = {old[at].value.identity for at in found.removed} - {""}
    come = {new[at].value.identity for at in found.added}
    assert not gone & come


@pytest.mark.parametrize(
    ("old", "new", "pairs"),
    [
        ("(a) (b)", "(b {k: 1}) (a {k: 1})", [(1, 0), (0, 1)]),
        ("(a:A) (a:B)", "(a:B {k: 1}) (a:A {k: 1})", [(1, 0), (0, 1)]),
        # renamed: the same content, or nearly
        ('[x:T {d: "one two"} | (p)]', '[y:T {d: "one two"} | (p)]', [(0, 0)]),
        ('[x:T {d: "one two six"} | (p)]', '[y:T {d: "one two ten"} | (p)]', [(0, 0)]),
        ('[x:T {d: "one two"} | (p)]', '[y:T {d: "three four"} | (p)]', []),
        ("(p:Text)", "(q:Text)", [(0, 0)]),
        ("(p:Text) (q:Text)", "(r:Text) (s:Text)", []),
        ("(p)", "(q)", []),
        # without a name
        ("{version: 1} (a)", "{version: 2} (b)", [(0, 0)]),
        ("(x)-->(y)", "(y)-->(z)", [(0, 0)]),
        ("(x)-->(y) (y)-->(z)", "(n) (x)-->(y) (u)-->(w)", [(0, 1), (1, 2)]),
    ],
)
def test_elements_are_matched_by_name_then_by_what_they_are(
    old: str, new: str, pairs: list[tuple[int, int]]
) -> None:
    assert list(match(loads(old), loads(new)).pairs) == pairs


def test_many_of_one_name_are_matched_in_order() -> None:
    old = [Pattern(Subject("a", properties={"n": n})) for n in range(1000)]
    found = match(old, [Pattern(Subject("a", properties={"n": -1})), *old])
    assert found.pairs == tuple((n, n + 1) for n in range(1000))
    assert found.added == (0,)


@given(st.lists(values(), max_size=6), st.lists(values(), max_size=6))
def test_each_value_has_one_partner_or_none(old: list[object], new: list[object]) -> None:
    assert_one_partner_or_none(match_values(old, new), old, new)  # type: ignore[arg-type]  # values
