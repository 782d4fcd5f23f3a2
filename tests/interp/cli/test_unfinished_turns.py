"""Sessions whose turn did not end: it is kept beside the session, and gone on with."""

from __future__ import annotations

import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from interp import load_context
from tests.interp.cli.process import COMMAND, UNCOMPILED, at, forked as gram, without_keys
from tests.interp.model_server import Answer, ModelServer, tool_calls
from tests.paths import EXAMPLES, ROOT

HELLO = str(EXAMPLES / "hello_world.gram")
HI = tool_calls(("c", "sayHello", {"personName": "Al"}))
BAD = Answer({"error": {"message": "bad"}}, 400)


@pytest.fixture
def session(tmp_path: Path) -> str:
    return str(tmp_path / "s.gram")


def test_a_turn_that_failed_after_a_tool_ran_is_gone_on_with(
    session: str, model_server: ModelServer
) -> None:
    turn = Path(f"{session}.turn.run.gram")
    model_server.will_say("one", HI, BAD, "Hello, Al.", "three")
    gram("run", HELLO, "first", "--session", session, **at(model_server))
    assert not turn.exists()

    failed = gram("run", HELLO, "hi", "--session", session, **at(model_server))
    assert failed.returncode == 4
    assert f"the run is kept in {turn}: gram resume {turn} goes on" in failed.stderr
    assert load_context(session)[-1].content == "Hello, Al! Nice to meet you."

    done = gram("resume", str(turn), **at(model_server))

    assert (done.returncode, done.stdout) == (0, "Hello, Al.\n")
    assert not turn.exists()
    assert [each.content for each in load_context(session)][-4:] == [
        "hi",
        "",
        "Hello, Al! Nice to meet you.",
        "Hello, Al.",
    ]
    assert gram("run", HELLO, "on", "--session", session, **at(model_server)).stdout == "three\n"


def test_the_next_message_says_that_a_turn_is_unfinished_and_goes_on_from_what_it_did(
    session: str, model_server: ModelServer
) -> None:
    turn = f"{session}.turn.run.gram"
    model_server.will_say(HI, BAD, "Again.")
    gram("run", HELLO, "hi", "--session", session, **at(model_server))

    done = gram("run", HELLO, "hm?", "--session", session, **at(model_server))

    assert done.stdout == "Again.\n"
    assert f"the last turn of this conversation is unfinished: gram resume {turn}" in done.stderr
    assert not Path(turn).exists()


def test_a_turn_is_resumed_as_often_as_it_fails(session: str, model_server: ModelServer) -> None:
    turn = f"{session}.turn.run.gram"
    model_server.will_say(HI, BAD, HI, BAD, "Hello, Al.")
    gram("run", HELLO, "hi", "--session", session, **at(model_server))

    failed = gram("resume", turn, **at(model_server))
    assert failed.returncode == 4
    done = gram("resume", turn, **at(model_server))

    assert (done.returncode, done.stdout) == (0, "Hello, Al.\n")
    assert len(load_context(session)) == 6


def test_a_turn_in_which_nothing_happened_leaves_nothing(
    session: str, model_server: ModelServer
) -> None:
    model_server.will_say(BAD, "Hi.")

    assert gram("run", HELLO, "hi", "--session", session, **at(model_server)).returncode == 4

    assert not Path(f"{session}.turn.run.gram").exists()
    assert gram("run", HELLO, "hi", "--session", session, **at(model_server)).stdout == "Hi.\n"


def test_a_killed_process_loses_no_call_of_a_tool(
    session: str, tmp_path: Path, model_server: ModelServer
) -> None:
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
    both = tool_calls(
        ("a", "sayHello", {"personName": "Al"}), ("b", "sayHello", {"personName": "Zoe"})
    )
    model_server.will_say(both, "Done.")

    options = ["--session", session, "--tools", str(tools)]
    killed = gram("run", HELLO, "hi", *options, **at(model_server))
    assert killed.returncode == -signal.SIGKILL
    refused = gram("run", HELLO, "hi", *options, **at(model_server))
    assert refused.returncode == 2
    assert "the last turn of this conversation is unfinished" in refused.stderr
    assert len(model_server.requests) == 1
    tools.write_text(tools.read_text().replace("os.kill(os.getpid(), 9)", "pass"))
    words = ["resume", f"{session}.turn.run.gram", "--tools", str(tools)]
    done = gram(*words, **at(model_server))

    assert done.stdout == "Done.\n"
    assert [each.content for each in load_context(session)][2:4] == ["Hello, Al", "Hello, Zoe"]


def test_a_session_that_went_on_meanwhile_is_not_overwritten(
    session: str, model_server: ModelServer
) -> None:
    turn = Path(f"{session}.turn.run.gram")
    model_server.will_say(HI, BAD, "other")
    gram("run", HELLO, "hi", "--session", session, **at(model_server))
    aside = turn.with_suffix(".aside")
    turn.rename(aside)
    gram("run", HELLO, "bye", "--session", session, **at(model_server))
    aside.rename(turn)
    before = Path(session).read_bytes()

    done = gram("resume", str(turn), **at(model_server))

    assert done.returncode == 2
    assert "the conversation has gone on since this turn was left" in done.stderr
    assert Path(session).read_bytes() == before
    assert turn.exists()


def test_a_session_that_cannot_be_saved_keeps_its_turn(
    session: str, model_server: ModelServer
) -> None:
    model_server.will_say("A long answer. " * 200)
    limit = "ulimit -f 8; "  # in blocks of 512 or 1024 bytes: room for the run alone
    line = "x" * 2000
    command = [*COMMAND, "run", HELLO, line, "--session", session]
    Path(session).write_text("// " + "c" * 20_000 + "\n[:Conversation]\n")

    failed = subprocess.run(
        ["bash", "-c", limit + '"$@"', "bash", *command],
        cwd=ROOT,
        env={**without_keys(), **at(model_server), **UNCOMPILED},
        capture_output=True,
        text=True,
        check=False,
    )

    turn = f"{session}.turn.run.gram"
    assert failed.stdout.startswith("A long answer.")
    assert f"gram resume {turn} goes on" in failed.stderr
    done = gram("resume", turn)
    assert done.stdout.startswith("A long answer.")
    assert load_context(session)[-1].content.startswith("A long answer.")
    assert not Path(turn).exists()


def test_the_turn_of_a_chat_is_removed_with_each_answer_and_each_failure(
    session: str, model_server: ModelServer
) -> None:
    model_server.will_say("one", HI, BAD)

    gram("chat", HELLO, "--session", session, stdin="hi\nho\n", **at(model_server))

    assert not Path(f"{session}.turn.run.gram").exists()
    assert [each.content for each in load_context(session)][:3] == ["hi", "one", "ho"]


def test_a_second_process_is_told_while_a_turn_is_resumed(
    session: str, tmp_path: Path, model_server: ModelServer
) -> None:
    model_server.will_say(HI, BAD)
    gram("run", HELLO, "hi", "--session", session, **at(model_server))
    tools = tmp_path / "t.py"
    turn = f"{session}.turn.run.gram"
    model_server.will_say(HI, "Done.")
    tools.write_text(f"""
import subprocess, sys
from interp import tool

@tool(description="Returns a friendly greeting message for the given name")
def sayHello(personName: str = "world") -> str:
    command = [sys.executable, "-c", "from interp.cli import main; main()"]
    for words in (["resume", {turn!r}], ["run", {HELLO!r}, "x", "--session", {session!r}]):
        done = subprocess.run([*command, *words], capture_output=True, text=True)
        print(done.returncode, done.stderr, file=sys.stderr)
    return "told"
""")

    done = gram("resume", turn, "--tools", str(tools), "--limit", "tool_seconds=60",
                **at(model_server))  # fmt: skip

    assert done.stdout == "Done.\n"
    assert done.stderr.count("in use by another gram process") == 2


@pytest.mark.parametrize("name", ["other.gram", ".turn.run.gram", "t.gram.turn.run.gram"])
def test_the_session_of_a_turn_is_beside_it_by_its_name(
    session: str, tmp_path: Path, model_server: ModelServer, name: str
) -> None:
    model_server.will_say(HI, BAD, "Hello, Al.")
    gram("run", HELLO, "hi", "--session", session, **at(model_server))
    turn = tmp_path / "inside" / name
    turn.parent.mkdir()
    shutil.copy(f"{session}.turn.run.gram", turn)
    before = {*tmp_path.rglob("*")}

    done = gram("resume", str(turn), **at(model_server))

    assert done.stdout == "Hello, Al.\n"
    added = {*tmp_path.rglob("*")} - before
    assert added == ({turn.parent / "t.gram"} if name == "t.gram.turn.run.gram" else set())


def test_a_turn_that_was_killed_before_its_first_entry_is_forgotten(
    session: str, model_server: ModelServer
) -> None:
    turn = Path(f"{session}.turn.run.gram")
    turn.touch()
    model_server.will_say("one")

    resumed = gram("resume", str(turn), **at(model_server))
    done = gram("run", HELLO, "first", "--session", session, **at(model_server))

    assert resumed.returncode == 2
    assert "nothing of a run had begun" in resumed.stderr
    assert (done.returncode, done.stdout, turn.exists()) == (0, "one\n", False)
