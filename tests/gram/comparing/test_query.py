"""Where a pattern with holes is found in trees, and another pattern in its place."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given, strategies as st

from gram import Pattern, Subject, Symbol, dumps, loads, loads_one, parse, walk
from gram.comparing import AsWritten, Bound, QueryError, find_matches, rewrite
from tests.by_day import given_few
from tests.gram.strategies import forests, gram_texts
from tests.gram.texts import table


def found(pattern: str, text: str) -> list[str]:
    """The places where a pattern is found, each with what its holes stand for."""

    def written(bound: Bound) -> str:
        return dumps(bound) if isinstance(bound, Pattern) else str(bound)

    return [
        " ".join(
            [
                ".".join(map(str, match.path)),
                *(f"{name}={written(bound)}" for name, bound in match.bindings.items()),
            ]
        )
        for match in find_matches(loads_one(pattern), AsWritten(loads(text)))
    ]


@pytest.mark.parametrize(("pattern", "text", "expected"), table("searches")["found"])
def test_a_pattern_is_found(pattern: str, text: str, expected: list[str]) -> None:
    assert found(pattern, text) == expected


def test_a_pattern_that_was_made_is_a_path_where_it_would_be_written_as_one() -> None:
    trees = AsWritten(loads("(a)-[:W]->(b)-->(c) [:low | a, b]"))
    for label, paths in (("W", [(0, 0)]), ("low", [(1,)])):
        made = Pattern(Subject("", {label}), [Pattern(Subject("_x")), Pattern(Subject("b"))])
        assert [each.path for each in find_matches(made, trees)] == paths


def test_elements_that_cannot_all_be_found_are_given_up_at_once() -> None:
    wanted = f"[:A | {', '.join(['(:B)'] * 40)}]"
    tree = f"[:A | {', '.join(['(:B)'] * 39)}]"
    assert found(wanted, tree) == []
    assert found(tree, wanted) == ["0"]


@pytest.mark.parametrize("limit", ["MOST_MATCHES", "MOST_STEPS"])
def test_what_is_found_in_endlessly_many_ways_is_refused_with_its_place(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"gram.comparing.query.{limit}", 50)
    wanted = f"[:A | {', '.join(f'({{k: _h{i}, j: _h{(i + 1) % 12}}})' for i in range(12))}]"
    tree = f"[:A | {', '.join(f'({{k: {i % 7}, j: {i % 5}}})' for i in range(40))}]"
    with pytest.raises(QueryError, match="1:1: the pattern can be found here in too many ways"):
        found(wanted, tree)


@st.composite
def pattern_for(draw: st.DrawFn, tree: Pattern) -> Pattern:
    """A pattern that is found in a tree: less of it, in another order, with holes."""
    subject = tree.value
    kept = draw(st.sets(st.sampled_from(sorted(subject.labels)))) if subject.labels else set()
    properties = {}
    for key, value in subject.properties.items():
        if draw(st.booleans()):
            plain = isinstance(value, int | float)
            properties[_escaped(key)] = value if plain and draw(st.booleans()) else Symbol("_")
    identity = draw(st.sampled_from(["_", "", _escaped(subject.identity)]))
    elements = [draw(pattern_for(each)) for each in tree.elements if draw(st.booleans())]
    if len(elements) > 1:
        elements = draw(st.permutations(elements))
    new = Subject(identity, map(_escaped, kept), properties)
    return attrs.evolve(Pattern(new, elements), came_from=_BRACKET)


_BRACKET = loads_one("[ | a, b]").came_from
"""A pattern in brackets is found in any order."""


def _escaped(name: str) -> str:
    return f"_{name}" if name.startswith("_") else name


@given_few(st.data(), forests())
def test_a_tree_is_found_by_less_of_it_in_another_order_and_by_the_hole_that_is_anything(
    data: st.DataObject, trees: tuple[Pattern, ...]
) -> None:
    for path, tree in data.draw(st.permutations([*walk(trees)]))[:2]:
        wanted = data.draw(pattern_for(tree))
        if not _has_paths(tree):
            assert path in {each.path for each in find_matches(wanted, AsWritten(trees))}
    anything = find_matches(Pattern(Subject("_x")), AsWritten(trees))
    assert [(each.path, each.bindings["_x"]) for each in anything] == [*walk(trees)]


def _has_paths(tree: Pattern) -> bool:
    return any(
        len(each.elements) == 2 or "Gram.Walk" in each.value.labels for _, each in walk(tree)
    )


# --- another pattern in the place of one that is found


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


@given_few(st.data(), gram_texts())
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
