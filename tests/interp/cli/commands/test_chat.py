"""``gram chat``, through pipes and at a pseudo-terminal."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from interp import load_context, load_run
from tests.interp.cli.process import at, gram, refused
from tests.interp.cli.typing_at import Terminal
from tests.interp.model_server import Answer, ModelServer
from tests.paths import EXAMPLES

HELLO = str(EXAMPLES / "hello_world.gram")
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
    assert "/reset   begins the conversation anew" in done.stderr
    assert 'sayHello (personName::Text {default: "world"})==>(::String)' in done.stderr
    assert "0 input and 0 output tokens, 0 in all" in done.stderr
    assert "write /save FILE for a file of its own" in done.stderr
    assert len(load_context(path)) == 4


def test_reset_begins_anew(model_server: ModelServer) -> None:
    model_server.will_say("a", "b")

    gram("chat", HELLO, stdin="one\n/reset\ntwo\n", **at(model_server))

    said = [message["content"] for message in model_server.requests[1]["messages"][1:]]
    assert said == ["two"]


def test_an_unknown_command_is_not_said_and_two_slashes_are(model_server: ModelServer) -> None:
    model_server.will_say("a")

    done = gram("chat", HELLO, stdin="/hlp\n//etc is a path\n", **at(model_server))

    assert "unknown command /hlp; did you mean /help?" in done.stderr
    assert [body["messages"][1]["content"] for body in model_server.requests] == ["/etc is a path"]


def test_the_program_cannot_come_from_standard_input() -> None:
    done = gram("chat", "-", "--offline", stdin="(a)")
    refused(done, 2, "the program cannot come from standard input")


def test_a_failure_in_a_pipe_ends_with_its_exit_code(model_server: ModelServer) -> None:
    model_server.will_say("a", Answer({"error": {"message": "bad"}}, 400), "never")

    done = gram("chat", HELLO, stdin="one\ntwo\nthree\n", **at(model_server))

    assert (done.returncode, done.stdout) == (4, "a\n")
    assert "400: bad" in done.stderr


def test_what_is_not_utf_8_is_one_message() -> None:
    done = gram("chat", HELLO, "--offline", stdin="hello\udcff\n")
    refused(done, 3, "<stdin>:1:6: error[syntax] byte 0xff is not UTF-8")


def test_a_program_that_cannot_run_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    program = tmp_path / "p.gram"
    program.write_text('[a:Agent {instruction: "x", model: "A/b"} | [t:Tool | (::Text)]]')

    done = gram("chat", str(program))
    refused(done, 3, 'p.gram:1:46: error[missing-description] "t" has no description')


@pytest.mark.parametrize("key", ["\x03", "\x04"])
def test_giving_up_the_question_of_save_keeps_the_conversation(tmp_path: Path, key: str) -> None:
    precious = tmp_path / "precious.gram"
    precious.write_text("(mine)", encoding="utf-8")

    with Terminal("chat", HELLO, "--offline", XDG_STATE_HOME=str(tmp_path)) as terminal:
        terminal.until("> ")
        terminal.type(f"/save {precious}\n")
        terminal.until("[y/N]: ")
        terminal.insist(key, "> ")
        terminal.type("/quit\n")
        assert terminal.leaves() == 0

    assert precious.read_text(encoding="utf-8") == "(mine)"


@pytest.mark.parametrize(("answer", "is_replaced"), [("y", True), ("n", False)])
def test_a_person_is_asked_before_a_file_is_replaced(
    tmp_path: Path, answer: str, is_replaced: bool
) -> None:
    precious = tmp_path / "precious.gram"
    precious.write_text("(mine)")
    with Terminal("chat", HELLO, "--offline", XDG_STATE_HOME=str(tmp_path)) as terminal:
        terminal.until("> ")
        terminal.type(f"/save {precious}\n")
        terminal.until("exists already. Replace it? [y/N]: ")
        terminal.type(f"{answer}\n")
        terminal.until("> ")

    assert (precious.read_text() != "(mine)") == is_replaced


def test_a_pipe_replaces_no_file(tmp_path: Path) -> None:
    precious = tmp_path / "precious.gram"
    precious.write_text("(mine)")

    done = gram("chat", HELLO, "--offline", stdin=f"hello\n/save {precious}\n")

    assert precious.read_text() == "(mine)"
    assert (done.returncode, done.stdout) == (0, "Hello, world! Nice to meet you.\n")
    assert f"{precious} exists already; not replaced" in done.stderr


# --- at a terminal


def test_a_terminal_is_asked_and_told(tmp_path: Path) -> None:
    with Terminal("chat", HELLO, "--offline", XDG_STATE_HOME=str(tmp_path)) as terminal:
        terminal.until("Talking to hello_world_agent; /help lists the commands.")
        terminal.until("> ")
        terminal.type("Hello, I'm Alice!\n")
        terminal.until(GREETED.strip())
        terminal.until("> ")
        assert terminal.leaves_by("\x04") == 0


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
        terminal.until("> ")
        terminal.type("I'm Alicx\x7fe, hello, sk-secret-in-line\n")
        terminal.until("Hello, Alice!")
        terminal.until("> ")
        assert terminal.leaves_by("\x04") == 0
    history = tmp_path / "gram" / "chat_history"
    assert "\n+I'm Alice, hello, sk-secret-in-line\n" in history.read_text()
    assert history.stat().st_mode & 0o777 == 0o600

    with Terminal("chat", HELLO, "--offline", **environment) as terminal:
        terminal.until("> ")
        terminal.type("\x10\n")
        terminal.until("Hello, Alice!")


def test_ctrl_c_gives_a_turn_up_and_keeps_the_conversation(
    model_server: ModelServer, tmp_path: Path
) -> None:
    session = tmp_path / "s.gram"
    model_server.will_say("first", Answer(raw=b"", status=503, headers={"retry-after": "50"}))
    arguments = ["chat", HELLO, "-c", "--record", str(session), "--usage"]
    with Terminal(*arguments, **at(model_server)) as terminal:
        terminal.until("> ")
        terminal.type("one\n")
        terminal.until("first")
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

    assert [each.content for each in load_run(session).state.context] == [
        "one",
        "first",
        "three",
        "third",
    ]


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


def test_a_failure_at_a_terminal_is_told_and_the_chat_goes_on(model_server: ModelServer) -> None:
    model_server.will_say(Answer({"error": {"message": "bad"}}, 400), "fine")
    with Terminal("chat", HELLO, **at(model_server)) as terminal:
        terminal.until("> ")
        terminal.type("one\n")
        terminal.until("400: bad")
        terminal.until("> ")
        terminal.type("two\n")
        terminal.until("fine")

    said = [message["content"] for message in model_server.requests[1]["messages"][1:]]
    assert said == ["two"]


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
