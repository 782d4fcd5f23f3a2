"""Parts by the indices of calls are as a sorted dict would have them."""

from __future__ import annotations

from hypothesis import given, strategies as st

from interp.machine.indexed import with_index, without_index

INDICES = st.integers(0, 9)
PARTS = st.dictionaries(INDICES, st.text(max_size=2))


@given(PARTS, INDICES, st.text(max_size=2))
def test_parts_are_added_and_taken_away_as_in_a_dict(
    parts: dict[int, str], index: int, part: str
) -> None:
    kept = tuple(sorted(parts.items()))
    without = {at: each for at, each in parts.items() if at != index}

    assert with_index(kept, index, part) == tuple(sorted({**parts, index: part}.items()))
    assert without_index(kept, index) == tuple(sorted(without.items()))
