"""The laws of the operations on trees."""

import pytest
from attrs import evolve
from hypothesis import given

from gram import GramEncodeError, Pattern, Subject, operations, pattern_at, walk, walk_up
from gram.trees.operations import Tree, duplicate, extend
from tests.by_day import given_few
from tests.gram.strategies import patterns


def renamed(subject: Subject) -> Subject:
    return evolve(subject, identity=subject.identity + "x")


def labelled(subject: Subject) -> Subject:
    return evolve(subject, labels=subject.labels | {"New"})


@given_few(patterns())
def test_mapping_keeps_what_did_not_change_and_twice_is_the_composition(tree: Pattern) -> None:
    twice = operations.map(labelled, operations.map(renamed, tree))
    top = operations.map(
        lambda subject: renamed(subject) if subject is tree.value else subject, tree
    )
    assert operations.map(lambda subject: subject, tree) is tree
    assert operations.map(lambda subject: labelled(renamed(subject)), tree) == twice
    for path, element in walk(tree):
        if path and not operations.any_value(lambda subject: subject is tree.value, element):
            assert pattern_at([top], (0, *path)) is element


@given(patterns())
def test_both_walks_meet_every_pattern_once_at_its_path(tree: Pattern) -> None:
    down, up = list(walk(tree)), list(walk_up(tree))

    assert sorted(path for path, _ in down) == [path for path, _ in down]
    assert sorted(path for path, _ in up) == [path for path, _ in down]
    assert len(down) == operations.size(tree) == len(operations.values(tree))
    for path, here in up:
        assert pattern_at([tree], (0, *path)) is here
        assert operations.contains(tree, here)
        assert operations.find_first(lambda each, here=here: each is here, tree) is here
    assert operations.filter(lambda _: True, tree)[0] is tree
    assert operations.find_first(lambda _: False, tree) is None
    assert operations.unfold(lambda here: (here.value, here.elements), tree) == tree
    assert operations.para(lambda here, below: Pattern(here.value, below), tree) == tree


@given_few(patterns(3), patterns(3), patterns(3))
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
def test_extending_computes_at_every_place_and_twice_is_the_composition(pattern: Pattern) -> None:
    widths = extend(width, pattern)
    parts = [part for _, part in walk(pattern)]

    assert widths.value == width(pattern)
    assert widths.values() == tuple(map(width, parts))
    assert operations.pattern_of(extend(lambda here: here.value, pattern)) == pattern
    assert extend(lambda here: here.value, widths) == widths
    assert extend(lambda here: total(extend(width, here)), pattern) == extend(total, widths)
    assert extend(duplicate, pattern) == duplicate(duplicate(pattern))
    assert operations.depth_at(pattern).values() == tuple(map(operations.depth, parts))
    assert operations.size_at(pattern).values() == tuple(map(operations.size, parts))
    assert operations.indices_at(pattern).values() == tuple(path for path, _ in walk(pattern))
