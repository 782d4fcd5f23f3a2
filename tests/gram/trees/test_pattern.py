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

from gram import (
    MAX_LEVELS,
    GramEncodeError,
    Measurement,
    Pattern,
    Range,
    Subject,
    Symbol,
    TaggedString,
    dumps,
    from_json,
    loads_one,
    to_json,
)
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
    (lambda: Symbol("two words"), "'two words' is not a symbol"),
    (lambda: Symbol("true"), "'true' is not a symbol"),
    (lambda: Symbol("x\n"), r"'x\n' is not a symbol"),
    (lambda: Symbol("é"), "'é' is not a symbol"),
    (lambda: Symbol(1), "1 is not a symbol"),
    (lambda: TaggedString("a b", ""), "'a b' is not a tag"),
    (lambda: TaggedString("false", ""), "'false' is not a tag"),
    (lambda: TaggedString("a", 1), "content: expected str, found int"),
    (lambda: TaggedString("a", "\udfff"), "content: lone surrogate at index 0"),
    (lambda: Measurement(1, "k g"), "unit: a unit is made of the letters A to Z, found 'k g'"),
    (lambda: Measurement(1, ""), "unit: a unit is made of the letters A to Z, found ''"),
    (lambda: Measurement(1, "µ"), "unit: a unit is made of the letters A to Z, found 'µ'"),
    (lambda: Measurement(True, "kg"), "value: expected a number, found bool"),
    (lambda: Measurement("1", "kg"), "value: expected a number, found str"),
    (lambda: Measurement(float("nan"), "kg"), "value: nan has no notation"),
    (lambda: Measurement(float("inf"), "kg"), "value: inf has no notation"),
    (lambda: Range(), "a range needs at least one end"),
    (lambda: Range("a"), "lower: expected a number, found str"),
    (lambda: Range(1, True), "upper: expected a number, found bool"),
    (lambda: Range(1, float("inf")), "upper: inf has no notation"),
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


# --- values


class Colour(StrEnum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


class Small(int):
    pass


class Rough(float):
    pass


def subject(value: Any) -> Subject:
    return Subject("a", (), {"k": value})


# --- equality


DIFFERENT = [
    (1, 1.0),
    (1, True),
    (0, False),
    (0.0, -0.0),
    (1, "1"),
    ("a", Symbol("a")),
    ("1", TaggedString("d", "1")),
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


def test_a_symbol_is_not_a_string_and_prints_its_word() -> None:
    assert not isinstance(Symbol("a"), str)
    assert str(Symbol("a.b")) == "a.b"


def test_a_whole_measurement_is_an_integer() -> None:
    assert Measurement(2.0, "kg") == Measurement(2, "kg")
    assert type(Measurement(2.0, "kg").value) is int
    assert type(Measurement(2.5, "kg").value) is float


# --- freezing


def test_lists_and_mappings_are_frozen_and_frozen_ones_kept() -> None:
    kept = pmap({"x": pvector([1])})

    assert isinstance(freeze([1, (2,)]), PVector)
    assert freeze([1, (2,)]) == pvector([1, pvector([2])])
    assert isinstance(freeze(OrderedDict(a={"b": 1})), PMap)
    assert freeze(kept) is kept
    assert Subject("a", (), kept).properties is kept
    assert isinstance(freeze(pmap({"k": [1]}))["k"], PVector)  # type: ignore[index,call-overload]  # a map comes back as a map
    assert isinstance(freeze(pvector([{"a": 1}]))[0], PMap)  # type: ignore[index]  # an array comes back as an array
    items = [1]
    tree = subject({"list": items})
    items.append(2)
    assert tree == subject({"list": [1]})


@pytest.mark.parametrize(
    ("given", "plain"), [(Colour.RED, "red"), (Level.HIGH, 3), (Small(4), 4), (Rough(0.5), 0.5)]
)
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
    ({1}, "properties.k: set has no notation"),
    (1j, "properties.k: complex has no notation"),
    (object(), "properties.k: object has no notation"),
    (iter([]), "properties.k: list_iterator has no notation"),
    (Pattern(), "properties.k: Pattern has no notation"),
    pytest.param(10**4300, "properties.k: an integer has at most 4300 digits", id="digits"),
    ("a\ud800", "properties.k: lone surrogate at index 1"),
    ([1, [None]], "properties.k[1][0]: None has no notation"),
    ({"m": {"n": [float("inf")]}}, "properties.k.m.n[0]: inf has no notation"),
    ({1: 2}, "properties.k: a key is a str, found int 1"),
    ({"m": {None: 2}}, "properties.k.m: a key is a str, found None None"),
]


@pytest.mark.parametrize(("value", "message"), WITHOUT_NOTATION)
def test_what_has_no_notation_is_refused_with_its_path(value: Any, message: str) -> None:
    with pytest.raises(GramEncodeError) as caught:
        subject(value)
    assert message == str(caught.value)


@pytest.mark.parametrize("value", [CYCLIC, CYCLIC_MAP])
def test_a_value_that_holds_itself_is_refused(value: Any) -> None:
    with pytest.raises(GramEncodeError, match="nests deeper than 100 levels"):
        subject(value)
