"""The errors of running agents, which go from process to process with the states they keep."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from interp import errors
from interp.errors import AgentError, ModelError, ToolBindingError, ValidationError

GIVEN: dict[type[AgentError], AgentError] = {
    ToolBindingError: ToolBindingError(["first", "second"]),
    ValidationError: ValidationError("text", ()),
    ModelError: ModelError("text", status=429, code="c", retriable=True, retry_after=2.5),
}
CLASSES = {
    each
    for each in vars(errors).values()
    if isinstance(each, type) and issubclass(each, AgentError)
}


@pytest.mark.parametrize("kind", sorted(CLASSES, key=str))
def test_an_error_comes_back_from_pickle_as_it_was(kind: Any) -> None:
    error = GIVEN.get(kind) or kind("first\nsecond")
    error.state = "where it stood"
    found = pickle.loads(pickle.dumps(error))
    assert type(found) is kind
    assert str(found) == str(error)
    assert vars(found) == vars(error)
