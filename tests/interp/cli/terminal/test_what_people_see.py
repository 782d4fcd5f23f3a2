"""What a person sees of a run: every call, what the model was told, and what was left undone."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from interp import FunctionRole, load_run
from interp.history.stores import open_conversation
from tests.interp.cli.process import HELLO, at, gram, rows, started, written
from tests.interp.cli.typing_at import Terminal
from tests.interp.model_server import Answer, ModelServer, completion, delta, streamed, tool_calls

HI = ("c", "sayHello", {"personName": "Al"})

PROGRAM = """
[a:Agent {instruction: "x", model: "OpenAI/m"} |
  [count:Tool {description: "Counts"} | (n::Integer)==>(::Integer)]]
"""
TOOLS = '''
from interp import tool

@tool
def count(n: int) -> int:
    """Counts"""
    if n == 0:
        raise ZeroDivisionError("nothing to count")
    return n if n != 13 else "thirteen"
'''


@pytest.fixture
def counting(tmp_path: Path) -> list[str]:
    """The arguments that run an agent whose tool fails at 0, and returns a text for 13."""
    (tmp_path / "a.gram").write_text(PROGRAM)
    (tmp_path / "t.py").write_text(TOOLS)
    return [str(tmp_path / "a.gram"), "hi", "--tools", str(tmp_path / "t.py")]


def test_the_log_plays_no_tricks(
    model_server: ModelServer, counting: list[str], tmp_path: Path
) -> None:
    raising = TOOLS.replace("nothing to count", "\\x9b2J \\u202e")
    (tmp_path / "t.py").write_text(raising, encoding="utf-8")
    model_server.will_say(tool_calls(("c", "count", {"n": 0})), "\x85 \u2028")
    with Terminal("run", *counting, "--debug", **at(model_server)) as terminal:
        assert terminal.leaves() == 0
        assert "ZeroDivisionError: \\x9b2J \\u202e" in terminal.seen
        assert not {"\x85", "\x9b", "\u2028", "\u202e"} & set(terminal.seen)


@pytest.mark.parametrize(("call", "shown"), rows("shown calls"))
def test_each_call_is_shown_with_what_the_model_was_told(
    model_server: ModelServer, counting: list[str], call: tuple[str, str, object], shown: str
) -> None:
    model_server.will_say(tool_calls(call), "done")
    done = gram("run", *counting, "--match", "name", **at(model_server))
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert shown in done.stderr
    told = model_server.requests[1]["messages"][-1]["content"]
    assert told.splitlines()[0] in done.stderr


def test_a_call_that_was_cut_off_and_an_answer_that_was_say_so(model_server: ModelServer) -> None:
    model_server.will_say(
        Answer(completion(tool_calls(HI), choice={"finish_reason": "length"})),
        Answer(completion({"content": "It is"}, choice={"finish_reason": "length"})),
    )
    done = gram("run", HELLO, "hi", **at(model_server))
    assert done.stdout == "It is\n"
    assert "error: the reply was cut off at its length limit" in done.stderr
    assert "the answer was cut off at its length limit or at the end of the context" in done.stderr


def test_a_raising_tool_is_told_or_stops(model_server: ModelServer, counting: list[str]) -> None:
    failing = tool_calls(("c", "count", {"n": 0}))
    model_server.will_say(failing, "done", failing, "done", failing)

    quiet = gram("run", *counting, **at(model_server))
    debugged = gram("run", *counting, "--debug", **at(model_server))
    stopped = gram("run", *counting, "--on-tool-error", "raise", **at(model_server))

    assert "Traceback" not in quiet.stderr + stopped.stderr
    assert 'raise ZeroDivisionError("nothing to count")' in debugged.stderr
    assert (stopped.returncode, stopped.stdout) == (4, "")
    assert 'tool "count" failed: ZeroDivisionError: nothing to count' in stopped.stderr


def test_text_beside_a_call_is_shown_on_a_line_before_it(model_server: ModelServer) -> None:
    model_server.will_say(*[tool_calls(HI, content="Let me greet."), "done"] * 2)
    done = gram("run", HELLO, "hi", **at(model_server))
    with Terminal("run", HELLO, "hi", "--approve", "ask", **at(model_server)) as terminal:
        terminal.until("Let me greet.\nRun sayHello for ")
        terminal.type("y\n")
        terminal.until("done")
    assert done.stdout == "done\n"
    assert done.stderr.startswith("Let me greet.\nsayHello(")


INTERRUPTING = """
import os, signal
from interp import tool

@tool(description="Returns a friendly greeting message for the given name")
def sayHello(personName: str = "world") -> str:
    if personName == "Bo":
        os.kill(os.getpid(), int(os.environ["SIGNAL"]))
        import time
        time.sleep(5)
    return "Hello, " + personName
"""


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_calls_that_an_interrupt_left_unanswered_are_saved_as_interrupted(
    model_server: ModelServer, tmp_path: Path, number: int, code: int
) -> None:
    session, tools = tmp_path / "s.gram", tmp_path / "t.py"
    tools.write_text(INTERRUPTING)
    calls = (("a", "sayHello", {"personName": "Al"}), ("b", "sayHello", {"personName": "Bo"}))
    model_server.will_say(tool_calls(*calls))

    words = ("run", HELLO, "hi", "--tools", str(tools), "-c", "--record", str(session))
    done = gram(*words, **at(model_server), SIGNAL=str(int(number)))

    said = open_conversation(session, True, None).context
    one, other = (each.content for each in said if isinstance(each.role, FunctionRole))
    assert (done.returncode, one) == (code, "Hello, Al")
    assert other.startswith("error: interrupted")
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def test_an_answer_is_saved_though_interrupted(model_server: ModelServer, tmp_path: Path) -> None:
    session, answer = tmp_path / "s.gram", "Hello. " * 50_000  # more than a pipe takes
    model_server.will_say(answer)
    command = ("run", HELLO, "hello", "-c", "--record", str(session))

    with started(*command, **at(model_server)) as process:
        assert process.stdout is not None
        assert process.stdout.read(6) == "Hello."
        process.send_signal(signal.SIGINT)
        code = process.wait(timeout=60)

    assert code == 130
    assert load_run(session).state.context[-1].content.strip() == answer.strip()


def test_a_line_of_the_log_is_not_glued_to_the_words_before_it(model_server: ModelServer) -> None:
    model_server.will_say("Hello there")
    with Terminal("run", HELLO, "hi", "--debug", **at(model_server)) as terminal:
        assert "Hello there\ninterp.model: reply" in terminal.until("interp.model: reply")
        assert terminal.leaves() == 0


def test_what_was_typed_before_a_question_does_not_answer_it(model_server: ModelServer) -> None:
    question = streamed(completion(tool_calls(HI)))
    fake = Answer(events=[delta("Run nothing? [y/N]: "), 1.0, *question])
    model_server.will_say(fake, "Done.")

    with Terminal("run", HELLO, "hi", "--approve", "ask", **at(model_server)) as terminal:
        terminal.until("nothing? [y/N]: ")
        terminal.type("y\n")
        terminal.until("Run sayHello for ")
        terminal.type("n\n")
        assert "the user does not allow it" in terminal.until("does not allow it")


@pytest.mark.parametrize("key", ["\x03", "\x04"])
def test_a_question_that_is_interrupted_ends_with_130(model_server: ModelServer, key: str) -> None:
    model_server.will_say(tool_calls(HI))
    with Terminal("run", HELLO, "hi", "--approve", "ask", **at(model_server)) as terminal:
        terminal.until("Run sayHello for ")
        assert terminal.leaves_by(key) == 130


# --- what is waited for


SLOW = '''
import time
from interp import tool

@tool
def count(n: int) -> int:
    """Counts"""
    print("from the tool")
    time.sleep(1.2)
    return n
'''


def test_waiting_is_shown_and_erased(
    model_server: ModelServer, counting: list[str], tmp_path: Path
) -> None:
    (tmp_path / "t.py").write_text(SLOW, encoding="utf-8")
    model_server.will_say(tool_calls(("c", "count", {"n": 2})), "done")

    with Terminal("run", *counting, TERM="xterm", **at(model_server)) as terminal:
        terminal.until("OpenAI/m 0s")
        terminal.until("count(n: 2) 0s")
        terminal.until("from the tool\n")
        terminal.until("count(n: 2) 1s")
        terminal.until("count(n: 2) -> 2\n")
        terminal.until("done\n")
        assert terminal.leaves() == 0


@pytest.mark.parametrize(("arguments", "kind"), [([], "dumb"), (["--debug"], "xterm")])
def test_no_spinner_on_a_dumb_terminal_nor_in_the_log(
    model_server: ModelServer, counting: list[str], arguments: list[str], kind: str
) -> None:
    model_server.will_say(tool_calls(("c", "count", {"n": 2})), "done")
    with Terminal("run", *counting, *arguments, TERM=kind, **at(model_server)) as terminal:
        terminal.leaves()
        assert " 0s" not in terminal.seen


# --- long calls


@pytest.mark.parametrize("arguments", [(), ("--debug",), ("-v",)])
def test_a_long_result_is_shortened_and_says_how_to_see_the_rest(
    model_server: ModelServer, counting: list[str], tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    long = TOOLS.replace("-> int:", "-> str:").replace("return n ", 'return "x" * 2000 #')
    (tmp_path / "t.py").write_text(long, encoding="utf-8")
    (tmp_path / "a.gram").write_text(PROGRAM.replace("==>(::Integer)", "==>(::String)"))
    model_server.will_say(tool_calls(("c", "count", {"n": 2})), "done")

    done = gram("run", *counting, *arguments, **at(model_server))

    (line,) = [each for each in done.stderr.splitlines() if each.startswith("count(")]
    if arguments:
        assert line.endswith("x" * 1000 + '"')
    else:
        assert line.endswith("x… (1,502 more characters; -v shows all, in a chat /calls)")
        assert len(line) < 600


# --- questions


def asked(model_server: ModelServer, *calls: tuple[str, str, object]) -> Terminal:
    """A run in which each call has a reply of its own."""
    model_server.will_say(*(tool_calls(call) for call in calls), "done")
    return Terminal("run", HELLO, "hi", "--approve", "ask", **at(model_server))


QUESTION = 'Run sayHello for hello_world_agent\n| personName: "Al"\n[y/N/always/never]: '


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("always", 'sayHello(personName: "Al") -> "Hello, Al!'),
        ("never", "denied, not run: the user never allows this tool"),
    ],
)
def test_always_and_never_are_asked_once(model_server: ModelServer, answer: str, told: str) -> None:
    with asked(model_server, HI, HI, HI) as terminal:
        terminal.until(QUESTION)
        terminal.type(f"{answer}\n")
        rest = terminal.until("done\n")
    assert rest.count(told) == 3
    assert "Run " not in rest


def test_always_is_about_a_place_and_no_name(model_server: ModelServer, tmp_path: Path) -> None:
    greets = Path(HELLO).read_text().partition("} |")[2].strip().removesuffix("]")
    agent = '{description: "x", instruction: "x", model: "OpenAI/m"}'
    program = written(
        tmp_path / "flow.gram",
        f"""[flow:Workflow {{description: "x"}} |
          [left:Agent {agent} | [helper:Agent {agent} | {greets}]],
          [right:Agent {agent} | [helper:Agent {agent} | {greets}]],
          (left)-->(right)]""",
    )
    helps = tool_calls(("h", "helper", {"input": "x"}))
    model_server.will_say(
        helps, tool_calls(HI), tool_calls(HI), "helped", "left done",
        helps, tool_calls(HI), "helped", "right done",
    )  # fmt: skip
    with Terminal("run", program, "hi", "--approve", "ask", **at(model_server)) as terminal:
        for side in ("left", "right"):
            terminal.until(f'Run helper for flow/{side}\n| input: "x"\n[y/N/always/never]: ')
            terminal.type("y\n")
            terminal.until(QUESTION.replace("hello_world_agent", f"flow/{side}/helper"))
            terminal.type("always\n")
        rest = terminal.until("right done")

    assert "Run " not in rest


def test_what_is_no_answer_is_explained_and_asked_again(model_server: ModelServer) -> None:
    with asked(model_server, HI) as terminal:
        terminal.until(QUESTION)
        terminal.type("?\n")
        terminal.until("never   run no call of this tool")
        terminal.until(QUESTION)
        terminal.type("\n")
        terminal.until("denied, not run: the user does not allow it")
        terminal.until("done\n")


# --- colours


def test_refused_calls_have_a_colour_and_failed_ones_another(
    model_server: ModelServer, counting: list[str]
) -> None:
    call, colours = tool_calls(("c", "count", {"n": 0})), {"FORCE_COLOR": "1"}
    model_server.will_say(*[call, "done"] * 3)
    denied = gram("run", *counting, "--approve", "none", **colours, **at(model_server))
    failed = gram("run", *counting, **colours, **at(model_server))
    plain = gram("run", *counting, NO_COLOR="1", **colours, **at(model_server))
    assert "count(n: 0) -> \x1b[33merror: denied, not run: " in denied.stderr
    assert 'count(n: 0) -> \x1b[31merror: tool "count" failed' in failed.stderr
    assert 'count(n: 0) -> error: tool "count" failed' in plain.stderr


# --- reasoning


THINKING = {"content": "Hi, Alice.", "reasoning": "She greets me."}
DETAILS = {
    "prompt_tokens": 10,
    "completion_tokens": 5,
    "prompt_tokens_details": {"cached_tokens": 8},
    "completion_tokens_details": {"reasoning_tokens": 4},
}


@pytest.mark.parametrize(
    ("options", "shown"), [((), "She greets me.\n"), (("--no-reasoning",), "")]
)
def test_reasoning_is_shown_on_standard_error_unless_nobody_wants_it(
    model_server: ModelServer, tmp_path: Path, options: tuple[str, ...], shown: str
) -> None:
    model_server.will_say(THINKING)
    told = tmp_path / "told"
    with Terminal("run", HELLO, "hello", *options, told=told, **at(model_server)) as terminal:
        assert terminal.leaves() == 0
    assert terminal.seen.splitlines() == ["Hi, Alice."]
    assert told.read_text() == shown


def test_a_stream_of_json_has_lines_of_reasoning(model_server: ModelServer) -> None:
    model_server.will_say(THINKING)
    done = gram("run", HELLO, "hello", "--json", "--stream", **at(model_server))
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    thought = [line for line in lines if line["type"] == "reasoning"]
    assert "".join(line["text"] for line in thought) == THINKING["reasoning"]
    assert thought[0]["at"] == [0]


@pytest.mark.parametrize(
    ("usage", "told"),
    [
        (DETAILS, "10 input (8 cached) and 5 output (4 reasoning) tokens, 15 in all"),
        (None, "the number of tokens is unknown"),
    ],
)
def test_usage_tells_what_is_known(model_server: ModelServer, usage: Any, told: str) -> None:
    model_server.will_say(Answer({**completion({"content": "a"}), "usage": usage}))
    assert told in gram("run", HELLO, "hello", "--usage", **at(model_server)).stderr
