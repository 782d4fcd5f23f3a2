"""``gram run`` and ``gram set`` between other programs: pipes, files as words, JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.interp.cli.process import HELLO, at, forked, gram, has, rows, written
from tests.interp.cli.typing_at import Terminal
from tests.interp.model_server import ModelServer, tool_calls

TYPED = """\
[a:Agent {instruction: "x", model: "OpenAI/m"} |
  [answer::Answer::Object | (city::String), (people::Integer)]]
"""


REPORTING = '''
from interp import ToolContext, tool

@tool
def sayHello(context: ToolContext, personName: str = "world") -> str:
    """Returns a friendly greeting message for the given name"""
    context.report_progress(1, 2, "half")
    return f"Hello, {personName}!"
'''


@pytest.fixture
def report(tmp_path: Path) -> str:
    """A file with a text."""
    return written(tmp_path / "report.txt", "Sales rose.\n")


def asked(server: ModelServer) -> list[str]:
    """What the user said in the last request."""
    return [each["content"] for each in server.requests[-1]["messages"] if each["role"] == "user"]


@pytest.mark.parametrize(("words", "said"), rows("context"))
def test_a_pipe_is_context(
    model_server: ModelServer, report: str, words: list[str], said: list[str]
) -> None:
    model_server.will_say("Done.", "Done.")
    words = [word.format(report=report) for word in words]
    done = forked("run", HELLO, *words, stdin="Sales rose.\n", **at(model_server))
    assert (done.returncode, done.stdout) == (0, "Done.\n" * len(said))
    assert asked(model_server) == said


def test_a_pipe_is_context_and_a_terminal_asked(
    model_server: ModelServer, report: str, tmp_path: Path
) -> None:
    model_server.will_say(tool_calls(("c", "sayHello", {"personName": "Al"})), "Done.")
    answers = tmp_path / "answers"
    arguments = ("run", HELLO, "greet", "--approve", "ask")

    with Terminal(*arguments, fed=Path(report), answers=answers, **at(model_server)) as terminal:
        terminal.until('| personName: "Al"\n[y/N/always/never]: ')
        terminal.type("y\n")
        assert terminal.leaves() == 0

    assert answers.read_text() == "Done.\n"
    assert asked(model_server) == ["Sales rose.\n\ngreet"]


@pytest.mark.parametrize("command", ["@{report}", "-"])
def test_a_value_comes_from_a_file_or_a_pipe(report: str, command: str) -> None:
    value = command.format(report=report)
    done = gram("set", HELLO, "hello_world_agent.instruction", value, stdin="Sales rose.\n")
    assert 'instruction: "Sales rose."' in done.stdout


def test_json_has_the_answer_its_calls_and_usage(model_server: ModelServer, tmp_path: Path) -> None:
    calls = (("a", "sayHello", {"personName": "Al"}), ("b", "sayHello", {"personName": 1}))
    model_server.will_say(tool_calls(*calls), "Hi.", "Bye.")
    session = str(tmp_path / "s.gram")

    done = gram("run", HELLO, "hi", "bye", "--json", "-c", "--record", session, **at(model_server))

    first, second = map(json.loads, done.stdout.splitlines())
    good, bad = first["calls"]
    assert good == {
        "tool": "sayHello",
        "arguments": {"personName": "Al"},
        "result": "Hello, Al! Nice to meet you.",
        "agent": "hello_world_agent",
        "at": [0, 0],
    }
    assert "refused" in bad["error"]
    assert (first["answer"], first["value"], first["truncated"]) == ("Hi.", None, False)
    counts = {"input_tokens": 20, "output_tokens": 10, "total_tokens": 30}
    assert first["usage"] == {**counts, "cached_tokens": 0, "reasoning_tokens": 0}
    assert (second["answer"], second["calls"], second["conversation"]) == ("Bye.", [], session)
    assert done.stderr == ""


def test_json_has_the_value_of_a_typed_answer(model_server: ModelServer, tmp_path: Path) -> None:
    program = written(tmp_path / "a.gram", TYPED)
    model_server.will_say('{"city": "Bern", "people": 134000}')
    done = gram("run", program, "hi", "--json", **at(model_server))
    assert json.loads(done.stdout)["value"] == {"city": "Bern", "people": 134000}


def test_json_tells_what_a_run_did_until_it_failed(model_server: ModelServer) -> None:
    model_server.will_say(*[tool_calls(("a", "sayHello", {"personName": "Al"}))] * 2)
    done = gram("run", HELLO, "hi", "--json", "--limit", "iterations=1", **at(model_server))
    failed = json.loads(done.stdout)
    assert (done.returncode, failed["answer"]) == (5, None)
    assert (failed["error"]["type"], failed["error"]["exit_code"]) == ("LimitError", 5)
    assert [call["tool"] for call in failed["calls"]] == ["sayHello"]
    assert "limit: iterations" in done.stderr


def test_a_stream_of_json_says_what_happens(model_server: ModelServer, tmp_path: Path) -> None:
    model_server.will_say(tool_calls(("a", "sayHello", {"personName": "Al"})), "Hi, Al.")
    tools = written(tmp_path / "tools.py", REPORTING)

    done = gram("run", HELLO, "hi", "--json", "--stream", "--tools", tools, **at(model_server))

    lines = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [each["type"] for each in lines if each["type"] != "text"]
    assert kinds == ["call", "progress", "result", "answer"]
    said = {"done": 1, "total": 2, "message": "half"}
    assert {"type": "progress", "tool": "sayHello", "at": [0, 0], **said} in lines
    assert "".join(each["text"] for each in lines if each["type"] == "text") == "Hi, Al."
    assert lines[-1]["answer"] == "Hi, Al."
    assert model_server.requests[0]["stream"] is True


def test_quiet_and_verbose_choose_what_is_told_of_a_run(model_server: ModelServer) -> None:
    call = tool_calls(("a", "sayHello", {"personName": "Al"}))
    model_server.will_say(call, "Hi.", call, "Hi.")
    quiet = gram("run", HELLO, "hi", "-q", **at(model_server))
    verbose = gram("run", HELLO, "hi", "-v", **at(model_server))
    assert (quiet.stdout, quiet.stderr) == ("Hi.\n", "")
    has(verbose.stderr, "sayHello(", "tokens")
