"""How often a validator would look at a value is known without looking."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from lenses_ext.schemas import validation_visits
from lenses_ext.schemas.checks import default_misfits
from tests.calls import calls_of


def chain(levels: int) -> dict[str, Any]:
    """Types that each hold the next in two alternatives: every level doubles the work."""
    definitions: dict[str, Any] = {f"D{levels}": {"type": "integer"}}
    for level in range(levels):
        below = {"$ref": f"#/$defs/D{level + 1}"}
        either = [{"type": "object", "properties": {"a": below}, "title": each} for each in "xy"]
        definitions[f"D{level}"] = {"anyOf": either}
    return {"$ref": "#/$defs/D0", "$defs": definitions}


def nested(levels: int) -> Any:
    return {"a": nested(levels - 1)} if levels else "x"


@pytest.mark.parametrize("levels", [1, 2, 10, 40])
def test_each_level_of_alternatives_doubles_the_visits(levels: int) -> None:
    schema = chain(levels)

    found = validation_visits(schema, nested(levels), schema, at_most=10**15)

    assert 2**levels < found < 10 * 2**levels


def test_counting_takes_steps_as_there_are_pairs_of_schema_and_value() -> None:
    def steps(levels: int) -> int:
        schema, value = chain(levels), nested(levels)
        return calls_of(lambda: validation_visits(schema, value, schema, at_most=10**15))

    assert steps(40) < 6 * steps(10)


def test_a_value_that_does_not_nest_is_looked_at_a_few_times() -> None:
    schema = chain(40)

    assert validation_visits(schema, "x", schema, at_most=1000) < 10


def test_a_reference_that_leads_back_to_itself_has_no_end() -> None:
    schema = {"$ref": "#/$defs/A", "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}]}}}

    assert validation_visits(schema, 1, schema, at_most=50) == 51


def test_a_default_of_alternatives_in_alternatives_is_not_judged() -> None:
    root = chain(40)
    schema = {"$ref": "#/$defs/D0", "default": nested(40)}

    assert default_misfits(lambda: root, [schema]) == [None]
    assert default_misfits(lambda: root, [{"$ref": "#/$defs/D0", "default": "x"}]) != [None]


@given(st.recursive(st.integers(), lambda below: st.lists(below, max_size=3), max_leaves=10))
def test_without_alternatives_every_part_of_a_value_is_visited_once(value: Any) -> None:
    schema: dict[str, Any] = {"type": ["integer", "array"]}
    schema["items"] = schema

    def parts(value: Any) -> int:
        return 1 + sum(map(parts, value)) if isinstance(value, list) else 1

    assert validation_visits(schema, value, schema, at_most=1000) == parts(value)
