"""Patterns and subjects: immutable, exactly equal, safe to hash, pickle and copy at any depth."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import attrs
import pytest
from hypothesis import given
from lenses import lens
from pyrsistent import pmap, pvector

from gram import MAX_LEVELS, GramEncodeError, Pattern, Subject, dumps, from_json, loads_one, to_json
from tests.gram.strategies import patterns


def nested_list(levels: int) -> Any:
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


def chain(levels: int) -> Pattern:
    tree = Pattern(Subject("leaf"))
    for _ in range(levels - 1):
        tree = Pattern(Subject("n"), [tree])
    return tree


# --- building


def test_parts_are_frozen_and_frozen_ones_kept() -> None:
    labels, properties, elements = frozenset({"A"}), pmap({"k": 1}), (Pattern(),)
    subject = Subject("a", labels, properties)
    pattern = Pattern(subject, elements)
    assert subject.properties is properties
    assert pattern.elements is elements
    assert Subject("a", ["A", "A"], {"k": [1]}) == Subject("a", {"A"}, pmap({"k": pvector([1])}))
    assert type(Subject("a", ["A"]).labels) is frozenset
    assert type(Pattern(subject, [Pattern()]).elements) is tuple
    assert Pattern(subject, iter([Pattern()])).elements == (Pattern(),)


def test_nothing_can_be_assigned() -> None:
    pattern = loads_one("(a)")
    for change in (
        lambda: setattr(pattern, "value", Subject()),
        lambda: setattr(pattern.value, "identity", "b"),
        lambda: delattr(pattern, "elements"),
        lambda: setattr(pattern, "other", 1),
    ):
        with pytest.raises(AttributeError):
            change()


MISBUILT: list[tuple[Callable[[], object], str]] = [
    (lambda: Subject(1), "identity: expected str, found int"),
    (lambda: Subject(None), "identity: expected str, found NoneType"),
    (lambda: Subject("\ud800"), "identity: lone surrogate at index 0"),
    (lambda: Subject("a", "Person"), "labels: expected a set of str, found 'Person'"),
    (lambda: Subject("a", 1), "labels: expected a set of str, found 1"),
    (lambda: Subject("a", {1}), "labels: expected str, found int"),
    (lambda: Subject("a", {"\udfff"}), "labels: lone surrogate at index 0"),
    (lambda: Subject("a", (), [("k", 1)]), "properties: expected a mapping, found [('k', 1)]"),
    (lambda: Subject("a", (), {1: 2}), "properties: a key is a str, found int 1"),
    (lambda: Subject("a", (), {"\ud800": 2}), "properties.\ud800: lone surrogate at index 0"),
    (lambda: Subject("a", (), {"k": {"l": [None]}}), "properties.k.l[0]: None has no notation"),
    (lambda: Pattern("a"), "value: expected Subject, found str"),
    (lambda: Pattern(Subject(), 1), "elements: expected patterns, found int"),
    (lambda: Pattern(Subject(), Pattern()), "elements: expected patterns, found Pattern"),
    (lambda: Pattern(Subject(), [Subject()]), "elements[0]: expected Pattern, found Subject"),
    (lambda: Pattern(Subject(), [Pattern(), "b"]), "elements[1]: expected Pattern, found str"),
]


@pytest.mark.parametrize(("build", "message"), MISBUILT)
def test_an_argument_that_is_not_a_tree_is_refused_with_its_path(
    build: Callable[[], object], message: str
) -> None:
    with pytest.raises(GramEncodeError) as caught:
        build()
    assert str(caught.value).startswith(message)
    assert isinstance(caught.value, TypeError)


# --- equality, hashing, copies


def test_a_pattern_is_equal_to_nothing_else_and_the_order_of_elements_counts() -> None:
    assert Pattern() != Subject()
    assert Pattern() != ()
    assert Subject() != ("", frozenset(), pmap())
    assert loads_one("[a | b, c]") != loads_one("[a | c, b]")


@given(patterns())
def test_copies_and_pickles_are_equal_and_hash_alike(tree: Pattern) -> None:
    hash(tree)
    for twin in (pickle.loads(pickle.dumps(tree)), copy.copy(tree), copy.deepcopy(tree)):
        assert tree == twin
        assert hash(tree) == hash(twin)
        assert tree.levels == twin.levels
        assert dumps(tree) == dumps(twin)


def test_a_pickle_made_in_another_process_hashes_like_a_tree_of_this_one() -> None:
    program = (
        "import gram, pickle, sys\n"
        "tree = gram.loads_one('[a:A {k: [x, 1..2]} | (b)]'); hash(tree)\n"
        "sys.stdout.buffer.write(pickle.dumps(tree))"
    )
    output = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        check=True,
        env={"PYTHONHASHSEED": "5"},
    ).stdout

    twin = pickle.loads(output)

    assert twin == loads_one("[a:A {k: [x, 1..2]} | (b)]")
    assert hash(twin) == hash(loads_one("[a:A {k: [x, 1..2]} | (b)]"))


# --- changing


def test_evolve_shares_what_did_not_change() -> None:
    tree = loads_one("[a {k: 1} | (b), (c)]")
    changed = attrs.evolve(tree, value=attrs.evolve(tree.value, identity="z"))
    assert dumps(changed) == "(b)-[z {k: 1}]->(c)"
    assert changed.elements is tree.elements
    assert changed.value.properties is tree.value.properties
    assert tree.value.identity == "a"


def test_attribute_lenses_work() -> None:
    tree = loads_one("[a {k: 1} | (b), (c)]")
    assert lens.value.identity.get()(tree) == "a"
    assert lens.value.identity.set("z")(tree).value.identity == "z"
    assert lens.value.properties["k"].modify(lambda n: n + 1)(tree).value.properties["k"] == 2
    assert dumps(lens.elements[1].value.labels.set({"C"})(tree)) == "(b)-[a {k: 1}]->(c:C)"
    assert lens.elements.Each().value.identity.collect()(tree) == ["b", "c"]
    with pytest.raises(GramEncodeError, match=r"properties\.k: None has no notation"):
        lens.value.properties.set({"k": None})(Pattern())


# --- the limit on levels


@pytest.mark.parametrize(
    "make", [lambda: chain(MAX_LEVELS), lambda: Pattern(Subject("a", (), {"k": nested_list(99)}))]
)
def test_a_tree_of_a_hundred_levels_can_be_used_in_every_way(make: Callable[[], Pattern]) -> None:
    tree = attrs.evolve(make())
    assert tree.levels == MAX_LEVELS
    assert tree == make()
    assert hash(tree) == hash(make())
    assert repr(tree)
    assert copy.deepcopy(tree) == pickle.loads(pickle.dumps(tree)) == tree
    assert loads_one(dumps(tree)) == from_json(to_json(tree)) == tree
    assert len({tree, chain(MAX_LEVELS - 1)}) == 2


TOO_DEEP: list[Callable[[], object]] = [
    lambda: Pattern(Subject(), [chain(MAX_LEVELS)]),
    lambda: Pattern(Subject("a", (), {"k": nested_list(100)})),
    lambda: Subject("a", (), {"k": nested_list(101)}),
    lambda: Pattern(Subject(), [Pattern(Subject("a", (), {"k": nested_list(99)}))]),
    lambda: attrs.evolve(Pattern(), elements=[chain(MAX_LEVELS)]),
]


@pytest.mark.parametrize("build", TOO_DEEP)
def test_a_deeper_tree_cannot_be_built(build: Callable[[], object]) -> None:
    with pytest.raises(GramEncodeError, match="nests deeper than 100 levels"):
        build()


def test_levels_count_the_deepest_place() -> None:
    assert loads_one("(a)").levels == 1
    assert loads_one("(a {k: 1})").levels == 1
    assert loads_one("(a {k: []})").levels == 2
    assert loads_one("(a {k: [[1], {}], l: 1})").levels == 3
    assert loads_one("[a {k: [[1]]} | b, [c | d]]").levels == 3
    assert loads_one("(a)-->(b)-->(c)").levels == 3
