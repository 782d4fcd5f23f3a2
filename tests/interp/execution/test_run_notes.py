"""Notes of runs: each comes back equal, and a line of text is the text of its pattern."""

from __future__ import annotations

from datetime import UTC

import pytest
from hypothesis import given, strategies as st

from gram import loads_one
from interp import ValidationError
from interp.execution.recorder import Begun, Failed, Note, Retried, Stopped
from interp.history.records.patterns import NOTES, note_from_pattern, note_to_pattern
from interp.history.records.property_forms import pattern_line
from tests.interp.strategies import message_texts

AT = st.lists(st.integers(0, 20), max_size=3).map(tuple)
SECONDS = st.floats(0, 1e6).map(lambda seconds: round(seconds, 6))
TIMES = st.datetimes(timezones=st.just(UTC)).map(
    lambda time: time.replace(microsecond=time.microsecond // 1000 * 1000)
)
ANY_NOTE = st.one_of(
    st.builds(Begun, AT, TIMES),
    st.builds(Retried, AT, message_texts(), SECONDS),
    st.builds(Failed, AT, message_texts(), SECONDS),
    st.builds(Stopped, message_texts(), TIMES),
)


@given(ANY_NOTE)
def test_every_note_comes_back_equal_from_its_line(note: Note) -> None:
    line = pattern_line(note_to_pattern(note))
    pattern = loads_one(line)

    assert "\n" not in line
    assert note_from_pattern(pattern, type(note).__name__) == note


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('(:Begun {at: [0], time: "yesterday"})', "must be a time, found yesterday"),
        ("(:Begun {at: [0]})", "Begun has no time"),
        ('(:Retried {at: [0], error: "x", wait: "long"})', "wait of Retried must be a number"),
        ("(:Failed {at: 0})", "array of whole numbers"),
        ('[:Stopped {error: "x", time: "2026-01-01"} | (:User)]', "must not have elements"),
    ],
)
def test_what_is_no_note_is_refused_with_its_place(text: str, message: str) -> None:
    pattern = loads_one("\n" + text)
    label = next(each for each in pattern.value.labels if each in NOTES)

    with pytest.raises(ValidationError, match=message) as caught:
        note_from_pattern(pattern, label)

    assert caught.value.faults[0].lineno == 2
