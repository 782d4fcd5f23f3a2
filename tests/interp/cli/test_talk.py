"""What ``run`` and ``chat`` share: sessions, what is kept by habit, settings, what is shown."""

from __future__ import annotations

import os
import shlex
import signal
import sqlite3
import stat
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from interp import load_run, open_store
from interp.cli import talk
from tests.interp.cli.process import (
    COMMAND,
    HELLO,
    KEY,
    at,
    forked,
    gram,
    refused,
    relayed,
    without_keys,
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


def test_each_answer_is_kept_at_once(model_server: ModelServer, tmp_path: Path) -> None:
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
def test_no_other_file_is_replaced(tmp_path: Path, content: str, code: int, message: str) -> None:
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


@pytest.mark.parametrize("ending", [">/dev/full", "| true", "2>/dev/full >/dev/full", ">&- 2>&-"])
def test_a_session_is_saved_though_nothing_can_be_printed(
    model_server: ModelServer, tmp_path: Path, ending: str
) -> None:
    session = tmp_path / "talk.gram"
    model_server.will_say(tool_calls(("c", "sayHello", {"personName": "Al"})), "Done.")
    options = ["--debug", "--usage", "-c", "--record", str(session)]
    start = COMMAND if ">&-" in ending else relayed()  # a relay needs all three streams
    command = f"{shlex.join([*start, 'run', HELLO, 'hello', *options])} {ending}"
    how: Any = {"cwd": ROOT, "env": {**without_keys(), **at(model_server)}, "check": False}

    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, **how)

    assert load_run(session).state.context[-1].content == "Done."
    assert (done.stdout, "Traceback" in done.stderr) == ("", False)


# --- sight


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
def test_a_key_is_written_nowhere(model_server: ModelServer, tmp_path: Path, command: str) -> None:
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


def test_a_server_that_dies_is_told_on_a_line_of_its_own(model_server: ModelServer) -> None:
    model_server.will_say(Answer(events=[delta("Hel")], drop=True))
    with Terminal("run", HELLO, "hi", **at(model_server)) as terminal:
        seen = terminal.until("in the middle of its reply")
    assert seen.startswith(f"Hel\nthe connection to {model_server.url} broke")


# --- what is told beside the answers

GONE = Answer({"error": {"message": "no such model"}}, 404)
REFUSAL = {"role": "assistant", "content": None, "refusal": "I will not."}
AS_TEXT = '<tool_call>{"name": "sayHello", "arguments": {}}</tool_call>'
TOLD = {
    "a message that is not UTF-8 is wrong use": (
        [], ["hi\udcff"], 2, "", "the user's message is not UTF-8: no request can carry it\n"),
    "an answer that no terminal has is printed": (["a\ud800b"], ["hi"], 0, "a\ufffdb\n", ""),
    "a refusal is told apart from an answer": (
        [REFUSAL, "Yes."], ["one", "two"], 0, "I will not.\nYes.\n",
        "the model refused: its text is not an answer of the agent\n"),
    "usage is told though a turn fails": (
        ["a", GONE], ["one", "two", "--usage"], 4, "a\n",
        "10 input and 5 output tokens, 15 in all"),
    "a call that was written as text is noted": (
        [AS_TEXT], ["hi"], 0, f"{AS_TEXT}\n", "the model wrote a call of sayHello as text"),
    "the fallback answers and usage says why": (
        [GONE, "Hi"], ["hi", "--fallback", "OpenAI/other", "--usage"], 0, "Hi\n", "no such model"),
    "a fallback without its key is told": (
        ["Hi"], ["hi", "--fallback", "Anthropic/m"], 0, "Hi\n",
        "the fallback Anthropic/m cannot be asked: ANTHROPIC_API_KEY is not set"),
    "a fallback that is no model is one message": (
        [], ["hi", "--fallback", "nobody"], 4, "", "names no provider"),
}  # fmt: skip


@pytest.mark.parametrize(("replies", "words", "code", "out", "told"), TOLD.values(), ids=TOLD)
def test_what_there_is_to_know_of_an_answer_is_told(
    model_server: ModelServer, replies: list[Any], words: list[str], code: int, out: str, told: str
) -> None:
    model_server.will_say(*replies)
    done = gram("run", HELLO, *words, **at(model_server))
    assert (done.returncode, done.stdout) == (code, out)
    assert told in done.stderr


SETTINGS = ("temperature=0.2", "stop=END", 'reasoningEffort="low"', "seed=null")


def test_settings_and_a_server_come_from_the_command_line(model_server: ModelServer) -> None:
    model_server.will_say("a")
    words = [word for each in SETTINGS for word in ("--set", each)]
    done = gram("run", HELLO, "hi", *words, "--model", "Mine/a/b", "--base-url", model_server.url)
    body = model_server.requests[0]
    assert (done.returncode, done.stdout, body["model"]) == (0, "a\n", "a/b")
    assert (body["temperature"], body["stop"], body["reasoning_effort"]) == (0.2, "END", "low")
    assert "seed" not in body


HI = tool_calls(("c", "sayHello", {"personName": "Al"}))
BAD = Answer({"error": {"message": "bad"}}, 400)


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder for what commands keep."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "gram"


def test_what_is_said_at_a_terminal_is_kept_and_gone_on_with(state: Path) -> None:
    with Terminal("run", HELLO, "I am Bob", "--offline") as terminal:
        assert terminal.leaves() == 0
    store = state / "runs.db"
    assert stat.S_IMODE(store.stat().st_mode) == 0o600

    assert gram("run", HELLO, "hello", "--offline", "-c").stdout.startswith("Hello, Bob!")
    with open_store(store) as opened:
        (kept,) = opened.conversations()
        assert len(kept) == 6
        run = next(opened.rows()).id
    assert gram("replay", run).stdout.startswith("Hello, Bob!")


def test_scripts_keep_nothing_unless_they_say_so(state: Path) -> None:
    gram("run", HELLO, "I am Bob", "--offline")
    gram("chat", HELLO, "--offline", stdin="I am Bob\n")
    with Terminal("run", HELLO, "I am Bob", "--offline", "--no-record") as terminal:
        assert terminal.leaves() == 0
    assert not (state / "runs.db").exists()
    gram("run", HELLO, "I am Bob", "--offline", "--conversation", "bob")
    assert (state / "runs.db").exists()


def test_a_habit_that_cannot_be_kept_is_one_warning(state: Path) -> None:
    state.mkdir(parents=True)
    (state / "runs.db").mkdir()
    with Terminal("run", HELLO, "I am Bob", "--offline") as terminal:
        seen = terminal.until("You said: I am Bob")
        assert terminal.leaves() == 0
    assert seen.count("warning: nothing more is kept of this conversation") == 1
    named = gram("run", HELLO, "I am Bob", "--offline", "--record", str(state / "runs.db"))
    assert (named.returncode, named.stdout) == (2, "")


def test_a_store_of_another_program_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "photos.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE photos (id)")
    before = path.read_bytes()
    done = gram("run", HELLO, "hi", "--offline", "--record", str(path))
    refused(done, 2, "photos.db: this is the database of another program")
    assert path.read_bytes() == before


@pytest.mark.parametrize("kept", ["s.gram", "s.db"])
def test_a_turn_that_failed_goes_on(tmp_path: Path, model_server: ModelServer, kept: str) -> None:
    record = ["-c", "--record", str(tmp_path / kept)]
    model_server.will_say(HI, BAD, "one", HI, BAD, "two", HI, BAD, "three", "four")
    options = at(model_server)
    lost = gram("run", HELLO, "hi", **options)
    assert (lost.returncode, "stay in the conversation" in lost.stderr) == (4, False)
    gram("run", HELLO, "first", "--record", str(tmp_path / kept), **options)
    failed = gram("run", HELLO, "hi", *record, **options)
    refused(failed, 4, "the tool calls of this turn stay in the conversation")

    assert gram("run", HELLO, "and?", *record, **options).stdout == "two\n"
    said = [each["content"] for each in model_server.requests[-1]["messages"][1:]]
    assert said == ["first", "one", "hi", None, "Hello, Al! Nice to meet you.", "and?"]

    told = gram("run", HELLO, "hi", *record, **options).stderr
    run = told.split("gram resume ")[1].split()[0].strip("'")
    assert gram("resume", run, **options).stdout == "three\n"
    assert gram("run", HELLO, "on", *record, **options).stdout == "four\n"
    assert model_server.requests[-1]["messages"][-2]["content"] == "three"


@pytest.mark.parametrize("kept", ["s.gram", "s.db"])
def test_a_killed_run_loses_no_call(tmp_path: Path, model_server: ModelServer, kept: str) -> None:
    tools = tmp_path / "t.py"
    tools.write_text("""
import os
from interp import tool

@tool(description="Returns a friendly greeting message for the given name")
def sayHello(personName: str = "world") -> str:
    if personName == "Zoe":
        os.kill(os.getpid(), 9)
    return f"Hello, {personName}"
""")
    zoe = tool_calls(("c", "sayHello", {"personName": "Zoe"}))
    model_server.will_say("one", HI, zoe, "Done.")
    options = ["-c", "--record", str(tmp_path / kept), "--tools", str(tools)]
    gram("run", HELLO, "first", *options[1:], **at(model_server))
    killed = forked("run", HELLO, "hi", *options, **at(model_server))
    assert killed.returncode == -signal.SIGKILL

    assert gram("run", HELLO, "hm?", *options, **at(model_server)).stdout == "Done.\n"

    said = [each["content"] for each in model_server.requests[-1]["messages"]]
    assert said[-4:-2] == ["Hello, Al", None]
    assert "interrupted" in said[-2]


def test_what_is_old_or_too_much_is_removed(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        gram("run", HELLO, "I am Bob", "--offline", "--conversation", name)
    with open_store(state / "runs.db") as store:
        store.database.execute("UPDATE gram_conversations SET changed = 1 WHERE name = 'one'")
        talk.tidy(state / "runs.db")
        assert [each.name for each in store.conversations(before=datetime.now(UTC))] == ["two"]
    monkeypatch.setattr(talk, "LARGEST", 1)

    talk.tidy(state / "runs.db")

    with open_store(state / "runs.db") as store:
        assert not list(store.conversations())
