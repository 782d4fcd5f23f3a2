from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from attrs import evolve, field, frozen

from gram import ByValue


@frozen
class OfAttrs:
    name: str = field(repr=str.upper)
    size: float = 0
    seen: int = field(default=0, eq=False)
    _hidden: str = field(default="x", repr=False)


@frozen(eq=False, repr=False)
class Inherited(ByValue):
    name: str = field(repr=str.upper)
    size: float = 0
    seen: int = field(default=0, eq=False)
    _hidden: str = field(default="x", repr=False)


@frozen(eq=False, repr=False)
class Narrower(Inherited):
    more: str = ""


@frozen(eq=False, repr=False)
class One(ByValue):
    part: Any


@frozen(eq=False, repr=False)
class Empty(ByValue):
    pass


PARTS: list[dict[str, Any]] = [
    {"name": "a"},
    {"name": "b"},
    {"name": "a", "size": 0.0, "seen": 1},
    {"name": "a", "size": 1},
    {"name": "a", "hidden": "y"},
]


@pytest.mark.parametrize("one", PARTS)
@pytest.mark.parametrize("other", PARTS)
def test_what_is_equal_is_what_attrs_would_find_equal(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    expected = OfAttrs(**one) == OfAttrs(**other)

    assert (Inherited(**one) == Inherited(**other)) is expected
    assert (hash(Inherited(**one)) == hash(Inherited(**other))) is expected


@pytest.mark.parametrize("parts", PARTS)
def test_the_text_is_that_of_attrs(parts: dict[str, Any]) -> None:
    expected = repr(OfAttrs(**parts)).replace("OfAttrs", "Inherited")

    assert repr(Inherited(**parts)) == expected


def test_the_text_of_a_class_in_a_function_has_its_own_name() -> None:
    @frozen(eq=False, repr=False)
    class Local(ByValue):
        part: int

    assert repr(Local(1)) == "Local(part=1)"


def test_another_class_with_equal_parts_is_not_equal() -> None:
    assert Narrower("a") != Inherited("a")
    assert Inherited("a") != Narrower("a")
    assert One(("a",)) != ("a",)
    assert Narrower("a", more="b") != Narrower("a", more="c")


def test_without_parts_all_are_equal() -> None:
    assert Empty() == Empty()
    assert hash(Empty()) == hash(Empty())
    assert repr(Empty()) == "Empty()"


def test_copies_are_equal() -> None:
    made = Narrower("a", 2, more="b")

    assert evolve(made, size=2) == copy.deepcopy(made) == pickle.loads(pickle.dumps(made)) == made


def test_with_an_unhashable_part_it_is_unhashable() -> None:
    assert One([1]) == One([1])
    with pytest.raises(TypeError):
        hash(One([1]))
