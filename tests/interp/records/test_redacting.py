"""What is written of runs has no keys, and can still be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, strategies as st

from gram import dumps, loads_one
from interp import (
    ApprovalPolicy,
    ApprovalRule,
    ReplayError,
    ScriptedModel,
    ToolLibrary,
    load_run,
    recorded,
    run,
    tool,
)
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


PICKY = f"""
[picky:Agent {{instruction: "Use it.", model: "A/b"}} |
  [:Answer:Object | (token::Text {{pattern: "^{KEY[:3]}"}})],
  [use:Tool {{description: "Uses a token."}} |
    (token::Text {{pattern: "^{KEY[:3]}"}})==>(n::Integer {{default: 3}})==>
    (::Text {{pattern: "^s"}})],
  [cut:Tool {{description: "Cuts a text."}} |
    (t::Text {{maxLength: 12}})==>(::Text {{maxLength: 12}})]]
"""


@pytest.mark.parametrize("rule", ["allow", "ask", "deny"])
def test_what_was_checked_with_a_key_is_taken_the_same_without_it(
    rule: str, tmp_path: Path
) -> None:
    """What has no key fits no more, or fits where it did not: it is not checked again."""
    hidden, path, agent = hide(KEY), tmp_path / "run.gram", loads_one(PICKY)
    given = [
        ("use", "token", KEY),
        ("use", "token", f"no {KEY}"),
        ("cut", "t", KEY),
        ("cut", "t", ""),
    ]
    calls = [
        {"id": str(n), "function": {"name": name, "arguments": json.dumps({key: value})}}
        for n, (name, key, value) in enumerate(given)
    ]
    answers = [json.dumps({"token": text}) for text in (f"no {KEY}", KEY)]
    replies: list[Any] = [{"role": "assistant", "tool_calls": calls}, *answers]
    policy = ApprovalPolicy([ApprovalRule(rule, "use", {"token": "sk-*"})], "allow")
    options: Any = {"policy": policy, "match": "name", "approve": lambda ask: True}

    @tool
    def use(token: str, n: int = 3) -> str:
        """Uses a token."""
        return KEY

    @tool
    def cut(t: str) -> str:
        """Cuts a text."""
        return KEY

    library = ToolLibrary.of([use, cut])
    done = run(agent, "go", library, model=ScriptedModel(replies), record=path, **options)

    kept = load_run(path)
    kept.check()
    assert [str(each.error) for each in kept.tools_used] == [
        str(each.error).replace(KEY, REDACTED) for each in done.tools_used
    ]
    assert run(agent, "go", library, world=recorded(path), **options).content == kept.content
    lines = path.read_text("utf-8").splitlines(keepends=True)
    for whole in range(1, len(lines)):
        path.write_text("".join(lines[:whole]), "utf-8")
        load_run(path).check()
    assert hidden.values == {KEY}


def test_an_event_without_a_key_has_no_verdict(tmp_path: Path) -> None:
    hidden, path = hide(KEY), tmp_path / "run.gram"
    agent = loads_one('[a:Agent {instruction: "x", model: "A/b"} | [:Answer:Integer]]')
    run(agent, "go", model=ScriptedModel(["x", "1"]), record=path)

    assert hidden.values
    assert "verdict" not in path.read_text("utf-8")


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
