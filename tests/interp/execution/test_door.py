"""The door: nothing that comes into a run brings a key with it."""

from __future__ import annotations

import asyncio
import json
import logging
import pickle
from pathlib import Path
from typing import Any

import pytest
from attrs import define

import interp
from gram import loads_one
from interp import ScriptedModel, ToolLibrary, run, tool
from interp.execution.handlers import cleaned
from interp.machine import CallFailed, Decided, Event, ModelReplied, Resumed, TimeUp, ToolReturned
from interp.secrets import known_keys
from tests.interp.model_server import ModelServer, tool_calls

KEY = 'sk-0123"456/789abcdef'
AGENT = loads_one("""
[agent:Agent {instruction: "Help customers of lm-studio.", model: "OpenAI/m"} |
  [look:Tool {description: "Adds a customer."} | (x::Any)==>(::Any)]]
""")

TALKER = loads_one('[talker:Agent {instruction: "Talk.", model: "OpenAI/m"}]')


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("SOME_API_KEY", KEY)
    monkeypatch.setenv("OTHER_API_KEY", "customer")
    return KEY


def escaped(text: str) -> str:
    """A text inside JSON, with every character escaped."""
    return "".join(f"\\u{ord(each):04X}" for each in text)


ARGUMENTS = f'{{"{escaped(KEY)}": ["{escaped(KEY)}"]}}'
CALL = interp.ToolCall(KEY, KEY, ARGUMENTS, f'{{"a":{json.dumps(KEY)}}}')
ECHO = f'{{"thought": "{escaped(KEY)}"}}'


@define
class Broken(Exception):  # noqa: N818  # an error as users write it
    """An exception that attrs has made."""

    key: str


BROKEN = Broken(KEY)
EVENTS: list[Event] = [
    ModelReplied(
        (0,),
        interp.Message(interp.AssistantRole, f"it is {KEY}", (CALL,), echo=ECHO),
        finish_reason=KEY,
        served_model=f"m-{KEY}",
        server=f"http://host/{KEY}",
    ),
    ToolReturned((0, 0), json.dumps({KEY: [KEY, json.dumps(KEY)]})),
    ToolReturned((0, 0), f'"{escaped(KEY)}"'),
    CallFailed((0, 0), f"ValueError: {KEY}", ValueError(KEY)),
    Decided((0, 0), False, f"not with {KEY}"),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_no_part_of_an_event_has_a_key(event: Any) -> None:
    clean = cleaned(event, known_keys())
    shown = pickle.dumps(clean).decode(errors="replace").lower()
    for spelled in (KEY, json.dumps(KEY)[1:-1], json.dumps(json.dumps(KEY))[3:-3], escaped(KEY)):
        assert spelled.lower() not in shown
    assert "[redacted]" in shown
    assert clean.at == event.at


def test_json_of_an_event_is_still_json() -> None:
    replied = cleaned(EVENTS[0], known_keys())
    assert isinstance(replied, ModelReplied)
    (call,) = replied.message.tool_calls
    assert json.loads(call.arguments) == {"[redacted]": ["[redacted]"]}
    assert json.loads(call.echo or "") == {"a": "[redacted]"}
    assert json.loads(replied.message.echo or "") == {"thought": "[redacted]"}


def test_an_event_without_a_key_stays_as_it_is() -> None:
    call = interp.ToolCall("1", "look", '{ "x": 1.50 }')
    message = interp.Message(interp.AssistantRole, "the customer", (call,))
    for event in (
        ModelReplied((0,), message, server="http://customer"),
        ToolReturned((0, 0), '{"customer": "lm-studio"}'),
        CallFailed((0, 0), "no customer\x00", BROKEN),
        Decided((0, 0), True),
        TimeUp(),
        Resumed(),
    ):
        clean = cleaned(event, known_keys())
        assert clean == event
        assert getattr(clean, "exception", None) in (None, BROKEN)


# --- in runs


@tool(name="look")
def looking(x: object) -> object:
    """Adds a customer."""
    return x


def answers(said: str) -> list[Any]:
    call = {"role": "assistant", **tool_calls(("1", "look", {"x": said}), content=f"I use {said}.")}
    return [{"choices": [{"message": call}]}, f"The key is {said}, customer!"]


def test_nothing_of_a_run_has_a_key_that_came_in(tmp_path: Path) -> None:
    given: list[Any] = []

    @tool
    def look(x: object, context: interp.ToolContext) -> object:
        """Adds a customer."""
        given.append(x)
        context.report_progress(1, 2, f"at {KEY}")
        return {"key": KEY, KEY: "customer"}

    path = tmp_path / "a.run.gram"
    model = ScriptedModel(answers(KEY))
    library = ToolLibrary.of(look)
    seen = list(interp.stream(AGENT, "I am a customer", library, model=model, record=path))

    recorded = path.read_text(encoding="utf-8")
    for shown in (repr(seen), recorded, repr(model.requests), repr(given)):
        assert KEY[:12] not in shown
        assert escaped(KEY) not in shown
    words = [each for each in seen if isinstance(each, interp.TextDelta) and each.at == (1,)]
    assert "".join(each.text for each in words) == "The key is [redacted], customer!"
    (progress,) = (each for each in seen if isinstance(each, interp.ToolProgress))
    assert progress.message == "at [redacted]"
    assert given == ["[redacted]"]
    assert "Adds a customer." in recorded
    assert "Help customers of lm-studio." in recorded


def test_words_that_are_streamed_without_blocking_have_no_key() -> None:
    async def words() -> str:
        run = interp.astream(TALKER, "hi", model=ScriptedModel([f"it is {KEY}"]))
        return "".join([each.text async for each in run if isinstance(each, interp.TextDelta)])

    assert asyncio.run(words()) == "it is [redacted]"


def test_what_the_user_says_and_writes_is_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "a.run.gram"
    model = ScriptedModel(["fine"])
    begun = interp.begin(TALKER, f"my key is {KEY}", model=model, record=path)
    begun.finish()
    assert model.requests[0].messages[0].content == f"my key is {KEY}"
    assert begun.state.context[0].content == f"my key is {KEY}"


def test_a_tool_that_raises_is_told_of_and_logged_without_the_key(
    caplog: pytest.LogCaptureFixture,
) -> None:
    @tool
    def look(x: object) -> object:
        """Adds a customer."""
        raise ValueError(f"no such key: {KEY}")

    model = ScriptedModel(answers("x"))
    done = run(AGENT, "hi", ToolLibrary.of(look), model=model)

    assert "ValueError: no such key: [redacted]" in str(done.tools_used[0].error)
    assert KEY not in caplog.text
    assert "[redacted]" in caplog.text


def test_what_an_approver_says_has_no_key() -> None:
    model = ScriptedModel(answers("x"))
    library = ToolLibrary.of(looking)
    done = run(
        AGENT, "hi", library, model=model, policy=interp.ask_all, approve=lambda _: f"no {KEY}!"
    )
    assert "no [redacted]!" in str(done.tools_used[0].error)


def test_the_requests_that_are_logged_have_no_key(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "interp"):
        run(TALKER, f"it is {KEY}", model=ScriptedModel([f"it is {KEY}"]))
    assert KEY[:12] not in caplog.text
    assert caplog.text.count("it is [redacted]") == 2


# --- errors


def test_an_error_shows_no_key_and_no_character_that_hides_others() -> None:
    error = interp.AgentError(f"refused\n{KEY}\x1b[2J\u202egnp.exe\u200f\u2066")
    assert str(error) == "refused\n[redacted]\\x1b[2J\\u202egnp.exe\\u200f\\u2066"
    assert KEY not in repr(error)
    example = "it is http://user:password@host"
    assert str(interp.AgentError(example)) == example


def test_a_key_that_was_handed_over_is_known(model_server: ModelServer) -> None:
    model = interp.OpenAIModel(model_server.url, "handed-over-0123456789")
    model_server.will_say("it is handed-over-0123456789")
    assert run(TALKER, "hi", model=model).content == "it is [redacted]"
