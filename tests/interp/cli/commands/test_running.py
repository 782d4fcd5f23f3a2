"""``gram run`` of programs, and recorded runs: shown again, compared, gone on with, timed."""

from __future__ import annotations

import fcntl
import json
import re
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from interp import LimitError, Limits, ScriptedModel, hello_world_tool_library, load, run
from interp.machine import CallModel
from tests.interp.cli.process import HELLO, at, gram, printed, refused, rows, started, written
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
        "s.gram:2:71: error[unknown-property] Schedule has no property tenan",
        "c.gram:1:40: error[near-column] expectd is not expected",
        "c.csv:2:4: error[near-column] expectd is not expected",
    ]


CALL = completion(tool_calls(("1", "sayHello", {"personName": "Al"}), content="Let me see."))
HI = tool_calls(("c1", "sayHello", {"personName": "Al"}))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The record of a run of the example."""
    path = tmp_path / "hi.run.gram"
    model = ScriptedModel([CALL, "Hello, Al."])
    run(load(HELLO), "hi", hello_world_tool_library, model=model, record=path)
    return path


def test_replay_prints_what_run_printed_without_a_key(file: Path) -> None:
    done = gram("replay", str(file))
    assert (done.returncode, done.stdout) == (0, "Hello, Al.\n")
    assert done.stderr == (
        'Let me see.\nsayHello(personName: "Al") -> "Hello, Al! Nice to meet you."\n'
    )


def test_a_changed_program_is_compared_with_what_was_recorded(file: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed.gram"
    changed.write_text(
        Path(HELLO).read_text().replace("friendly conversations", "short conversations")
    )

    done = gram("replay", str(file), "--program", str(changed))

    assert done.returncode == 1
    told = "the request at position (0) is not the one that was recorded:"
    assert f".gram:3:1: {told}" in done.stderr.splitlines()[0]
    assert "+instruction: Have short conversations." in done.stderr
    as_json = gram("replay", str(file), "--program", str(changed), "--json")
    assert json.loads(as_json.stdout)["error"]["type"] == "ReplayError"
    assert (json.loads(as_json.stdout)["error"]["exit_code"], as_json.returncode) == (1, 1)
    same = gram("replay", str(file), "--program", HELLO)
    assert (same.returncode, same.stdout) == (0, "Hello, Al.\n")


@pytest.mark.parametrize("option", [["--live", "model"], ["--tools", "t.py"], ["--agent", "a"]])
def test_options_that_need_a_program_say_so(file: Path, option: list[str]) -> None:
    refused(gram("replay", str(file), *option), 2, "need --program FILE")


def test_trace_shows_who_was_asked_and_what_was_called(file: Path) -> None:
    lines = gram("trace", str(file)).stdout.splitlines()
    assert lines[0].startswith(
        "hello_world_agent · OpenAI/gpt-5.6-luna · done · 2 requests, 1 call"
    )
    assert [line.split()[0] for line in lines[1:]] == ["0", "0.0", "1"]
    assert 'model: "Let me see." calls sayHello (10+5 tokens' in lines[1]
    assert lines[2].endswith('sayHello(personName: "Al") -> "Hello, Al! Nice to meet you."')


def test_trace_as_json_has_each_step_whole(file: Path) -> None:
    found = json.loads(gram("trace", str(file), "--json").stdout)
    assert found["status"] == "done"
    assert [each["kind"] for each in found["entries"]] == ["model", "tool", "model"]
    assert found["entries"][1]["arguments"] == {"personName": "Al"}
    assert found["entries"][1]["result"] == "Hello, Al! Nice to meet you."
    assert (found["waits_for"], found["answer"]) == ([], "Hello, Al.")


def test_a_run_that_did_not_end_is_replayed_up_to_there(tmp_path: Path) -> None:
    file = tmp_path / "limited.run.gram"
    model, limits = ScriptedModel([CALL]), Limits(iterations=0)
    with pytest.raises(LimitError):
        run(load(HELLO), "hi", hello_world_tool_library, model=model, limits=limits, record=file)
    refused(gram("replay", str(file)), 5, "the run stopped after")


def test_a_recording_that_was_cut_off_says_where_it_ends(file: Path) -> None:
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:3]))
    refused(gram("replay", str(file)), 1, "the recording ends here: the run is awaiting tools")


def test_a_call_that_is_denied_when_the_run_is_resumed_is_in_its_timeline(tmp_path: Path) -> None:
    file = str(tmp_path / "denied.run.gram")
    gram("run", HELLO, "hi", "--offline", "--approve", "ask", "--record", file)
    gram("resume", file, "--approve", "none")
    resumed, call = gram("trace", file).stdout.splitlines()[2:4]
    assert "resumed with" in resumed
    assert call.startswith("0.0")
    assert 'sayHello(personName: "world") -> error: denied, not run' in call


def test_a_run_is_followed_while_another_process_records_it(tmp_path: Path) -> None:
    file, asked, go = tmp_path / "hi.run.gram", Event(), Event()

    def wait(effect: object, _: object) -> None:
        if isinstance(effect, CallModel) and effect.at == (0,):
            asked.set()
            go.wait(30)

    how: Any = {"model": ScriptedModel([CALL, "Hello, Al."]), "record": file, "observe": wait}
    with ThreadPoolExecutor() as pool:
        recording = pool.submit(run, load(HELLO), "hi", hello_world_tool_library, **how)
        assert asked.wait(30)
        with started("trace", str(file), "--follow") as following:
            assert following.stdout is not None
            first = following.stdout.readline()
            assert not recording.done()
            go.set()
            rest = following.stdout.read().splitlines()

    assert 'model: "Let me see." calls sayHello' in first
    assert [line.split()[0] for line in rest] == ["0.0", "1", "hello_world_agent"]
    assert " · done · 2 requests, 1 call" in rest[-1]
    assert following.returncode == 0


def test_a_run_that_nobody_records_is_followed_to_what_it_waits_for(tmp_path: Path) -> None:
    file = str(tmp_path / "asked.run.gram")
    gram("run", HELLO, "hi", "--offline", "--approve", "ask", "--record", file)
    done = gram("trace", file, "--follow")
    *_, last = gram("trace", file, "--follow", "--json").stdout.splitlines()
    assert "waits for approval of sayHello" in done.stdout
    assert [each["name"] for each in json.loads(last)["waits_for"]] == ["sayHello"]


def test_a_turn_of_a_file_is_followed_by_its_number_with_why_it_was_asked_again(
    tmp_path: Path, model_server: ModelServer
) -> None:
    file, keys = str(tmp_path / "a.run.gram"), at(model_server)
    busy = Answer({"error": {"message": "busy"}}, 503, {"retry-after": "0"})
    model_server.will_say(busy, "First.", "Second.")
    for more in ((), ("-c",)):
        gram("run", HELLO, "hi", "--record", file, *more, **keys)
    told = gram("trace", f"{file}#1", "--follow").stdout
    assert "First." in told
    assert "Second." not in told
    assert "sent again: " in told.splitlines()[0]


def test_a_file_in_which_no_run_begins_is_not_followed(tmp_path: Path) -> None:
    file = tmp_path / "empty.run.gram"
    file.touch()
    refused(gram("trace", str(file), "--follow"), 2, "nothing of a run had begun")


def test_following_is_stopped_quietly_with_ctrl_c(file: Path) -> None:
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:3]))
    with file.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with started("trace", str(file), "-f") as following:
            assert following.stdout is not None
            following.stdout.readline()
            following.send_signal(signal.SIGINT)
            _, errors = following.communicate()

    assert (following.returncode, errors) == (130, "")


SHOP = """[shop:Agent {description: "d", instruction: "Sell.", model: "OpenAI/m"} |
  [pay:ToolSpecification {description: "Pays"} | (amount::Integer)==>(::String)]]
"""
PAY = '''from interp import tool

@tool
def pay(amount: int) -> str:
    """Pays"""
    return "paid"
'''


OWN = """from interp import tool

@tool
def sayHello(personName: str = "world") -> str:
    "Returns a friendly greeting message for the given name"
    return f"Own hello, {personName}"
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A folder with a program and its tools."""
    (tmp_path / "shop.gram").write_text(SHOP)
    (tmp_path / "tools.py").write_text(PAY)
    return tmp_path


def test_a_live_model_needs_no_recorded_tools(shop: Path, model_server: ModelServer) -> None:
    pay = tool_calls(("c1", "pay", {"amount": 5}))
    model_server.will_say(pay, "Bought.", pay, "All is bought.")
    kept = ("--tools", "tools.py", "--record", "a.run.gram")
    assert gram("run", "shop.gram", "buy", *kept, cwd=shop, **at(model_server)).returncode == 0
    (shop / "new.gram").write_text(SHOP.replace("Sell.", "Sell now."))
    words = ["replay", "a.run.gram", "--program", "new.gram", "--live", "model"]
    done = gram(*words, cwd=shop, **at(model_server))
    assert (done.returncode, done.stdout) == (0, "All is bought.\n"), done.stderr


def test_resuming_names_the_option_for_tools(shop: Path, model_server: ModelServer) -> None:
    model_server.will_say(tool_calls(("c1", "pay", {"amount": 5})))
    words = ["--tools", "tools.py", "--record", "a.run.gram", "--approve", "ask"]
    asked = gram("run", "shop.gram", "buy", *words, cwd=shop, **at(model_server))
    assert asked.returncode == 6
    done = gram("resume", "a.run.gram", "--approve", "all", cwd=shop, **at(model_server))
    refused(done, 3, 'tool "pay" is not in the library', "use --tools FILE.py for your own")


def test_built_in_tools_replace_no_recorded_ones(shop: Path, model_server: ModelServer) -> None:
    (shop / "own.py").write_text(OWN)
    words = ["--record", "a.run.gram", "--approve", "ask"]
    model_server.will_say(HI, "Bye.")
    asked = gram("run", HELLO, "hi", "--tools", "own.py", *words, cwd=shop, **at(model_server))
    assert asked.returncode == 6
    assert "gram resume a.run.gram --tools own.py goes on; --approve all" in asked.stderr

    refused = gram("resume", "a.run.gram", "--approve", "all", cwd=shop, **at(model_server))
    live = ["replay", "a.run.gram", "--program", HELLO, "--live", "tools"]
    replayed = gram(*live, cwd=shop)
    words = ["resume", "a.run.gram", "--approve", "all", "--tools", "own.py"]
    done = gram(*words, cwd=shop, **at(model_server))

    for each in (refused, replayed):
        assert each.returncode == 3
        assert "was recorded with its own sayHello, not the built-in one" in each.stderr
        assert "--tools FILE.py" in each.stderr
    assert (done.returncode, done.stdout) == (0, "Bye.\n")
    assert "Own hello" in done.stderr


def test_a_resumed_run_says_what_it_used_and_what_its_answer_lacks(
    tmp_path: Path, model_server: ModelServer
) -> None:
    model_server.will_say(
        HI, Answer(completion({"content": "It is"}, choice={"finish_reason": "length"}))
    )
    words = ("--record", "a.run.gram", "--approve", "ask")
    assert gram("run", HELLO, "hi", *words, cwd=tmp_path, **at(model_server)).returncode == 6

    words = ("--approve", "all", "--usage", "--debug")
    done = gram("resume", "a.run.gram", *words, cwd=tmp_path, **at(model_server))

    assert (done.returncode, done.stdout) == (0, "It is\n")
    assert "interp.model: request to" in done.stderr
    assert "the answer was cut off at its length limit" in done.stderr
    assert "10 input and 5 output tokens" in done.stderr.splitlines()[-1]


def test_nothing_is_told_as_used_where_nothing_began() -> None:
    done = gram("run", HELLO, "hi", "--agent", "nobody", "--usage")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        'the program has no agent "nobody"; it has hello_world_agent'
    ]


def test_how_to_go_on_names_the_script_which_goes_on_behind_what_is_recorded(
    tmp_path: Path,
) -> None:
    call = {"name": "sayHello", "arguments": {"personName": "Al"}}
    (tmp_path / "a b.json").write_text(json.dumps([{"calls": [call]}, "Done."]))
    words = ("--script", "a b.json", "--record", "a.run.gram", "--approve", "ask")

    asked = gram("run", HELLO, "hi", *words, cwd=tmp_path)

    assert asked.returncode == 6
    assert "gram resume a.run.gram --script 'a b.json' goes on; --approve all" in asked.stderr
    done = gram("resume", "a.run.gram", *words[:2], "--approve", "all", "--json", cwd=tmp_path)
    found = json.loads(done.stdout)
    assert (found["answer"], len(found["calls"])) == ("Done.", 1)


def test_a_question_and_a_limit_say_how_to_go_on(tmp_path: Path, model_server: ModelServer) -> None:
    keys = at(model_server)
    file = tmp_path / "my run.gram"
    model_server.will_say(HI, HI, "Done.")

    asked = gram("run", HELLO, "hi", "--record", str(file), "--approve", "ask", **keys)
    again = gram("resume", str(file), **keys)
    limited = gram("resume", str(file), "--approve", "all", "--limit", "iterations=1", **keys)
    done = gram("resume", str(file), "--limit", "iterations=2", "--json", **keys)

    for waiting in (asked, again):
        assert waiting.returncode == 6
        assert f"gram resume '{file}' goes on; --approve all or --approve none" in waiting.stderr
        assert 'waits for approval of sayHello(personName: "Al")' in waiting.stderr
    refused(limited, 5, "goes on, with a higher --limit")
    assert (done.returncode, json.loads(done.stdout)["answer"]) == (0, "Done.")
    assert gram("resume", str(file)).stdout == "Done.\n"  # it asks nobody
    assert len(model_server.requests) == 3
    replayed = json.loads(gram("replay", str(file), "--json").stdout)
    assert replayed == json.loads(done.stdout)
    told = gram("trace", str(file)).stdout
    assert "resumed with limits iterations=1; policy (:ApprovalPolicy" in told
    assert "resumed with limits iterations=2\n" in told


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_an_answer_that_is_refused_is_not_among_the_words_that_are_streamed(
    tmp_path: Path, model_server: ModelServer, form: tuple[str, ...]
) -> None:
    program = '[a:Agent {instruction: "x", model: "OpenAI/m"} | (:Answer:String {enum: ["long"]})]'
    file = written(tmp_path / "a.gram", program)
    model_server.will_say("nope", '"long"')
    done = gram("run", file, "hi", "--stream", *form, **at(model_server))
    assert len(model_server.requests) == 2
    assert "nope" not in done.stdout
    assert form or done.stdout == "long\n"


def test_a_run_that_another_process_records_is_not_said_to_go_on_by_resuming(
    tmp_path: Path,
) -> None:
    file = str(tmp_path / "a.run.gram")
    waiting = gram("run", HELLO, "hello, I'm Al", "--offline", "--record", file, "--approve", "ask")
    assert "is kept: gram resume" in waiting.stderr
    with Path(file).open("r+") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        done = gram("resume", file, "--offline", "--approve", "all")
    refused(done, 2, "another process records a run in it")
    assert "is kept" not in done.stderr


def test_a_conversation_too_long_says_which_setting_goes_on(
    tmp_path: Path, model_server: ModelServer
) -> None:
    file, keys = tmp_path / "a.run.gram", at(model_server)
    model_server.will_say("x" * 400, *["y" * 2000] * 2, "Done.")
    small = ("--set", "compactAt=0.5", "--set", "contextWindow=200")
    gram("run", HELLO, "z" * 400, "--record", str(file), **keys)

    stopped = gram("run", HELLO, "hi", "--record", str(file), "-c", *small, **keys)

    refused(stopped, 5, "goes on, with --set contextWindow=NUMBER")
    assert "two summaries failed: the summary is no shorter than what it covers" in stopped.stderr
    assert gram("resume", str(file), "--set", "contextWindow=9000", **keys).stdout == "Done.\n"


def test_trace_says_in_a_line_why_a_run_stopped(tmp_path: Path, model_server: ModelServer) -> None:
    keys = at(model_server)
    model_server.will_say(Answer({"error": {"message": "bad thing"}}, status=400))
    file = tmp_path / "failed.run.gram"
    assert gram("run", HELLO, "hi", "--record", str(file), **keys).returncode == 4
    trace = gram("trace", str(file)).stdout
    assert " · stopped (" in trace
    assert "answered 400: bad thing) · 0 requests" in trace.splitlines()[0]
    assert "hint:" not in trace


@pytest.mark.parametrize(
    "words", [["replay", "{}"], ["trace", "{}"], ["graph", HELLO, "--run", "{}"]]
)
def test_a_run_is_read_from_standard_input(file: Path, words: list[str]) -> None:
    named = gram(*(each.format(file) for each in words))
    piped = gram(*(each.format("-") for each in words), stdin=file.read_text())
    assert named.stdout
    assert (piped.returncode, piped.stdout) == (0, named.stdout)


BRANCHES = """
[both:Workflow | one, two]
[one:Agent {instruction: "1", model: "OpenAI/gpt-5.6-luna"}]
[two:Agent {instruction: "2", model: "OpenAI/gpt-5.6-luna"}]
"""


def test_a_failure_in_a_branch_names_its_step(tmp_path: Path, model_server: ModelServer) -> None:
    program = written(tmp_path / "both.gram", BRANCHES)
    model_server.will_say("fine")
    model_server.answers.append(Answer({"error": {"message": "no"}}, 401))
    done = gram("run", program, "go", **at(model_server))
    assert done.returncode == 4
    assert re.search(r"^both/(one|two) failed$", done.stderr, re.MULTILINE), done.stderr
