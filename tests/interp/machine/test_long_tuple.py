"""A long tuple is a tuple, but for what it costs to add to it and to keep many of it."""

from __future__ import annotations

import gc
import pickle

from hypothesis import given, strategies as st

from interp.machine.long_tuple import LongTuple

lengths = st.sampled_from([0, 1, 2, 62, 63, 64, 65, 127, 128, 129, 200])


@given(st.lists(lengths, max_size=4), st.slices(300))
def test_it_is_the_tuple_of_what_was_added(added: list[int], part: slice) -> None:
    long, plain = LongTuple[int](), list[int]()
    for count in added:
        more = range(len(plain), len(plain) + count)
        long, plain = long.extend(more), [*plain, *more]
    assert (len(long), list(long), list(reversed(long))) == (len(plain), plain, plain[::-1])
    assert [long[place] for place in range(-len(plain), len(plain))] == plain + plain
    assert list(long[part]) == plain[part]


@given(lengths, lengths)
def test_how_it_came_about_does_not_count(first: int, second: int) -> None:
    at_once = LongTuple(range(first + second))
    in_two = LongTuple(range(first)).extend(range(first, first + second))
    one_by_one = LongTuple[int]()
    for number in range(first + second):
        one_by_one = one_by_one.extend([number])

    assert at_once == in_two == one_by_one == pickle.loads(pickle.dumps(at_once))
    assert hash(at_once) == hash(in_two) == hash(one_by_one)
    assert at_once != one_by_one.extend([0])


def test_keeping_every_length_of_it_gives_the_collector_little_to_walk() -> None:
    kept, long = [], LongTuple[int]()
    for number in range(6_400):
        long = long.extend([number])
        kept.append(long)
    vectors = {id(each._full): each._full for each in kept}
    walked = sum(len(gc.get_referents(each)) for each in vectors.values())
    assert walked < 6_400
