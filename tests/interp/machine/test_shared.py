from __future__ import annotations

import copy
import pickle
import weakref
from typing import Any

import pytest
from attrs import astuple, evolve, fields
from attrs.exceptions import FrozenInstanceError
from hypothesis import given, strategies as st

from interp.json_text import JsonText
from interp.machine.frames import AgentFrame, Step, WorkflowFrame
from interp.machine.shared import Shared, with_parts

NULL = JsonText("null")
KINDS: tuple[Any, ...] = (AgentFrame, Shared, Step, WorkflowFrame)


@st.composite
def values_and_changes(draw: st.DrawFn) -> tuple[Any, dict[str, Any]]:
    """A value of a class that `with_parts` changes, and other parts for it."""
    kind = draw(st.sampled_from(KINDS))
    names = [each.name for each in fields(kind)]
    return kind(*range(len(names))), draw(st.dictionaries(st.sampled_from(names), st.text()))


@given(values_and_changes())
def test_a_changed_value_is_the_one_that_attrs_would_make(
    given: tuple[Any, dict[str, Any]],
) -> None:
    value, changes = given
    before, expected = astuple(value, recurse=False), evolve(value, **changes)

    made = value.changed(**changes)

    assert type(made) is type(value)
    assert astuple(made, recurse=False) == astuple(expected, recurse=False)
    assert (made, hash(made), repr(made)) == (expected, hash(expected), repr(expected))
    assert astuple(value, recurse=False) == before


@pytest.mark.parametrize("kind", KINDS)
def test_changed_values_are_copied_and_pickled_as_any(kind: Any) -> None:
    made = kind(*range(len(fields(kind)))).changed()

    copies = (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made)))

    assert all(type(each) is kind for each in copies)
    assert all(astuple(each, recurse=False) == astuple(made, recurse=False) for each in copies)


@pytest.mark.parametrize("value", [Step(NULL, ()), Step(NULL, ()).changed(begun=1)])
def test_a_changed_value_is_as_frozen_as_any(value: Step) -> None:
    with pytest.raises(FrozenInstanceError):
        value.begun = 2  # type: ignore[misc]  # what is tested
    with pytest.raises(FrozenInstanceError):
        del value.begun
    with pytest.raises(AttributeError):
        value.more = 2  # type: ignore[attr-defined]  # what is tested
    assert weakref.ref(value)() is value


@pytest.mark.parametrize("name", ["more", "changed", "_compared", "__dict__"])
def test_what_is_no_part_cannot_be_changed(name: str) -> None:
    with pytest.raises(AttributeError, match=name):
        with_parts(Step(NULL, ()), **{name: 1})
