"""What is remembered of a pattern is its own, and goes with it."""

from __future__ import annotations

import gc

from gram import Pattern, Subject
from lenses_ext.weak_cache import memo


def test_a_result_is_computed_once_for_each_pattern_also_for_equal_ones() -> None:
    computed: list[Pattern] = []

    def compute(pattern: Pattern) -> int:
        computed.append(pattern)
        return len(computed)

    number_of = memo(compute)
    first, second = (Pattern(Subject("a")) for _ in range(2))

    assert [number_of(each) for each in (first, second, first, second)] == [1, 2, 1, 2]
    assert computed == [first, second]


def test_a_result_goes_with_its_pattern() -> None:
    computed: list[str] = []

    class Result:
        def __del__(self) -> None:
            computed.append("gone")

    result_of = memo(lambda _: Result())
    pattern = Pattern(Subject("a"))
    result_of(pattern)
    assert computed == []

    del pattern
    gc.collect()

    assert computed == ["gone"]
