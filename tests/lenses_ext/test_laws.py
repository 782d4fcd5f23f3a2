"""The kit of laws finds what breaks one, and says which."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable

import pytest
from hypothesis import strategies as st
from lenses import lens as raw

from gram import GramError, Pattern, Subject
from lenses_ext import LawError, Lens, Prism, Traversal
from lenses_ext.laws import check_getter, check_lens, check_prism, check_traversal
from lenses_ext.optics.typed import lens_of, prism_of, traversal_of
from tests.paths import ROOT

NUMBERS = st.integers(0, 2)
BITS = st.integers(0, 1)
odd_or_even = raw.Prism(lambda n: n % 2, lambda n: n, ignore_none=True)
PAIRS = st.tuples(BITS, BITS)
TRIPLES = st.tuples(BITS, BITS, BITS)
ATOMS = st.sampled_from("abc").map(lambda name: Pattern(Subject(name)))
TEXTS = st.sampled_from(["a", "b"])


def named(pattern: Pattern, name: str) -> Pattern:
    return Pattern(Subject(name), pattern.elements)


def lens(
    get: Callable[[Pattern], str] = lambda pattern: pattern.value.identity,
    set_: Callable[[Pattern, str], Pattern] = named,
) -> Lens[Pattern, str]:
    return lens_of("broken", get, set_)


def counted(pattern: Pattern, name: str) -> Pattern:
    """Grows with every put."""
    return Pattern(Subject(name), (*pattern.elements, Pattern()))


def grown(pattern: Pattern, name: str) -> Pattern:
    """Grows when a name changes."""
    return pattern if pattern.value.identity == name else counted(pattern, name)


def refusing(pattern: Pattern, name: str) -> Pattern:
    if name == "b":
        raise LookupError("no b")
    return named(pattern, name)


BROKEN: list[tuple[str, Callable[[], None]]] = [
    ("get-put", lambda: check_lens(lens(set_=counted), ATOMS, TEXTS)),
    ("put-get", lambda: check_lens(lens(set_=lambda pattern, _: pattern), ATOMS, TEXTS)),
    ("put-get", lambda: check_lens(lens(set_=refusing), st.just(Pattern()), st.just("b"))),
    ("put-put", lambda: check_lens(lens(set_=grown), ATOMS, TEXTS)),
    ("get-get", lambda: check_getter(raw.F(lambda _: object()), ATOMS)),
    ("read-only", lambda: check_getter(raw[0], PAIRS)),
    ("put-get", lambda: check_lens(raw[-1], PAIRS, NUMBERS)),
    ("put-get", lambda: check_traversal(raw.Each().Filter(bool), PAIRS, BITS)),
    ("get-put", lambda: check_traversal(first_two(lambda pair, new: (*new, 1)), PAIRS, NUMBERS)),
    ("put-put", lambda: check_traversal(first_two(counting), TRIPLES, BITS)),
    ("put", lambda: check_traversal(Uneven(), PAIRS, BITS)),
    ("construct-get", lambda: check_prism(prism_of("odd", odd, lambda n: 2 * n), NUMBERS, NUMBERS)),
    ("at-most-one", lambda: check_prism(Both(), PAIRS, NUMBERS)),
    ("get-construct", lambda: check_prism(odd_or_even, NUMBERS, BITS)),
]  # fmt: skip


def odd(number: object) -> bool:
    return number in (1, 3)


def first_two(
    builder: Callable[[tuple[int, ...], Iterable[int]], tuple[int, ...]],
) -> Traversal[tuple[int, ...], int]:
    return traversal_of("first_two", lambda pair: pair[:2], builder)


def counting(triple: tuple[int, ...], new: Iterable[int]) -> tuple[int, ...]:
    """Sets the first two, and counts in the third how often they changed."""
    return (*new, triple[2] + (tuple(new) != triple[:2]))


class Uneven(Traversal[tuple[int, ...], int]):
    """Looks at every number, and sets only the first when all are set to one."""

    def __init__(self) -> None:
        super().__init__(raw.Each()._optic)

    def set(self, newvalue: int) -> Callable[[tuple[int, ...]], tuple[int, ...]]:
        return lambda whole: (newvalue, *whole[1:])


class Both(Prism[tuple[int, ...], int]):
    """Makes a tuple of one number, and looks at every number of any."""

    def __init__(self) -> None:
        super().__init__(raw.Each()._optic)

    def construct(self, focus: int) -> tuple[int, ...]:
        return (focus,)


@pytest.mark.parametrize(("law", "check"), BROKEN, ids=[row[0] for row in BROKEN])
def test_a_broken_law_is_named(law: str, check: Callable[[], None]) -> None:
    with pytest.raises(LawError) as broken:
        check()

    assert broken.value.law == law


def test_setting_what_cannot_be_seen_breaks_a_law() -> None:
    first_if_any = traversal_of("first", lambda pair: (pair[0],), lambda pair, new: (*new,))

    check_traversal(first_if_any, PAIRS.map(lambda pair: pair[:1]) | st.just(()), NUMBERS)
    with pytest.raises(LawError, match="put-refuses: nothing can be seen"):
        check_lens(Blind(), st.just({}), NUMBERS)


class Blind(Lens[dict[str, int], int]):
    """Sees only a key that is there, and sets it everywhere."""

    def __init__(self) -> None:
        super().__init__(raw["a"]._optic)

    def set(self, newvalue: int) -> Callable[[dict[str, int]], dict[str, int]]:
        return lambda whole: {**whole, "a": newvalue}


def test_a_law_error_names_the_law_the_optic_and_the_smallest_state() -> None:
    with pytest.raises(LawError) as broken:
        check_lens(lens(set_=lambda pattern, _: pattern), ATOMS, TEXTS)

    error = broken.value
    assert isinstance(error, GramError)
    assert isinstance(error, AssertionError)
    assert (error.law, error.optic, error.state) == ("put-get", "broken", Pattern(Subject("a")))
    assert str(error) == "broken breaks put-get: expected 'b', found 'a'\n  of: (a)"


def test_the_kit_needs_hypothesis_only_when_it_checks() -> None:
    code = "import lenses_ext.laws, sys; assert 'hypothesis' not in sys.modules"

    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_lawful_optics_of_lenses_alone_pass() -> None:
    check_lens(raw[0], PAIRS | st.just(()), NUMBERS)
    check_lens(raw["a"], st.dictionaries(TEXTS, NUMBERS), NUMBERS)
    check_getter(raw.F(len), PAIRS)
    check_traversal(raw.Each(), st.lists(NUMBERS, max_size=3), NUMBERS)
    check_prism(raw.Just(), NUMBERS.map(raw.Just().construct), NUMBERS)
