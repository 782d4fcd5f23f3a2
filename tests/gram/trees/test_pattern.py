"""Patterns, subjects and values: immutable, exactly equal, safe to hash, pickle and copy."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Callable
from enum import IntEnum, StrEnum
from typing import Any

import attrs
import pytest
from hypothesis import given
from lenses import lens
from pyrsistent import PMap, PVector, pmap, pvector

import gram
from gram import MAX_LEVELS, Measurement, Pattern, Range, Subject, Symbol, dumps, loads_one
from gram.trees.values import freeze
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
    (lambda: Subject("\ud800"), "identity: lone surrogate at index 0"),
    (lambda: Subject("a", "Person"), "labels: expected a set of str, found 'Person'"),
    (lambda: Subject("a", {1}), "labels: expected str, found int"),
    (lambda: Subject("a", {"\udfff"}), "labels: lone surrogate at index 0"),
    (lambda: Subject("a", (), [("k", 1)]), "properties: expected a mapping, found [('k', 1)]"),
    (lambda: Subject("a", (), {"\ud800": 2}), "properties.\ud800: lone surrogate at index 0"),
    (lambda: Pattern("a"), "value: expected Subject, found str"),
    (lambda: Pattern(Subject(), 1), "elements: expected patterns, found int"),
    (lambda: Pattern(Subject(), [Pattern(), "b"]), "elements[1]: expected Pattern, found str"),
    (lambda: Symbol("two words"), "'two words' is not a symbol"),
    (lambda: Symbol("true"), "'true' is not a symbol"),
    (lambda: Symbol("x\n"), r"'x\n' is not a symbol"),
    (lambda: Symbol(1), "1 is not a symbol"),
    (lambda: gram.TaggedString("false", ""), "'false' is not a tag"),
    (lambda: gram.TaggedString("a", 1), "content: expected str, found int"),
    (lambda: gram.TaggedString("a", "\udfff"), "content: lone surrogate at index 0"),
    (lambda: Measurement(1, "µ"), "unit: a unit is made of the letters A to Z, found 'µ'"),
    (lambda: Measurement(True, "kg"), "value: expected a number, found bool"),
    (lambda: Measurement(float("nan"), "kg"), "value: nan has no notation"),
    (lambda: Range(), "a range needs at least one end"),
    (lambda: Range(1, True), "upper: expected a number, found bool"),
    (lambda: Range(1, float("inf")), "upper: inf has no notation"),
]


@pytest.mark.parametrize(("build", "message"), MISBUILT)
def test_an_argument_that_is_not_a_tree_is_refused_with_its_path(
    build: Callable[[], object], message: str
) -> None:
    with pytest.raises(gram.GramEncodeError) as caught:
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
    command, seed = [sys.executable, "-c", program], {"PYTHONHASHSEED": "5"}
    twin = pickle.loads(subprocess.run(command, capture_output=True, check=True, env=seed).stdout)
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
    assert dumps(lens.elements[1].value.labels.set({"C"})(tree)) == "(b)-[a {k: 1}]->(c:C)"
    with pytest.raises(gram.GramEncodeError, match=r"properties\.k: None has no notation"):
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
    assert loads_one(dumps(tree)) == gram.from_json(gram.to_json(tree)) == tree
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
    with pytest.raises(gram.GramEncodeError, match="nests deeper than 100 levels"):
        build()


def test_levels_count_the_deepest_place() -> None:
    texts = "(a {k: 1})", "(a {k: []})", "[a {k: [[1]]} | b, [c | d]]", "(a)-->(b)-->(c)"
    assert [loads_one(text).levels for text in texts] == [1, 2, 3, 3]


# --- values


Colour = StrEnum("Colour", ["RED"])
Level = IntEnum("Level", ["LOW", "HIGH"])


def subject(value: Any) -> Subject:
    return Subject("a", (), {"k": value})


DIFFERENT = [
    (1, 1.0),
    (1, True),
    (0, False),
    (0.0, -0.0),
    (1, "1"),
    ("a", Symbol("a")),
    ("1", gram.TaggedString("d", "1")),
    (Measurement(1, "kg"), Measurement(1, "g")),
    (Measurement(1, "kg"), 1),
    (Range(1, 2), Range(1, 2.0)),
    (Range(1), Range(None, 1)),
    (Range(Measurement(1, "m"), 2), Range(1, 2)),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_values_of_different_kinds_differ_at_every_depth(one: Any, other: Any) -> None:
    for around in (lambda v: v, lambda v: [v], lambda v: {"x": [{"y": v}]}):
        left, right = subject(around(one)), subject(around(other))
        assert left != right
        assert Pattern(left) != Pattern(right)
        assert Pattern(Subject("p"), [Pattern(left)]) != Pattern(Subject("p"), [Pattern(right)])
        assert len({left, right}) == 2


def test_the_order_of_keys_does_not_matter_and_that_of_items_does() -> None:
    assert subject({"a": 1, "b": 2}) == subject({"b": 2, "a": 1})
    assert hash(subject({"a": 1, "b": 2})) == hash(subject({"b": 2, "a": 1}))
    assert subject([1, 2]) != subject([2, 1])


def test_a_whole_measurement_is_an_integer() -> None:
    assert Measurement(2.0, "kg") == Measurement(2, "kg")
    assert type(Measurement(2.0, "kg").value) is int
    assert type(Measurement(2.5, "kg").value) is float


# --- freezing


def test_lists_and_mappings_are_frozen_and_frozen_ones_kept() -> None:
    kept = pmap({"x": pvector([1])})

    assert freeze([1, (2,)]) == pvector([1, pvector([2])])
    assert isinstance(freeze(OrderedDict(a={"b": 1})), PMap)
    assert freeze(kept) is kept
    assert isinstance(freeze(pmap({"k": [1]}))["k"], PVector)  # type: ignore[index,call-overload]  # a map comes back as a map
    assert isinstance(freeze(pvector([{"a": 1}]))[0], PMap)  # type: ignore[index]  # an array comes back as an array
    items = [1]
    tree = subject({"list": items})
    items.append(2)
    assert tree == subject({"list": [1]})


Small, Rough = type("Small", (int,), {}), type("Rough", (float,), {})
SUBCLASSES = [(Colour.RED, "red"), (Level.HIGH, 2), (Small(4), 4), (Rough(0.5), 0.5)]


@pytest.mark.parametrize(("given", "plain"), SUBCLASSES)
def test_subclasses_of_the_plain_kinds_become_plain(given: Any, plain: Any) -> None:
    frozen = subject(given).properties["k"]
    assert type(frozen) is type(plain)
    assert frozen == plain
    assert loads_one(dumps(Pattern(subject(given)))) == Pattern(subject(plain))


# --- what has no notation


CYCLIC: list[Any] = []
CYCLIC.append(CYCLIC)
CYCLIC_MAP: dict[str, Any] = {}
CYCLIC_MAP["k"] = [CYCLIC_MAP]

WITHOUT_NOTATION = [
    (float("nan"), "properties.k: nan has no notation"),
    (float("-inf"), "properties.k: -inf has no notation"),
    (None, "properties.k: None has no notation"),
    (b"bytes", "properties.k: bytes has no notation"),
    (object(), "properties.k: object has no notation"),
    (Pattern(), "properties.k: Pattern has no notation"),
    pytest.param(10**4300, "properties.k: an integer has at most 4300 digits", id="digits"),
    ("a\ud800", "properties.k: lone surrogate at index 1"),
    ([1, [None]], "properties.k[1][0]: None has no notation"),
    ({"m": {"n": [float("inf")]}}, "properties.k.m.n[0]: inf has no notation"),
    ({"m": {None: 2}}, "properties.k.m: a key is a str, found None None"),
]


@pytest.mark.parametrize(("value", "message"), WITHOUT_NOTATION)
def test_what_has_no_notation_is_refused_with_its_path(value: Any, message: str) -> None:
    with pytest.raises(gram.GramEncodeError) as caught:
        subject(value)
    assert message == str(caught.value)


@pytest.mark.parametrize("value", [CYCLIC, CYCLIC_MAP])
def test_a_value_that_holds_itself_is_refused(value: Any) -> None:
    with pytest.raises(gram.GramEncodeError, match="nests deeper than 100 levels"):
        subject(value)
