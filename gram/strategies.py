"""Hypothesis strategies for values, subjects and patterns, for tests of your own.

They need Hypothesis, which the extra ``laws`` brings. Those without arguments are made
once: Hypothesis takes longer to look through a new strategy than to draw from it.

>>> from hypothesis import given
>>> from gram import dumps, loads_one
>>> @given(patterns())
... def test_what_is_written_reads_back(pattern):
...     assert loads_one(dumps(pattern)) == pattern
"""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st
from pyrsistent import pmap, pvector

from .trees import Measurement, Pattern, Range, Subject, Symbol, TaggedString

ODD_TEXTS = ["", "true", "false", "null", "0", "-1", "042", "a b", "é", "`", "```", '"', "\\", "//"]


@cache
def texts() -> st.SearchStrategy[str]:
    """Any text that UTF-8 can carry, odd ones often."""
    free = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
    lines = st.lists(st.sampled_from(["", " ", "a", "```", "`", "\t", "\r", "// c"]), max_size=5)
    return st.sampled_from(ODD_TEXTS) | free | lines.map("\n".join) | st.just("long " * 30)


@cache
def symbols() -> st.SearchStrategy[str]:
    """Words that can be written bare, in any position."""
    words = st.from_regex(r"\A[A-Za-z_][0-9A-Za-z_.\-@]{0,6}\Z")
    return words.filter(lambda word: word not in ("true", "false"))


@cache
def names() -> st.SearchStrategy[str]:
    """Identities, labels and keys: mostly a few short symbols, so that they collide."""
    return st.sampled_from(["a", "b", "c", "Agent", "REL"]) | symbols() | texts()


@cache
def numbers() -> st.SearchStrategy[int | float]:
    """Integers and finite decimals of any size."""
    return st.integers() | st.floats(allow_nan=False, allow_infinity=False)


@cache
def measurements() -> st.SearchStrategy[Measurement]:
    """Numbers with a unit, units that look hexadecimal among them."""
    units = st.sampled_from(["kg", "xFF", "x", "e"]) | st.from_regex(r"\A[A-Za-z]{1,4}\Z")
    return st.builds(Measurement, numbers(), units)


@cache
def ranges() -> st.SearchStrategy[Range]:
    """Ranges of numbers and measurements, half of them open."""
    bounds = st.none() | numbers() | measurements()
    pairs = st.tuples(bounds, bounds).filter(lambda pair: pair != (None, None))
    return pairs.map(lambda pair: Range(*pair))


@cache
def scalars() -> st.SearchStrategy[Any]:
    """Values that hold no other values, of every kind."""
    return st.one_of(
        texts(),
        st.booleans(),
        numbers(),
        symbols().map(Symbol),
        st.builds(TaggedString, symbols(), texts()),
        measurements(),
        ranges(),
    )


@cache
def values() -> st.SearchStrategy[Any]:
    """Values of every kind, arrays and maps nested in each other."""
    return st.recursive(
        scalars(),
        lambda below: (
            st.lists(below, max_size=3).map(pvector)
            | st.dictionaries(names() | st.just("type"), below, max_size=3).map(pmap)
        ),
        max_leaves=6,
    )


@cache
def subjects() -> st.SearchStrategy[Subject]:
    """Subjects, empty ones often."""
    return st.just(Subject()) | st.builds(
        Subject,
        st.just("") | names(),
        st.frozensets(names(), max_size=2),
        st.dictionaries(names(), values(), max_size=2).map(pmap),
    )


@cache
def patterns(max_leaves: int = 8) -> st.SearchStrategy[Pattern]:
    """Trees of every shape: atoms, annotations, relationships, walks, brackets."""
    atoms = subjects().map(Pattern)

    def around(below: st.SearchStrategy[Pattern]) -> st.SearchStrategy[Pattern]:
        elements = st.lists(below, max_size=3).map(tuple)
        return st.builds(Pattern, subjects(), elements) | walks(atoms)

    return st.recursive(atoms, around, max_leaves=max_leaves)


def walks(atoms: st.SearchStrategy[Pattern]) -> st.SearchStrategy[Pattern]:
    """Walks along shared nodes, each hop in either direction."""

    def walk(parts: tuple[list[Pattern], list[tuple[Subject, bool]]]) -> Pattern:
        nodes, hops = parts
        edges = [
            Pattern(subject, (left, right) if forward else (right, left))
            for left, right, (subject, forward) in zip(nodes, nodes[1:], hops, strict=False)
        ]
        return Pattern(Subject("", {"Gram.Walk"}), edges)

    hops = st.lists(st.tuples(subjects(), st.booleans()), min_size=3, max_size=3)
    return st.tuples(st.lists(atoms, min_size=2, max_size=4), hops).map(walk)
