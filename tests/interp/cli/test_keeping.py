"""What is said is kept by habit, and gone on with."""

from __future__ import annotations

import signal
import sqlite3
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from interp import open_store
from interp.cli import talk
from tests.interp.cli.process import HELLO, at, forked, gram, refused
from tests.interp.cli.typing_at import Terminal
from tests.interp.model_server import Answer, ModelServer, tool_calls

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
