"""What can be typed in a chat beside messages, through pipes and at a pseudo-terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from interp import load_run
from interp.history.stores import open_conversation
from tests.interp.cli.process import at, gram
from tests.interp.cli.typing_at import Terminal
from tests.interp.model_server import Answer, ModelServer, tool_calls
from tests.paths import EXAMPLES

HELLO = str(EXAMPLES / "hello_world.gram")
HI = ("c", "sayHello", {"personName": "Al"})


def said(server: ModelServer, request: int = -1) -> list[str]:
    """What one request has of the conversation."""
    return [message["content"] for message in server.requests[request]["messages"][1:]]


@pytest.mark.parametrize("word", ["exit", "quit", "/quit"])
def test_exit_and_quit_leave(model_server: ModelServer, word: str) -> None:
    model_server.will_say("a")

    done = gram("chat", HELLO, stdin=f"one\n{word}\ntwo\n", **at(model_server))

    assert (done.returncode, done.stdout) == (0, "a\n")


def test_undo_takes_the_last_turn_back(model_server: ModelServer, tmp_path: Path) -> None:
    session = tmp_path / "s.gram"
    model_server.will_say("a", "b", "c")
    lines = "one\ntwo\n/undo\nthree\n"

    done = gram("chat", HELLO, "-c", "--record", str(session), stdin=lines, **at(model_server))

    assert '"two" and what followed are taken back' in done.stderr
    assert said(model_server) == ["one", "a", "three"]
    assert [each.content for each in load_run(session).state.context] == ["one", "a", "three", "c"]


def test_undo_takes_back_what_a_session_brought_and_then_nothing(tmp_path: Path) -> None:
    session = ("-c", "--record", str(tmp_path / "s.gram"))
    gram("chat", HELLO, "--offline", *session, stdin="My name is Bob\nhello\n")

    done = gram("chat", HELLO, "--offline", *session, stdin="/undo\n/undo\n/undo\n")

    assert '"hello" and what followed are taken back' in done.stderr
    assert '"My name is Bob" and what followed are taken back' in done.stderr
    assert done.stderr.endswith("nothing has been said yet\n")
    assert not open_conversation(tmp_path / "s.gram", True, None).context


def test_retry_says_the_last_message_again_instead(model_server: ModelServer) -> None:
    model_server.will_say("a", "b", "c")

    done = gram("chat", HELLO, stdin="/retry\none\ntwo\n/retry\n", **at(model_server))

    assert done.stdout == "a\nb\nc\n"
    assert said(model_server) == ["one", "a", "two"]
    assert "nothing has been said yet" in done.stderr


def test_retry_says_a_message_again_that_had_no_answer(model_server: ModelServer) -> None:
    model_server.will_say("a", Answer({"error": {"message": "bad"}}, 400), "b")

    with Terminal("chat", HELLO, **at(model_server)) as terminal:
        for typed, seen in (("one", "a\n"), ("two", "400: bad"), ("/retry", "b\n")):
            terminal.until("> ")
            terminal.type(f"{typed}\n")
            terminal.until(seen)

    assert said(model_server) == ["one", "a", "two"]


def test_reset_leaves_nothing_to_take_back(model_server: ModelServer) -> None:
    model_server.will_say("a")

    done = gram("chat", HELLO, stdin="one\n/reset\n/undo\n", **at(model_server))

    assert done.stderr.endswith("nothing has been said yet\n")


def test_model_shows_and_changes_the_model(model_server: ModelServer) -> None:
    model_server.will_say("a", "b")
    lines = "/model\none\n/model OpenAI/other\ntwo\n/model Nobody/x\n/model x\n/model\n"

    done = gram("chat", HELLO, stdin=lines, **at(model_server))

    assert [body["model"] for body in model_server.requests] == ["gpt-5.6-luna", "other"]
    told = done.stderr.splitlines()
    assert told[:2] == ["the model is OpenAI/gpt-5.6-luna", "the model is OpenAI/other"]
    assert told[2].startswith('unknown provider "Nobody"')
    assert told[-1] == "the model is OpenAI/other"


def test_calls_shows_the_calls_of_the_last_turn_whole(model_server: ModelServer) -> None:
    name = "b" * 2000
    model_server.will_say(tool_calls(("c", "sayHello", {"personName": name})), "done")

    done = gram("chat", HELLO, stdin="/calls\nhi\n/calls\n", **at(model_server))

    assert done.stderr.startswith("no tool was called in the last turn\n")
    assert "in a chat /calls)" in done.stderr
    assert done.stderr.count(f'sayHello(personName: "{name}") -> "Hello, {name}!') == 1


def test_edit_says_an_edited_message_instead(model_server: ModelServer, tmp_path: Path) -> None:
    model_server.will_say("a", "b")
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed s/one/two/ "$1" > "$1.new"; sleep 1.1; mv "$1.new" "$1"\n')
    editor.chmod(0o755)

    with Terminal("chat", HELLO, VISUAL="", EDITOR=str(editor), **at(model_server)) as terminal:
        for typed, seen in (("one", "a\n"), ("/edit", "b\n")):
            terminal.until("> ")
            terminal.type(f"{typed}\n")
            terminal.until(seen)

    assert said(model_server) == ["two"]


def test_an_editor_that_does_not_start_is_told(model_server: ModelServer) -> None:
    with Terminal("chat", HELLO, VISUAL="", EDITOR="/no/editor", **at(model_server)) as terminal:
        terminal.until("> ")
        terminal.type("/edit\n")
        terminal.until("The variable EDITOR names the editor.")
        terminal.until("> ")
    assert "/edit needs a terminal" in gram("chat", HELLO, "--offline", stdin="/edit\n").stderr


# --- at the start


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("Nobody/x", 'unknown provider "Nobody"'),
        ("OpenAI/x", "OPENAI_API_KEY is not set"),
    ],
)
def test_a_model_that_cannot_be_asked_stops_the_chat_at_the_start(model: str, message: str) -> None:
    with Terminal("chat", HELLO, "--model", model) as terminal:
        terminal.until(message)
        assert terminal.leaves() == 4


def test_what_is_gone_on_with_is_told(tmp_path: Path) -> None:
    session = str(tmp_path / "s.gram")
    arguments = ("chat", HELLO, "--offline", "-c", "--record", session)
    first = gram(*arguments, stdin="My name is Bob\n")

    with Terminal(*arguments) as terminal:
        terminal.until(f"Going on with {session}, 2 messages so far.\n  you: My name is Bob\n")
        terminal.until("  hello_world_agent: (rehearsal, no language model) You said: My name")
    assert "Going on" not in first.stderr


# --- typing


PROMPT = "/help lists the commands.\n>"  # the blank behind it is a move of the cursor


def typed(model_server: ModelServer, keys: str, tmp_path: Path) -> str:
    """The message that some keys make at a terminal that can do more than a dumb one."""
    model_server.will_say("answered")
    environment = {"TERM": "xterm", "XDG_STATE_HOME": str(tmp_path)}
    with Terminal("chat", HELLO, **environment, **at(model_server)) as terminal:
        terminal.until(PROMPT)
        terminal.type(keys)
        terminal.until("answered\n>")
        assert terminal.leaves_by("\x04") == 0
    (message,) = said(model_server)
    return message


def test_pasted_lines_are_one_message_and_one_entry_of_the_history(
    model_server: ModelServer, tmp_path: Path
) -> None:
    pasted = "\x1b[200~one\r\ntwo\n\tthree\x1b[201~\r"

    assert typed(model_server, pasted, tmp_path) == "one\ntwo\n\tthree"
    assert "\n+one\n+two\n+\tthree\n" in (tmp_path / "gram/chat_history").read_text("utf-8")
    model_server.requests.clear()
    assert typed(model_server, "\x10\r", tmp_path) == "one\ntwo\n\tthree"


def test_a_message_may_have_several_lines(model_server: ModelServer, tmp_path: Path) -> None:
    assert typed(model_server, "one\x1b\rtwo\\\rthree\r", tmp_path) == "one\ntwo\nthree"


def test_tab_completes_commands(model_server: ModelServer, tmp_path: Path) -> None:
    with Terminal("chat", HELLO, TERM="xterm", **at(model_server)) as terminal:
        terminal.until(PROMPT)
        terminal.type("/to\t\r")
        terminal.until("for the given name\n>")
        terminal.type("/model Offl\trehearsal\r")
        terminal.until("the model is Offline/rehearsal")


def test_ctrl_c_at_a_question_gives_the_turn_up(model_server: ModelServer) -> None:
    model_server.will_say(tool_calls(HI), "fine")

    with Terminal("chat", HELLO, "--approve", "ask", **at(model_server)) as terminal:
        terminal.until("> ")
        terminal.type("one\n")
        terminal.until("never]: ")
        terminal.insist("\x03", "(stopped; the conversation has not changed)")
        terminal.until("> ")
        terminal.type("two\n")
        terminal.until("fine")

    assert said(model_server) == ["two"]
