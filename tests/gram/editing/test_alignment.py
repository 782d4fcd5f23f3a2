"""Which element was which: the alignment of two lists."""

from itertools import combinations

from hypothesis import given, strategies as st

from gram.editing.alignment import align, common_ends, longest_increasing


@given(st.lists(st.integers(0, 9), max_size=9))
def test_no_increasing_subsequence_is_longer(numbers: list[int]) -> None:
    chosen = [numbers[index] for index in longest_increasing(numbers)]

    assert chosen == sorted(set(chosen))
    assert not any(
        list(longer) == sorted(set(longer)) for longer in combinations(numbers, len(chosen) + 1)
    )


@given(st.lists(st.integers(0, 4)), st.lists(st.integers(0, 4)))
def test_partners_are_equal_where_they_can_be(old: list[int], new: list[int]) -> None:
    partners = align(old, new)

    taken = [index for index in partners if index is not None]
    equal = [value for index, value in zip(partners, new, strict=True) if _is(old, index, value)]
    assert len(set(taken)) == len(taken)
    assert len(equal) == sum(min(old.count(value), new.count(value)) for value in set(new))


def _is(old: list[int], index: int | None, value: int) -> bool:
    return index is not None and old[index] == value


@given(st.lists(st.integers(0, 2)), st.lists(st.integers(0, 2)))
def test_common_ends_do_not_overlap(old: list[int], new: list[int]) -> None:
    first, last = common_ends(old, new)

    assert first + last <= min(len(old), len(new))
    assert old[:first] == new[:first]
    assert old[len(old) - last :] == new[len(new) - last :]


def test_values_of_different_types_are_not_equal() -> None:
    assert align([1, True, 1.0], [1.0, 1, True]) == [2, 0, 1]
