"""What is written of runs has no keys, and can still be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, strategies as st

from gram import dumps, loads_one
from interp import ReplayError, ScriptedModel, ToolLibrary, load_run, recorded, run, tool
from interp.machine import CallTool
from interp.records import asks_the_same
from interp.records.redacting import redacted_pattern
from interp.redaction import REDACTED, hide, redacted_json
from tests.gram import strategies

KEY = "sk-proj-7hfk/zQm2XvT=9Zw"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside),
)


def without(key: str, text: str) -> str:
    """A text without a key."""
    return text.replace(key, REDACTED)


def program(key: str) -> str:
    """A program that has a key wherever it can be."""
    return f"""
[counter:Agent:`{key}` {{
  instruction: "Use {key}.", model: "A/b", "{key}": 1, note: {{"{key}": ["{key}"]}},
  settings: {{extraBody: {{"{key}": 1, b: "{key}", a: {{y: 1, x: 2}}}}, temperature: 1}}
}} |
  [add:Tool {{description: "Adds to {key}."}} | (y::Any)==>(::Any)]]
"""


@pytest.mark.parametrize("key", [KEY, "sk-<a&'b>9zQm2", "sk_9zQm2XvT"])
def test_a_program_with_a_key_in_every_place_is_recorded_and_replayed(
    key: str, tmp_path: Path
) -> None:
    """Labels, names of properties, keys of maps and settings, arguments and results."""
    hidden, path = hide(key), tmp_path / "run.gram"
    agent = loads_one(program(key))
    call = {
        "id": key,
        "function": {"name": "add", "arguments": json.dumps({"y": {key: [key]}})},
    }
    replies: list[Any] = [{"role": "assistant", "tool_calls": [call]}, key]

    @tool(description=f"Adds to {key}.")
    def add(y: Any) -> object:
        return {key: [key, y]}

    response = run(agent, key, ToolLibrary.of(add), model=ScriptedModel(replies), record=path)

    assert hidden.values == {key}
    text = path.read_text("utf-8")
    assert "sk" not in text
    load_run(path).check()
    assert response.content == key
    again = run(agent, key, ToolLibrary.of(add), world=recorded(path))
    assert again.content == REDACTED


def test_what_differs_from_a_recording_is_shown_without_keys(tmp_path: Path) -> None:
    hidden, path = hide(KEY), tmp_path / "run.gram"
    agent = loads_one(program(KEY).split("} |")[0] + "}]")
    run(agent, "go", model=ScriptedModel(["fine"]), record=path)

    with pytest.raises(ReplayError) as caught:
        run(agent, f"go on with {KEY}", world=recorded(path))

    assert hidden.values
    assert "go on with [redacted]" in str(caught.value)
    assert KEY not in str(caught.value)


def test_a_recorded_call_is_another_one_if_more_than_its_key_differs() -> None:
    kept = hide(KEY)
    then = CallTool((0, 0), "add", json.dumps({"x": REDACTED}))

    assert asks_the_same(then, CallTool((0, 0), "add", json.dumps({"x": KEY})))
    assert not asks_the_same(then, CallTool((0, 0), "add", json.dumps({"y": KEY})))
    assert not asks_the_same(then, CallTool((0, 1), "add", json.dumps({"x": KEY})))
    assert kept


@given(JSON, st.text(min_size=8))
def test_json_without_keys_is_json(value: Any, key: str) -> None:
    text = json.dumps(value)

    clean = redacted_json(text, lambda each: without(key, each))

    assert key not in clean.replace(REDACTED, "") or key in text.replace(REDACTED, "")
    assert type(json.loads(clean)) in (type(value), str)
    assert key in text or json.dumps(key)[1:-1] in text or clean == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"n": 1234567890}', '{"n":"[redacted]"}'),
        ('{"n": 91234567890}', '{"n":"9[redacted]"}'),
        ('{"a": "\\u0031234567890"}', '{"a":"[redacted]"}'),
        ('{"a": "1234567890"}', '{"a": "[redacted]"}'),
        ('{"1234567890": 1, "1234567890 ": 2}', '{"[redacted]": 1, "[redacted] ": 2}'),
        ('{"n": 1234567890', '{"n": [redacted]'),
        ('{"n": "\\n"}', '{"n": "\\n"}'),
    ],
)
def test_json_keeps_its_form_where_it_can(text: str, shown: str) -> None:
    assert redacted_json(text, lambda each: without("1234567890", each)) == shown


def test_names_that_would_become_the_same_are_numbered() -> None:
    def redact(text: str) -> str:
        return without("key-1", without("key-2", text))

    pattern = loads_one('(a {"key-1": 1, "key-2": 2})')

    assert dumps(redacted_pattern(pattern, redact)) == '(a {"[redacted]": 1, "[redacted] 1": 2})'
    assert redacted_json('{"key-1": 1, "key-2": 2}', redact) == '{"[redacted]":1,"[redacted] 1":2}'


@given(strategies.patterns(), st.text("abc-1", min_size=8))
def test_a_pattern_without_keys_stays(pattern: Any, key: str) -> None:
    assume(key not in dumps(pattern))

    assert redacted_pattern(pattern, lambda each: without(key, each)) == pattern
