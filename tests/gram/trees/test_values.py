"""Values: what is one, what is not, and that their equality is exact."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from enum import IntEnum, StrEnum
from typing import Any

import pytest
from pyrsistent import PMap, PVector, pmap, pvector

from gram import (
    GramEncodeError,
    Measurement,
    Pattern,
    Range,
    Subject,
    Symbol,
    TaggedString,
    dumps,
    loads_one,
)
from gram.trees.values import freeze


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


@pytest.mark.parametrize(
    ("make", "message"),
    [
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
    ],
)
def test_a_value_without_notation_cannot_be_built(make: Callable[[], object], message: str) -> None:
    with pytest.raises(GramEncodeError) as caught:
        make()
    assert message == str(caught.value)
