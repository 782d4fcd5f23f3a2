from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, strategies as st

from gram import Pattern, loads_one
from interp.evaluation.causes.removal import minimal

TREES = st.recursive(
    st.one_of(st.integers(0, 3), st.booleans(), st.text("ab \n", max_size=8)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.sampled_from("xyz"), inner, max_size=3)
    ),
    max_leaves=12,
)


def smaller_by_one(value: Any) -> Iterator[Any]:
    """Each value that has one item less, anywhere in it."""
    if isinstance(value, list):
        for index, each in enumerate(value):
            yield value[:index] + value[index + 1 :]
            for inner in smaller_by_one(each):
                yield [*value[:index], inner, *value[index + 1 :]]
    elif isinstance(value, dict):
        for key, each in value.items():
            yield {name: other for name, other in value.items() if name != key}
            for inner in smaller_by_one(each):
                yield value | {key: inner}


def leaves(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [leaf for each in value for leaf in leaves(each)]
    if isinstance(value, dict):
        return [leaf for each in value.values() for leaf in leaves(each)]
    return [value]


@given(TREES, st.sampled_from([0, 1, 2, 3]), st.integers(1, 3))
def test_nothing_that_is_left_can_go(tree: Any, number: int, times: int) -> None:
    def holds(value: Any) -> bool:
        return sum(leaf is not True and leaf == number for leaf in leaves(value)) >= times

    if not holds(tree):
        return
    found = minimal(tree, holds)
    assert holds(found)
    assert not any(holds(each) for each in smaller_by_one(found))


def test_texts_lose_lines_and_words() -> None:
    text = "one two\nthree bad four\nfive"
    assert minimal(text, lambda value: "bad" in value).strip() == "bad"


def test_what_is_held_stays() -> None:
    pattern = loads_one('(a {instruction: "be kind", other: "be kind"})')
    found = minimal(pattern, lambda _: True, held={"instruction"})
    assert found == loads_one('(a {instruction: "be kind"})')


def test_an_arrow_goes_with_the_nodes_that_it_names() -> None:
    flow = loads_one("[w | (a), (b), (c), (d), (b)-->(c)-->(d)]")

    def is_valid(flow: Pattern) -> bool:
        """Every node but ``a`` has an arrow, and every arrow has its nodes."""
        edges = [edge for each in flow.elements for edge in each.elements]
        ends = {end.value.identity for edge in edges for end in edge.elements}
        return ends | {"a"} == {each.value.identity for each in flow.elements if not each.elements}

    assert is_valid(flow)
    (left,) = minimal(flow, is_valid).elements
    assert left.value.identity == "a"


@pytest.mark.parametrize("count", [1, 5, 16])
def test_an_item_goes_with_that_of_an_array_of_the_same_length(count: int) -> None:
    pair = {"items": [*range(count)], "rounds": [*range(count)]}

    def is_aligned(each: dict[str, list[int]]) -> bool:
        return each.get("items") == each.get("rounds") and count // 2 in each.get("items", ())

    assert minimal(pair, is_aligned) == {"items": [count // 2], "rounds": [count // 2]}
