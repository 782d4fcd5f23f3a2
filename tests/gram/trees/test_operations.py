"""The laws of the operations on trees."""

import pytest
from attrs import evolve
from hypothesis import given

from gram import GramEncodeError, Pattern, Subject, operations, walk, walk_up
from gram.trees.operations import Tree, duplicate, extend
from tests.gram.strategies import patterns


def renamed(subject: Subject) -> Subject:
    return evolve(subject, identity=subject.identity + "x")


def labelled(subject: Subject) -> Subject:
    return evolve(subject, labels=subject.labels | {"New"})


@given(patterns())
def test_mapping_nothing_gives_the_same_object(tree: Pattern) -> None:
    assert operations.map(lambda subject: subject, tree) is tree


@given(patterns())
def test_mapping_twice_is_mapping_the_composition(tree: Pattern) -> None:
    twice = operations.map(labelled, operations.map(renamed, tree))

    assert operations.map(lambda subject: labelled(renamed(subject)), tree) == twice


@given(patterns())
def test_mapping_keeps_what_did_not_change(tree: Pattern) -> None:
    top = operations.map(
        lambda subject: renamed(subject) if subject is tree.value else subject, tree
    )

    for path, element in walk(tree):
        if path and not operations.any_value(lambda subject: subject is tree.value, element):
            found = top
            for index in path:
                found = found.elements[index]
            assert found is element


@given(patterns())
def test_both_walks_meet_every_pattern_once_at_its_path(tree: Pattern) -> None:
    down, up = list(walk(tree)), list(walk_up(tree))

    assert sorted(path for path, _ in down) == [path for path, _ in down]
    assert sorted(path for path, _ in up) == [path for path, _ in down]
    assert len(down) == operations.size(tree) == len(operations.values(tree))
    for path, here in up:
        found = tree
        for index in path:
            found = found.elements[index]
        assert found is here


@given(patterns())
def test_unfolding_what_a_tree_is_made_of_gives_the_tree(tree: Pattern) -> None:
    assert operations.unfold(lambda here: (here.value, here.elements), tree) == tree
    assert operations.para(lambda here, below: Pattern(here.value, below), tree) == tree


@given(patterns())
def test_a_tree_contains_and_finds_each_of_its_parts(tree: Pattern) -> None:
    for _, part in walk(tree):
        assert operations.contains(tree, part)
        assert operations.find_first(lambda each, part=part: each is part, tree) is part
    assert operations.filter(lambda _: True, tree)[0] is tree
    assert operations.find_first(lambda _: False, tree) is None


@given(patterns(), patterns(), patterns())
def test_combining_is_associative_with_an_associative_join(
    one: Pattern, two: Pattern, three: Pattern
) -> None:
    def join(left: Subject, right: Subject) -> Subject:
        return Subject(left.identity + right.identity, left.labels | right.labels)

    left_first = operations.combine(operations.combine(one, two, join), three, join)

    assert operations.combine(one, operations.combine(two, three, join), join) == left_first


def test_growth_without_an_end_is_stopped() -> None:
    with pytest.raises(GramEncodeError, match="deeper than 100"):
        operations.unfold(lambda n: (Subject(str(n)), [n + 1]), 0)


def test_an_atom_has_depth_zero_and_the_deepest_tree_is_measured() -> None:
    tree = operations.unfold(lambda n: (Subject(), [n + 1] if n < 99 else []), 0)

    assert operations.depth(Pattern(Subject("a"))) == 0
    assert operations.depth(tree) == 99
    assert operations.size(tree) == 100
    assert operations.all_values(lambda subject: not subject.identity, tree)


# --- at every place


def width(tree: Pattern) -> int:
    return len(tree.elements)


def total(tree: Tree[int]) -> int:
    return sum(tree.values())


@given(patterns())
def test_extending_computes_at_the_top_and_at_every_place(pattern: Pattern) -> None:
    widths = extend(width, pattern)

    assert widths.value == width(pattern)
    assert widths.values() == tuple(width(part) for _, part in walk(pattern))
    assert operations.pattern_of(extend(lambda here: here.value, pattern)) == pattern
    assert extend(lambda here: here.value, widths) == widths


@given(patterns())
def test_extending_twice_is_extending_by_the_composition(pattern: Pattern) -> None:
    twice = extend(total, extend(width, pattern))

    assert extend(lambda here: total(extend(width, here)), pattern) == twice
    assert extend(duplicate, pattern) == duplicate(duplicate(pattern))


@given(patterns())
def test_measures_at_every_place_are_those_of_the_pattern_there(pattern: Pattern) -> None:
    parts = [part for _, part in walk(pattern)]

    assert operations.depth_at(pattern).values() == tuple(map(operations.depth, parts))
    assert operations.size_at(pattern).values() == tuple(map(operations.size, parts))
    assert operations.indices_at(pattern).values() == tuple(path for path, _ in walk(pattern))
