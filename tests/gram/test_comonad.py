"""The laws of a comonad, over the trees of patterns."""

from hypothesis import given

from gram import Pattern, Subject, comonad, operations
from gram.comonad import Tree, duplicate, extend, extract, pattern_of, tree_of
from gram.walk import walk
from tests.strategies import patterns


def width(tree: Tree[Subject]) -> int:
    return len(tree.elements)


def total(tree: Tree[int]) -> int:
    return sum(comonad.values(tree))


@given(patterns())
def test_extracting_undoes_extending(pattern: Pattern) -> None:
    tree = tree_of(pattern)

    assert extract(extend(width, tree)) == width(tree)
    assert extend(extract, tree) == tree
    assert extract(duplicate(tree)) == tree
    assert comonad.map(extract, duplicate(tree)) == tree


@given(patterns())
def test_extending_twice_is_extending_by_the_composition(pattern: Pattern) -> None:
    tree = tree_of(pattern)

    assert extend(total, extend(width, tree)) == extend(lambda t: total(extend(width, t)), tree)
    assert duplicate(duplicate(tree)) == comonad.map(duplicate, duplicate(tree))


@given(patterns())
def test_a_pattern_and_its_tree_are_the_same(pattern: Pattern) -> None:
    assert pattern_of(tree_of(pattern)) == pattern
    assert tuple(comonad.values(tree_of(pattern))) == operations.values(pattern)


@given(patterns())
def test_measures_at_every_place_are_those_of_the_pattern_there(pattern: Pattern) -> None:
    parts = [part for _, part in walk(pattern)]

    assert list(comonad.values(comonad.depth_at(pattern))) == list(map(operations.depth, parts))
    assert list(comonad.values(comonad.size_at(pattern))) == list(map(operations.size, parts))
    assert list(comonad.values(comonad.indices_at(pattern))) == [path for path, _ in walk(pattern)]
