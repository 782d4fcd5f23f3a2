"""``gram chat``, through pipes and at a pseudo-terminal."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from interp import load_context, load_run
from interp.history.stores import open_conversation
from tests.interp.cli.process import HELLO, at, gram, has, refused, written
from tests.interp.cli.typing_at import Terminal
from tests.interp.model_server import Answer, ModelServer, tool_calls

GREETED = "Hello, Alice! Nice to meet you.\n"


# --- through pipes


def test_each_line_is_a_message_and_only_answers_are_on_stdout() -> None:
    done = gram("chat", HELLO, "--offline", stdin="My name is Bob\n\n  \noh, hello by the way")
    assert done.returncode == 0
    assert done.stdout.splitlines()[1:] == ["Hello, Bob! Nice to meet you."]
    assert done.stderr == 'sayHello(personName: "Bob") -> "Hello, Bob! Nice to meet you."\n'


def test_commands_work_in_a_pipe_and_quit_leaves(tmp_path: Path) -> None:
    path = tmp_path / "c.gram"
    lines = f"/help\n/tools\nI'm Alice, hello\n/usage\n/save {path}\n/reset\n/save\n/quit\nhello\n"

    done = gram("chat", HELLO, "--offline", stdin=lines)

    assert (done.returncode, done.stdout) == (0, GREETED)
    has(
        done.stderr,
        "/reset   Begin the conversation anew.",
        "0 input and 0 output tokens, 0 in all",
    )
    has(
        done.stderr,
        "write /save FILE for a file of its own",
        'sayHello (personName::Text {default: "',
    )
    assert len(load_context(path)) == 4


def test_reset_begins_another_conversation_of_the_store(tmp_path: Path) -> None:
    options = ("--record", str(tmp_path / "runs.db"))
    done = gram("chat", HELLO, "--offline", *options, stdin="hello\n/reset\nhello\n")
    assert (done.returncode, done.stdout.count("Hello")) == (0, 2), done.stderr
    listed = gram("conversations", "list", *options).stdout
    assert len(listed.splitlines()) == 2


def test_a_program_that_cannot_run_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    program = '[a:Agent {instruction: "x", model: "A/b"} | [t:Tool | (::Text)]]'
    done = gram("chat", written(tmp_path / "p.gram", program))
    refused(done, 3, 'p.gram:1:46: error[missing-description] "t" has no description')


@pytest.mark.parametrize(
    ("key", "is_replaced"), [("y\n", True), ("n\n", False), ("\x03", False), ("\x04", False)]
)
def test_a_file_is_replaced_by_a_yes_alone(tmp_path: Path, key: str, is_replaced: bool) -> None:
    precious = Path(written(tmp_path / "precious.gram", "(mine)"))
    with Terminal("chat", HELLO, "--offline", XDG_STATE_HOME=str(tmp_path)) as terminal:
        terminal.say(f"/save {precious}", "exists already. Replace it? [y/N]: ")
        terminal.insist(key, "> ")
        terminal.type("/quit\n")
        assert terminal.leaves() == 0
    assert (precious.read_text() != "(mine)") == is_replaced


def test_a_pipe_replaces_no_file(tmp_path: Path) -> None:
    precious = Path(written(tmp_path / "precious.gram", "(mine)"))
    done = gram("chat", HELLO, "--offline", stdin=f"hello\n/save {precious}\n")
    assert precious.read_text() == "(mine)"
    assert (done.returncode, done.stdout) == (0, "Hello, world! Nice to meet you.\n")
    assert f"{precious} exists already; not replaced" in done.stderr


LONG = "b" * 2000
BAD = Answer({"error": {"message": "bad"}}, 400)
PIPED: dict[str, tuple[list[Any], str, int, str, list[str], list[str]]] = {
    "/reset begins anew": (
        ["a", "b"], "one\n/reset\n/undo\ntwo\n", 0, "a\nb\n",
        ["nothing has been said yet\n"], ["two"]),
    "an unknown command is not said, and two slashes are": (
        ["a"], "/hlp\n//etc is a path\n", 0, "a\n", ["unknown command /hlp; did you mean /help?"],
        ["/etc is a path"]),
    "a failure in a pipe ends with its exit code": (
        ["a", BAD, "never"], "one\ntwo\nthree\n", 4, "a\n", ["400: bad"], ["one", "a", "two"]),
    "what is not UTF-8 is one message": (
        [], "hello\udcff\n", 3, "", ["<stdin>:1:6: error[syntax] byte 0xff is not UTF-8"], []),
    "exit leaves": (["a"], "one\nexit\ntwo\n", 0, "a\n", [], ["one"]),
    "/quit leaves": (["a"], "one\n/quit\ntwo\n", 0, "a\n", [], ["one"]),
    "/retry says the last message again instead": (
        ["a", "b", "c"], "/retry\none\ntwo\n/retry\n", 0, "a\nb\nc\n",
        ["nothing has been said yet"],
        ["one", "a", "two"]),
    "/calls shows the calls of the last turn whole": (
        [tool_calls(("c", "sayHello", {"personName": LONG})), "done"], "/calls\nhi\n/calls\n", 0,
        "done\n", ["no tool was called in the last turn\n", "in a chat /calls)",
        f'sayHello(personName: "{LONG}") -> "Hello, {LONG}!'], []),
    "/model shows and changes the model": (
        ["a", "b"], "/model\none\n/model OpenAI/other\ntwo\n/model Nobody/x\n/model x\n/model\n", 0,
        "a\nb\n", ["the model is OpenAI/gpt-5.6-luna\nthe model is OpenAI/other\nunknown provider "
        '"Nobody"', "the model is OpenAI/other\n"], ["one", "a", "two"]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("replies", "lines", "code", "out", "told", "asked"), PIPED.values(), ids=PIPED
)
def test_lines_of_a_pipe_are_messages_and_commands(
    model_server: ModelServer,
    replies: list[Any],
    lines: str,
    code: int,
    out: str,
    told: list[str],
    asked: list[str],
) -> None:
    model_server.will_say(*replies)
    done = gram("chat", HELLO, stdin=lines, **at(model_server))
    assert (done.returncode, done.stdout) == (code, out)
    assert [each for each in told if each not in done.stderr] == []
    assert not asked or said(model_server) == asked
    if "/model" in lines:
        assert [each["model"] for each in model_server.requests] == ["gpt-5.6-luna", "other"]


# --- at a terminal


def test_a_script_answers_without_a_key_and_model_says_so(tmp_path: Path) -> None:
    script = written(tmp_path / "lines.json", '["one"]')
    done = gram("chat", HELLO, "--script", script, stdin="hello\n/model\n", OPENAI_API_KEY="")
    assert (done.returncode, done.stdout) == (0, "one\n")
    assert "the model is the script" in done.stderr


def test_the_prompt_stays_out_of_redirected_answers(tmp_path: Path) -> None:
    answers = tmp_path / "answers"
    with Terminal("chat", HELLO, "--offline", answers=answers) as terminal:
        terminal.until("> ")
        terminal.type("Hello, I'm Alice!\n")
        terminal.until("> ")
        terminal.type("/quit\n")
        assert terminal.leaves() == 0
    assert answers.read_text() == GREETED


def test_lines_are_edited_and_remembered(tmp_path: Path) -> None:
    environment = {"XDG_STATE_HOME": str(tmp_path), "OPENAI_API_KEY": "sk-secret-in-line"}
    with Terminal("chat", HELLO, "--offline", **environment) as terminal:
        terminal.until("Talking to hello_world_agent; /help lists the commands.")
        terminal.say("I'm Alicx\x7fe, hello, sk-secret-in-line", "Hello, Alice!")
        terminal.until("> ")
        assert terminal.leaves_by("\x04") == 0
    history = tmp_path / "gram" / "chat_history"
    assert "\n+I'm Alice, hello, sk-secret-in-line\n" in history.read_text()
    assert history.stat().st_mode & 0o777 == 0o600

    with Terminal("chat", HELLO, "--offline", **environment) as terminal:
        terminal.say("\x10", "Hello, Alice!")


def test_ctrl_c_gives_a_turn_up_and_keeps_others(model_server: ModelServer, tmp_path: Path) -> None:
    session = tmp_path / "s.gram"
    model_server.will_say("first", Answer(raw=b"", status=503, headers={"retry-after": "50"}))
    arguments = ["chat", HELLO, "-c", "--record", str(session), "--usage"]
    with Terminal(*arguments, **at(model_server)) as terminal:
        terminal.say("one", "first")
        terminal.until("> ")
        terminal.type("two\n")
        while len(model_server.requests) < 2:
            time.sleep(0.01)
        time.sleep(0.3)  # the answer has come, and the wait before the next attempt has begun
        terminal.insist("\x03", "(stopped; the conversation has not changed)")
        terminal.until("> ")
        model_server.will_say("third")
        terminal.type("three\n")
        terminal.until("third")
        terminal.until("> ")
        terminal.insist("\x04", "20 input and 10 output tokens, 30 in all")
        assert terminal.leaves() == 0

    kept = [each.content for each in load_run(session).state.context]
    assert kept == ["one", "first", "three", "third"]


def test_ctrl_c_at_the_prompt_clears_the_line(model_server: ModelServer) -> None:
    model_server.will_say("hello")
    with Terminal("chat", HELLO, **at(model_server)) as terminal:
        terminal.until("> ")
        terminal.type("half a li")
        terminal.until("half a li")
        terminal.insist("\x03", "> ")
        terminal.type("whole\n")
        terminal.until("hello")

    assert model_server.requests[0]["messages"][1]["content"] == "whole"


def test_reload_takes_a_changed_program_at_the_next_message(tmp_path: Path) -> None:
    program = tmp_path / "a.gram"
    text = Path(HELLO).read_text()
    program.write_text(text)
    with Terminal("chat", str(program), "--offline", "--reload") as terminal:
        terminal.until("> ")
        program.write_text(text.replace("model:", "mode:"))
        terminal.type("Hello, I'm Alice!\n")
        terminal.until("the changed program is not taken: ")
        terminal.until("missing-model")
        terminal.until("Hello, Alice!")
        terminal.until("> ")
        program.write_text(text.replace("hello_world_agent", "host"))
        terminal.type("Hello, I'm Bob!\n")
        terminal.until("the changed program is taken")
        terminal.until("Hello, Bob!")
        assert terminal.leaves_by("\x04") == 0


HI = ("c", "sayHello", {"personName": "Al"})


def said(server: ModelServer, request: int = -1) -> list[str]:
    """What one request has of the conversation."""
    return [message["content"] for message in server.requests[request]["messages"][1:]]


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
    for message in ("hello", "My name is Bob"):
        assert f'"{message}" and what followed are taken back' in done.stderr
    assert done.stderr.endswith("nothing has been said yet\n")
    assert not open_conversation(tmp_path / "s.gram", True, None).context


def test_nobody_said_what_corrected_an_answer(model_server: ModelServer, tmp_path: Path) -> None:
    program, kept = tmp_path / "a.gram", ("-c", "--record", str(tmp_path / "s.gram"))
    program.write_text('[a:Agent {instruction: "x", model: "OpenAI/m"} | [:Answer:Integer]]')
    model_server.will_say("many", "3")
    gram("run", str(program), "How many?", *kept, **at(model_server))
    done = gram("chat", str(program), *kept, stdin="/undo\n/undo\n", **at(model_server))
    has(done.stderr, "  you: How many?\n", '"How many?" and what followed are taken back')
    assert done.stderr.endswith("nothing has been said yet\n")


def test_retry_says_a_message_again_that_had_no_answer(model_server: ModelServer) -> None:
    model_server.will_say("a", BAD, "b")
    with Terminal("chat", HELLO, **at(model_server)) as terminal:
        for typed, seen in (("one", "a\n"), ("two", "400: bad"), ("/retry", "b\n")):
            terminal.say(typed, seen)
    assert said(model_server) == ["one", "a", "two"]


def test_edit_says_an_edited_message_instead(model_server: ModelServer, tmp_path: Path) -> None:
    model_server.will_say("a", "b")
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed s/one/two/ "$1" > "$1.new"; mv "$1.new" "$1"\n')
    editor.chmod(0o755)
    with Terminal("chat", HELLO, VISUAL="", EDITOR=str(editor), **at(model_server)) as terminal:
        for typed, seen in (("one", "a\n"), ("/edit", "b\n")):
            terminal.say(typed, seen)
    assert said(model_server) == ["two"]


def test_an_editor_that_does_not_start_is_told(model_server: ModelServer) -> None:
    with Terminal("chat", HELLO, VISUAL="", EDITOR="/no/editor", **at(model_server)) as terminal:
        terminal.say("/edit", "The variable EDITOR names the editor.")
        terminal.until("> ")
    assert "/edit needs a terminal" in gram("chat", HELLO, "--offline", stdin="/edit\n").stderr


# --- at the start


@pytest.mark.parametrize(
    ("model", "message"),
    [("Nobody/x", 'unknown provider "Nobody"'), ("OpenAI/x", "OPENAI_API_KEY is not set")],
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


def test_pasted_lines_are_one_message_and_entry(model_server: ModelServer, tmp_path: Path) -> None:
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
        terminal.say("one", "never]: ")
        terminal.insist("\x03", "(stopped; the conversation has not changed)")
        terminal.say("two", "fine")
    assert said(model_server) == ["two"]
