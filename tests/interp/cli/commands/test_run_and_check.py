"""``gram run`` and ``gram check``."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.interp.cli.process import HELLO, at, gram, printed, refused, rows, written
from tests.interp.cli.typing_at import Terminal
from tests.interp.model_server import Answer, ModelServer, completion, tool_calls


def test_a_terminal_shows_an_answer_as_it_comes(model_server: ModelServer, tmp_path: Path) -> None:
    model_server.will_say(
        tool_calls(("c1", "sayHello", {"personName": "Alice"}), content="Let me see."), "Hi, Alice."
    )
    told = tmp_path / "told"
    with Terminal("run", HELLO, "hello", told=told, **at(model_server)) as terminal:
        assert terminal.leaves() == 0

    assert terminal.seen.splitlines() == ["Let me see.", "Hi, Alice."]
    shown = 'sayHello(personName: "Alice") -> "Hello, Alice! Nice to meet you."\n'
    assert told.read_text() == shown
    assert model_server.requests[0]["stream"] is True


def test_a_run_that_is_interrupted_ends_with_130(model_server: ModelServer, tmp_path: Path) -> None:
    model_server.will_say(Answer(completion({"content": "late"}), silence=10))
    answers = tmp_path / "answers"
    with Terminal("run", HELLO, "hi", answers=answers, **at(model_server)) as terminal:
        deadline = time.monotonic() + 30
        while not model_server.requests and time.monotonic() < deadline:
            time.sleep(0.02)
        assert terminal.leaves_by("\x03") == 130

    assert "Traceback" not in terminal.seen
    assert answers.read_text() == ""


@pytest.mark.parametrize(("program", "code", "message"), rows("refused programs"))
def test_run_says_what_is_wrong(tmp_path: Path, program: str, code: int, message: str) -> None:
    path = written(tmp_path / "p.gram", program)
    refused(gram("run", path, "hello"), code, message)


def test_a_function_that_cannot_be_a_tool_is_told_at_its_line(tmp_path: Path) -> None:
    code = "from interp import tool\n\n@tool\ndef f(*words: str) -> str:\n    'Joins'\n"
    written(tmp_path / "tools.py", code)
    done = gram("tools", "--tools", "tools.py", "--print-gram", cwd=tmp_path)
    refused(done, 4, "parameter names; write out each parameter")
    assert done.stderr.startswith('tools.py:3: tool "f": *words gives')
    assert done.stderr.count("tools.py") == 1


HELLO_ALICE = ("run", HELLO, "I'm Alice, hello", "--offline", "--approve")


def test_without_a_terminal_what_has_to_be_asked_is_denied_and_said() -> None:
    done = gram(*HELLO_ALICE, "ask")
    printed(done, 0, "denied, not run: nobody is there to approve it")
    assert 'sayHello(personName: "Alice"): denied, because there is no terminal' in done.stderr


def test_limits_are_set_on_the_command_line() -> None:
    limited = gram(*HELLO_ALICE, "all", "--limit", "iterations=0")
    answered = gram(*HELLO_ALICE, "all", "--limit", "iterations=0", "--limit", "on_limit=answer")
    refused(limited, 5, "limit: iterations")
    printed(answered, 0, "not run: the run has reached 0 rounds")


def test_an_unreachable_endpoint_is_one_message() -> None:
    done = gram("run", HELLO, "hi", OPENAI_BASE_URL="http://127.0.0.1:9/v1")
    assert done.returncode == 4
    assert done.stderr.startswith("cannot connect to http://127.0.0.1:9/v1")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1 / 0\n", "ZeroDivisionError: division by zero"),
        ("def f(:\n", "SyntaxError: "),
        ("exit(3)", "SystemExit: 3"),
    ],
)
def test_a_file_of_tools_that_fails_names_its_line(tmp_path: Path, text: str, reason: str) -> None:
    tools = tmp_path / "tools.py"
    tools.write_text(text)
    for path in (tools, Path("tools.py")):
        done = gram("run", HELLO, "hi", "--offline", "--tools", str(path), cwd=tmp_path)
        assert done.returncode == 4
        assert done.stderr.startswith(f"{path} fails: {reason}")
        assert done.stderr.endswith(f"\n  at {path}:1\n")


def test_check_takes_a_file_without_an_agent_as_plain_data(tmp_path: Path) -> None:
    path = written(tmp_path / "p.gram", "(a)-->(b)")
    done = gram("check", path)
    assert (done.returncode, "no agent here" in done.stderr) == (0, True)


def test_check_judges_schedules_and_cases(tmp_path: Path) -> None:
    (tmp_path / "s.gram").write_text(
        '[a:Schedule {cron: "99 * * * *", program: "nowhere.gram", input: "x"}]\n'
        '[b:Schedule {cron: "0 7 * * *", program: "s.gram", input: "x", tenan: "y"}]\n'
    )
    (tmp_path / "c.gram").write_text('[c:Case {input: "I am Alice", expectd: "Hello"}]')
    (tmp_path / "c.csv").write_text("input,expectd\nhi,ho\n")

    done = gram("check", "s.gram", "c.gram", "c.csv", cwd=tmp_path)

    told = [line for line in done.stdout.splitlines() if "error[" in line]
    assert done.returncode == 1
    assert told == [
        's.gram:1:20: error[schedule] cron "99 * * * *" is not like "0 7 * * 1-5" (minute, hour, '
        "day, month, day of the week)",
        "s.gram:1:43: error[schedule] nowhere.gram: No such file or directory",
        "s.gram:2:71: error[schedule] a schedule has no property tenan; did you mean tenant?",
        "c.gram:1:40: error[near-column] expectd is not expected",
        "c.csv:2:4: error[near-column] expectd is not expected",
    ]
