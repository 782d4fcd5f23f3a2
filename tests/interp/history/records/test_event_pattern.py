"""Events as gram: every event comes back equal, from one line, and nothing else is read as one."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from gram import GramError, Pattern, loads_one, write_pattern
from gram.writing import ONE_LINE
from interp import ValidationError
from interp.history import from_pattern, to_pattern
from interp.history.records.patterns import event_written, written_event
from interp.machine import Event
from tests.gram.strategies import patterns
from tests.interp.strategies import events

SECONDS = st.none() | st.floats(0, 1e6).map(lambda seconds: round(seconds, 6))


@given(events(), SECONDS)
def test_every_event_comes_back_equal_from_one_line(event: Event, seconds: float | None) -> None:
    line = write_pattern(event_written(event, set(), seconds), style=lambda _: ONE_LINE)

    assert "\n" not in line
    assert written_event(loads_one(line), {})[:2] == (event, seconds)
    assert from_pattern(to_pattern(event)) == event


@given(patterns())
def test_any_other_pattern_is_refused_with_an_error_of_ours(pattern: Pattern) -> None:
    with pytest.raises(GramError):
        from_pattern(pattern)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(:ToolReturned {at: [0, 0], result: json`{`})", "result of ToolReturned is not JSON"),
        ("(:ToolReturned {at: [-1], result: json`1`})", "array of whole numbers"),
        ("(:ToolReturned {at: [0, 0]})", "ToolReturned has no result"),
        ("[:ModelReplied {at: [0]} | (:User), (:User)]", "must have one element"),
        ("(:ModelReplied {at: [0]})", "must have one element"),
        ('(:Decided {at: [0, 0], allowed: "yes"})', "must be true or false"),
        ('(:CallFailed {at: [0, 0], eror: "x"})', "has no property eror"),
        ("[:TimeUp | (:User)]", "must not have elements"),
        ('(:Resumed {model: "none"})', "names no provider"),
        ('(:Resumed {checkResults: "maybe"})', "must be true or false"),
        ("(:Replied {at: [0]})", "expected"),
        ('(:TimeUp {seconds: "long"})', "must be a number"),
    ],
)
def test_what_is_no_event_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(ValidationError, match=message) as caught:
        from_pattern(loads_one("\n" + text))

    assert caught.value.faults[0].lineno == 2
