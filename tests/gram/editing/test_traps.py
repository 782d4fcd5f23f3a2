"""Edits that are easy to get wrong, each with the exact text it gives."""

import pytest

from gram import loads, parse
from tests.gram.texts import table


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case["name"]) for case in table("edits")["case"]]
)
def test_trap(case: dict[str, str]) -> None:
    edited = parse(case["old"]).replace(loads(case["trees"]))

    assert edited.text == case["new"]
    assert loads(edited.text) == loads(case["trees"])
    assert edited.rescued == ()
    assert edited.replace(loads(case["old"])).text == case["old"]


def test_additions_commute_in_any_order_of_keys() -> None:
    """Two additions give the same text whichever is made first."""
    document = parse("({z: 1, b: 2, d: 3})")

    both = document.replace(loads("({z: 1, b: 2, d: 3, a: 4, c: 5})")).text
    first_a = document.replace(loads("({z: 1, b: 2, d: 3, a: 4})"))
    first_c = document.replace(loads("({z: 1, b: 2, d: 3, c: 5})"))

    assert parse(first_a.text).replace(loads(both)).text == both
    assert parse(first_c.text).replace(loads(both)).text == both
