"""Which elements are which; diffs: the laws that hold for all trees, and what is refused."""

import contextlib
import json
from collections.abc import Sequence

import attrs
import pytest
from hypothesis import given, strategies as st

import gram
from gram import MAX_LEVELS, GramError, Pattern, Subject, dumps, from_json, loads, loads_one, parse
from gram.comparing import (
    DiffError,
    Matching,
    apply,
    diff,
    from_pattern,
    invert,
    match,
    match_values,
    then,
    to_pattern,
)
from tests.by_day import given_few
from tests.gram.strategies import TreeEditor, gram_texts, patterns, tree_editors, values
from tests.gram.texts import ACCEPTED, table

Trees = tuple[Pattern, ...]
TABLES = table("diffs")
TREES = st.lists(patterns(), max_size=4).map(tuple)


@st.composite
def versions(draw: st.DrawFn) -> tuple[Trees, Trees, Trees]:
    """Three versions of a program: edits of one another, or programs of their own."""
    first: Trees = draw(gram_texts(comments=False).map(loads) | TREES)
    editor = draw(tree_editors())

    def later(trees: Trees) -> Trees:
        for _ in range(draw(st.integers(0, 4))):
            trees = editor.edit(trees)
        return trees

    second = draw(st.just(later(first)) | TREES)
    return first, second, draw(st.just(later(second)) | TREES | st.just(first))


@given_few(versions())
def test_a_diff_makes_the_new_of_the_old_its_inverse_the_old_and_is_kept_as_gram_and_json(
    trees: tuple[Trees, Trees, Trees],
) -> None:
    a, b, _ = trees
    found = diff(a, b)
    assert apply(found, a) == b
    assert apply(invert(found), b) == a
    assert invert(invert(found)) == found
    assert bool(found) == (a != b)
    assert not diff(a, a)
    written = to_pattern(found)
    assert from_pattern(loads_one(dumps(written))) == found
    assert from_pattern(from_json(json.loads(json.dumps(gram.to_json(written))))) == found


@given_few(versions(), TREES | gram_texts().map(loads))
def test_diffs_compose_in_any_order_and_refuse_or_change_another_program(
    trees: tuple[Trees, Trees, Trees], last: Trees
) -> None:
    a, b, c = trees
    one, two, three = diff(a, b), diff(b, c), diff(c, last)
    whole = then(one, two)
    assert apply(whole, a) == c
    assert apply(invert(whole), c) == a
    assert apply(then(one, diff(b, a)), a) == a
    assert apply(then(whole, three), a) == apply(then(one, then(two, three)), a) == last
    for found, other in ((one, c), (two, last)):
        with contextlib.suppress(DiffError):
            assert apply(invert(found), apply(found, other)) == other


@given(gram_texts(), tree_editors())
def test_applied_to_a_document_it_is_the_lossless_edit(text: str, editor: TreeEditor) -> None:
    document = parse(text)
    new = editor.edit(document.patterns)
    assert apply(diff(document, new), document).patterns == new


@pytest.mark.parametrize(("old", "new", "other", "message"), TABLES["conflicts"])
def test_what_does_not_fit_is_refused_with_its_place(
    old: str, new: str, other: str, message: str
) -> None:
    with pytest.raises(DiffError) as raised:
        apply(diff(loads(old), loads(new)), parse(other, "other.gram"))
    assert str(raised.value).startswith("other.gram:1:")
    assert message in str(raised.value)


def test_a_pattern_has_its_diff_and_what_came_from_a_text_still_does() -> None:
    document = parse("(a {k: 1}) // one\n(b)")
    found = diff(document, (attrs.evolve(document.patterns[0], value=Subject("c")),))
    assert apply(found, document).text == "(c) // one"
    assert apply(diff(Pattern(), Pattern(Subject("a"))), Pattern()) == Pattern(Subject("a"))
    other = diff(loads("(c)"), loads("(d {k: 1})"))
    with pytest.raises(DiffError, match=r"expected <Pattern \(c\)>, found"):
        apply(then(diff(loads("(a)"), loads("(a) (b)")), other), loads("(a)"))
    with pytest.raises(DiffError, match="makes 2 patterns of one"):
        apply(diff(Pattern(), loads("() (b)")), Pattern())


@pytest.mark.parametrize("text", TABLES["broken"])
def test_what_is_no_diff_is_refused(text: str) -> None:
    with pytest.raises(DiffError, match="not a diff"):
        from_pattern(loads_one(text))


@given(patterns())
def test_any_pattern_is_a_diff_or_is_refused_by_us(pattern: Pattern) -> None:
    with contextlib.suppress(GramError):
        apply(from_pattern(attrs.evolve(pattern, value=Subject("", {"Diff"}))), pattern)


def test_trees_as_deep_as_they_may_be_have_a_diff() -> None:
    old, new = (Pattern(Subject("a", properties={"k": n})) for n in (1, 2))
    for _ in range(2, MAX_LEVELS + 1):
        old, new = Pattern(elements=[old]), Pattern(elements=[new])
    found = from_pattern(to_pattern(diff(old, new)))
    assert apply(found, old) == new
    assert apply(then(found, invert(found)), old) == old
    with pytest.raises(GramError, match="nests deeper than 100 levels"):
        to_pattern(diff(old, ()))


def test_the_diff_of_a_long_program_is_short() -> None:
    many = [Pattern(Subject("same", {"T"}, {"n": n})) for n in range(200)]
    new = [*many[:50], Pattern(Subject("same", {"T"}, {"n": -1})), *many[51:], Pattern()]
    whole, *changes = to_pattern(diff(many, new)).elements
    assert whole.value.labels == {"List"}
    assert dumps(changes) == (
        '(:Changed {at: [50, "properties", "n"], new: -1, old: 50})\n[:Added {at: [200]} | ()]'
    )


@given(st.sampled_from(sorted(ACCEPTED)), tree_editors(), st.integers(1, 9))
def test_files_that_people_wrote_have_diffs_to_their_later_versions(
    name: str, editor: TreeEditor, edits: int
) -> None:
    document = parse(ACCEPTED[name])
    new = document.patterns
    for _ in range(edits):
        new = editor.edit(new)
    found = from_pattern(to_pattern(diff(document, new)))
    changed = apply(found, document)
    assert changed.patterns == new
    assert apply(invert(found), changed).text == document.text


# --- which elements of an old list are which of a new one

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


@pytest.mark.parametrize(("old", "new", "pairs"), TABLES["matched"])
def test_elements_are_matched_by_name_then_by_what_they_are(
    old: str, new: str, pairs: list[list[int]]
) -> None:
    assert [[*pair] for pair in match(loads(old), loads(new)).pairs] == pairs


def test_many_of_one_name_are_matched_in_order() -> None:
    old = [Pattern(Subject("a", properties={"n": n})) for n in range(1000)]
    found = match(old, [Pattern(Subject("a", properties={"n": -1})), *old])
    assert found.pairs == tuple((n, n + 1) for n in range(1000))
    assert found.added == (0,)


@given(st.lists(values(), max_size=6), st.lists(values(), max_size=6))
def test_each_value_has_one_partner_or_none(old: list[object], new: list[object]) -> None:
    assert_one_partner_or_none(match_values(old, new), old, new)  # type: ignore[arg-type]  # values
