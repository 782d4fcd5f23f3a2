"""The options that ``run`` and ``chat`` share: sessions, settings, providers, what is shown."""

from __future__ import annotations

import json
import os
import shlex
import stat
import subprocess
from pathlib import Path

import pytest

from interp import load_run
from tests.interp.cli.process import (
    COMMAND,
    HELLO,
    KEY,
    at,
    gram,
    refused,
    relayed,
    without_keys,
    written,
)
from tests.interp.cli.typing_at import Terminal
from tests.interp.model_server import Answer, ModelServer, delta, tool_calls
from tests.paths import EXAMPLES, ROOT

# --- sessions


def test_a_session_is_begun_saved_and_gone_on_with(tmp_path: Path) -> None:
    session = tmp_path / "s.gram"
    session.touch()  # an empty file begins one

    words = ("--offline", "-c", "--record", str(session))
    program = (EXAMPLES / "hello_world.gram").read_text()
    first = gram("run", "-", "Hello, I'm Bob", *words, stdin=program)
    done = gram("run", HELLO, "hello again", *words)

    assert first.stdout == done.stdout == "Hello, Bob! Nice to meet you.\n"
    assert len(load_run(session).state.context) == 8


def test_each_answer_is_kept_before_the_next_message(
    model_server: ModelServer, tmp_path: Path
) -> None:
    session = tmp_path / "s.gram"
    model_server.will_say("a", Answer({"error": {"message": "bad"}}, 400))

    done = gram("run", HELLO, "one", "two", "-c", "--record", str(session), **at(model_server))

    assert done.returncode == 4
    assert [message.content for message in load_run(session).state.context] == ["one", "a", "two"]


@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        ("(a)", 3, "s.gram:1:2: error[no-run] this is not the record of a run"),
        ("[:Conversation", 3, "error[syntax] unexpected end of the text"),
    ],
)
def test_a_session_that_is_no_conversation_is_not_overwritten(
    tmp_path: Path, content: str, code: int, message: str
) -> None:
    session = tmp_path / "s.gram"
    session.write_text(content)

    refused(gram("run", HELLO, "hi", "--offline", "-c", "--record", str(session)), code, message)
    assert session.read_text() == content


@pytest.mark.parametrize("name", ["x" * 256, "pipe", ".", "no/s.gram", "loop"])
def test_a_session_that_cannot_be_written_is_refused_before_the_model_is_asked(
    tmp_path: Path, model_server: ModelServer, name: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")

    done = gram("run", HELLO, "hello", "-c", "--record", str(tmp_path / name), **at(model_server))

    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert model_server.requests == []


def test_a_session_is_for_its_owner_alone_and_keeps_its_comments(tmp_path: Path) -> None:
    session = tmp_path / "talk.gram"
    gram("run", HELLO, "hello", "--offline", "-c", "--record", str(session))
    assert stat.S_IMODE(session.stat().st_mode) == 0o600
    session.write_text("// my notes\n" + session.read_text("utf-8"), encoding="utf-8")

    gram("run", HELLO, "hello again", "--offline", "-c", "--record", str(session))

    assert session.read_text("utf-8").startswith("// my notes\n")
    assert len(load_run(session).state.context) > 4


@pytest.mark.parametrize("ending", [">/dev/full", "| true"])
def test_the_session_is_saved_although_the_answer_cannot_be_printed(
    tmp_path: Path, ending: str
) -> None:
    session = tmp_path / "talk.gram"
    command = shlex.join(
        relayed("run", HELLO, "hello", "--offline", "-c", "--record", str(session))
    )

    done = subprocess.run(
        ["sh", "-c", f"{command} {ending}"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert load_run(session).state.context[-1].content.startswith("Hello")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("ending", ["2>/dev/full >/dev/full", ">&- 2>&-"])
def test_the_session_is_saved_although_nothing_can_be_told(
    model_server: ModelServer, tmp_path: Path, ending: str
) -> None:
    session = tmp_path / "talk.gram"
    model_server.will_say(tool_calls(("c", "sayHello", {"personName": "Al"})), "Done.")
    options = ["--debug", "--usage", "-c", "--record", str(session)]
    start = COMMAND if ">&-" in ending else relayed()  # a relay needs all three streams
    command = shlex.join([*start, "run", HELLO, "hello", *options])

    done = subprocess.run(
        ["sh", "-c", f"{command} {ending}"],
        cwd=ROOT,
        env={**without_keys(), **at(model_server)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert load_run(session).state.context[-1].content == "Done."
    assert done.stdout == ""


def test_a_message_that_is_not_utf_8_is_wrong_use() -> None:
    done = gram("run", HELLO, "hi\udcff", "--offline")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "the user's message is not UTF-8: no request can carry it\n"


def test_an_answer_that_no_terminal_has_is_printed_all_the_same(model_server: ModelServer) -> None:
    model_server.will_say("a\ud800b")

    done = gram("run", HELLO, "hi", **at(model_server))

    assert (done.returncode, done.stdout) == (0, "a\ufffdb\n")


# --- settings and providers


def test_a_refusal_is_told_apart_from_an_answer(model_server: ModelServer) -> None:
    model_server.will_say({"role": "assistant", "content": None, "refusal": "I will not."}, "Yes.")

    done = gram("run", HELLO, "one", "two", **at(model_server))

    assert (done.returncode, done.stdout) == (0, "I will not.\nYes.\n")
    assert done.stderr == "the model refused: its text is not an answer of the agent\n"


def test_settings_come_from_the_command_line(model_server: ModelServer) -> None:
    model_server.will_say("a")

    gram(
        "run", HELLO, "hi", "--set", "temperature=0.2", "--set", "stop=END",
        "--set", 'reasoningEffort="low"', "--set", "seed=null", **at(model_server),
    )  # fmt: skip

    body = model_server.requests[0]
    assert (body["temperature"], body["stop"], body["reasoning_effort"]) == (0.2, "END", "low")
    assert "seed" not in body


def test_any_compatible_server_can_be_named(model_server: ModelServer) -> None:
    model_server.will_say("a")

    done = gram("run", HELLO, "hi", "--model", "Mine/a/b", "--base-url", model_server.url)

    assert (done.returncode, done.stdout) == (0, "a\n")
    assert model_server.requests[0]["model"] == "a/b"


# --- programs


PROGRAM = """
{title: "Two agents", version: 2}
[sayHello:Tool {description: "Returns a friendly greeting message for the given name"} |
  (personName::Text {default: "world"})==>(::String)]
[first:Agent {instruction: "one", model: "OpenAI/m"} | sayHello]
[second:Agent {instruction: "two", model: "OpenAI/m"} | sayHello]
"""


@pytest.mark.parametrize(("agent", "instruction"), [("first", "one"), ("second", "two")])
def test_agents_of_one_program_share_their_tools(
    model_server: ModelServer, tmp_path: Path, agent: str, instruction: str
) -> None:
    program = written(tmp_path / "p.gram", PROGRAM)
    model_server.will_say(tool_calls(("c", "sayHello", {"personName": "Al"})), "done")

    done = gram("run", program, "hi", "--agent", agent, **at(model_server))

    body = model_server.requests[0]
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert body["messages"][0]["content"] == instruction
    assert body["tools"][0]["function"]["name"] == "sayHello"
    assert 'sayHello(personName: "Al")' in done.stderr


def test_an_answer_of_a_declared_type_is_printed_as_json(tmp_path: Path) -> None:
    program = tmp_path / "p.gram"
    program.write_text(
        '[a:Agent {instruction: "x", model: "OpenAI/m"} | [:Answer:Object | (name::Text)]]'
    )

    done = gram("run", str(program), "My name is Bob", "--offline")

    assert json.loads(done.stdout) == {"name": "Bob"}


# --- sight


def test_usage_is_told_on_standard_error_even_when_a_turn_fails(model_server: ModelServer) -> None:
    model_server.will_say("a", Answer({"error": {"message": "bad"}}, 400))

    done = gram("run", HELLO, "one", "two", "--usage", **at(model_server))

    assert done.stdout == "a\n"
    assert "10 input and 5 output tokens, 15 in all" in done.stderr


def test_debug_shows_what_is_said_to_models_and_tools(model_server: ModelServer) -> None:
    model_server.will_say(tool_calls(("c", "sayHello", {"personName": "Al"})), "done")

    done = gram("run", HELLO, "hi", "--debug", **at(model_server))

    assert done.stdout == "done\n"
    assert 'interp.model: request to OpenAI/gpt-5.6-luna {"messages": ' in done.stderr
    assert 'interp.tools: call sayHello {"personName":"Al"}' in done.stderr
    assert 'interp.model: reply (10+5 tokens) {"content": ' in done.stderr
    model_server.will_say("done")
    assert gram("run", HELLO, "hi", **at(model_server)).stderr == ""


@pytest.mark.parametrize("command", ["run", "chat"])
def test_a_known_key_appears_in_no_output_and_no_file(
    model_server: ModelServer, tmp_path: Path, command: str
) -> None:
    program = tmp_path / "p.gram"
    program.write_text((EXAMPLES / "hello_world.gram").read_text())
    session, state = tmp_path / "s.gram", tmp_path / "state"
    model_server.will_say(
        tool_calls(("c", "sayHello", {"personName": KEY})),
        f"Your key is {KEY}.",
        Answer({"error": {"message": f"Incorrect API key provided: {KEY}"}}, 401),
    )
    said = ["my key is mine", "again"]

    done = gram(
        command, str(program), *(said if command == "run" else []),
        "--debug", "--usage", "-c", "--record", str(session), stdin="\n".join(said),
        XDG_STATE_HOME=str(state), **at(model_server),
    )  # fmt: skip

    written = [path for path in tmp_path.rglob("*") if path.is_file() and path != program]
    assert done.returncode == 4
    assert done.stdout == "Your key is [redacted].\n"
    assert "refused the key (401): Incorrect API key provided: [redacted]" in done.stderr
    assert KEY not in done.stdout + done.stderr
    assert session in written
    assert not any(KEY in path.read_text() for path in written)
    assert model_server.headers[0]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", HELLO, "hi", "--set", f"temperature={KEY}"],
        ["run", HELLO, "hi", "--model", KEY],
        ["run", HELLO, "hi", "--agent", KEY],
        ["run", KEY, "hi"],
        ["run", HELLO, "hi", "-c", "--record", f"{KEY}/s.gram", "--offline"],
    ],
)
def test_a_key_in_the_wrong_place_is_not_repeated(arguments: list[str]) -> None:
    done = gram(*arguments, OPENAI_API_KEY=KEY)

    assert done.returncode in (2, 4)
    assert "[redacted]" in done.stderr
    assert KEY not in done.stderr


def test_a_server_that_dies_in_the_middle_is_told_on_a_line_of_its_own(
    model_server: ModelServer,
) -> None:
    model_server.will_say(Answer(events=[delta("Hel")], drop=True))

    with Terminal("run", HELLO, "hi", **at(model_server)) as terminal:
        seen = terminal.until("in the middle of its reply")

    assert seen.startswith(f"Hel\nthe connection to {model_server.url} broke")


def test_a_call_that_was_written_as_text_is_noted(model_server: ModelServer) -> None:
    written = '<tool_call>{"name": "sayHello", "arguments": {}}</tool_call>'
    model_server.will_say(written)

    done = gram("run", HELLO, "hi", **at(model_server))

    assert done.stdout == f"{written}\n"
    assert "the model wrote a call of sayHello as text" in done.stderr


# --- another model where one cannot be asked


GONE = Answer({"error": {"message": "no such model"}}, 404)


def test_the_fallback_answers_and_usage_says_why(model_server: ModelServer) -> None:
    model_server.will_say(GONE, "Hello!")

    done = gram("run", HELLO, "hi", "--fallback", "OpenAI/other", "--usage", **at(model_server))

    assert done.returncode == 0
    assert done.stdout == "Hello!\n"
    assert [request["model"] for request in model_server.requests][1] == "other"
    assert "gave no reply (" in done.stderr
    assert "no such model" in done.stderr


def test_a_fallback_without_its_key_is_told(model_server: ModelServer) -> None:
    model_server.will_say("Hello!")

    done = gram("run", HELLO, "hi", "--fallback", "Anthropic/m", **at(model_server))

    assert done.stdout == "Hello!\n"
    assert "the fallback Anthropic/m cannot be asked: ANTHROPIC_API_KEY is not set" in done.stderr


def test_a_fallback_that_is_no_model_is_one_message(model_server: ModelServer) -> None:
    done = gram("run", HELLO, "hi", "--fallback", "nobody", **at(model_server))
    refused(done, 4, "names no provider")
