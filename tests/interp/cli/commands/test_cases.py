"""``gram test``: the cases of files, run against a real server, recorded, reported."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from threading import Barrier
from xml.etree import ElementTree as ET

import pytest

from tests.interp.cli.process import KEY, at, gram, has, printed, refused, rows, started, told
from tests.interp.model_server import Answer, ModelServer, tool_calls
from tests.paths import EXAMPLES

GREETING = tool_calls(("c1", "sayHello", {"personName": "Al"}))
CASES = """\
{"program": "hello.gram"}
{"name": "greets", "input": "I am Al", "expected": "Hello, Al!", "calls": ["sayHello"]}
{"name": "says bye", "input": "Bye", "checks": ["short"], "level": 2}
"""
CHECKS = """\
from interp import AgentResponse

def short(response):
    return len(response.content) < 20 or "too long"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with an agent, cases and checks."""
    (tmp_path / "hello.gram").write_text((EXAMPLES / "hello_world.gram").read_text())
    (tmp_path / "cases.jsonl").write_text(CASES)
    (tmp_path / "checks.py").write_text(CHECKS)
    return tmp_path


def run_cases(
    folder: Path, server: ModelServer, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the cases of the folder, or of other files that are named."""
    named = any(each.endswith((".jsonl", ".gram", ".")) for each in arguments)
    given = arguments if named else ("cases.jsonl", *arguments)
    return gram(
        "test", *given, "--checks", "checks.py", cwd=folder, **{**at(server), **environment}
    )


def test_cases_that_pass_are_told(folder: Path, model_server: ModelServer) -> None:
    model_server.will_say(GREETING, "Hello, Al!", "Bye!")
    done = run_cases(folder, model_server)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[:2]] == ["passed", "passed"]
    assert lines[-1].startswith("2 passed in ")


def test_cases_that_any_answer_passes_are_told(folder: Path, model_server: ModelServer) -> None:
    model_server.will_say("two", "Bye!")
    cases = '{"input": "1 + 1?", "answer": "3"}\n{"input": "Bye", "checks": ["short"]}\n'
    (folder / "free.jsonl").write_text(cases)
    done = run_cases(folder, model_server, "free.jsonl", "--program", "hello.gram")
    told(done, 0, "note: any answer passes 1 case, the first at free.jsonl:1:1; expected")


def test_a_case_that_fails_shows_its_run(folder: Path, model_server: ModelServer) -> None:
    refused = Answer({"error": {"message": "no such model"}}, status=404)
    model_server.will_say(refused, "Goodbye, and until soon!")
    done = run_cases(folder, model_server)
    printed(done, 1, "FAILED  greets (cases.jsonl:2:1)\n  the run broke off: ModelError")
    assert "FAILED  says bye (cases.jsonl:3:1)\n  check short fails: too long" in done.stdout
    has(done.stdout, 'model: "Goodbye, and until soon!"', "0 passed, 2 failed in ")


def test_cases_run_at_once_and_are_told_in_order(folder: Path, model_server: ModelServer) -> None:
    names = [f"case {n}" for n in range(6)]
    rows = [{"name": each, "input": "Hi", "program": "hello.gram"} for each in names]
    (folder / "cases.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    model_server.meeting = Barrier(3)  # no reply before three are asked at once
    model_server.will_say(*["Hello!"] * 6)
    done = run_cases(folder, model_server, "--jobs", "3", "--json")
    assert done.returncode == 0, done.stderr
    assert [each["name"] for each in json.loads(done.stdout)["cases"]] == names


COUNTING = """\
from interp import tool

seen = []

@tool
def sayHello(personName: str = "world") -> str:
    'Returns a friendly greeting message for the given name'
    seen.append(personName)
    return f"call {len(seen)}"
"""


def test_each_case_has_tools_of_its_own(folder: Path, model_server: ModelServer) -> None:
    (folder / "counting.py").write_text(COUNTING)
    case = {"program": "hello.gram", "input": "I am Al"}
    rows = [{**case, "name": name} for name in ("a", "b")]
    (folder / "cases.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    model_server.will_say(GREETING, "Hello!", GREETING, "Hello!")

    done = run_cases(folder, model_server, "--tools", "counting.py")

    assert done.returncode == 0, done.stdout + done.stderr
    results = [each["messages"][-1]["content"] for each in model_server.requests[1::2]]
    assert [each.strip(chr(34)) for each in results] == ["call 1"] * 2


WRONG = rows("wrong cases")


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_told_first(folder: Path, model_server: ModelServer, wrong: str) -> None:
    arguments, code, message = WRONG[wrong]
    (folder / "bad.jsonl").write_text("oops")
    (folder / "bad.gram").write_text("[a:Agent {model: 1}]")
    (folder / "alone.jsonl").write_text('{"input": "hi"}')
    (folder / "more.py").write_text(CHECKS)
    environment = {"OPENAI_API_KEY": "", "OPENAI_BASE_URL": ""} if wrong == "no key" else {}

    done = run_cases(folder, model_server, *arguments, **environment)

    assert (done.returncode, model_server.requests) == (code, [])
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("named", "message"), rows("unknown in cases"))
def test_what_is_not_there_is_told(folder: Path, named: list[str], message: str) -> None:
    (folder / "cases.jsonl").write_text(CASES.replace(*named))
    done = gram("test", "cases.jsonl", "--offline", "--checks", "checks.py", cwd=folder)
    refused(done, 3, message)


def test_runs_are_recorded_once_and_replayed(folder: Path, model_server: ModelServer) -> None:
    missing = run_cases(folder, model_server, "--recordings", "none")
    model_server.will_say(GREETING, "Hello, Al!", "Bye!")
    first = run_cases(folder, model_server, "--recordings", "once")
    again = run_cases(folder, model_server, "--recordings", "once", OPENAI_API_KEY="")
    (folder / "cases.jsonl").write_text(CASES.replace("I am Al", "I'm Al"))
    stale = run_cases(folder, model_server, "--recordings", "none")

    assert (missing.returncode, first.returncode, again.returncode) == (1, 0, 0)
    assert "recordings/cases.jsonl/greets.run.gram: there is no recording" in missing.stdout
    assert len(model_server.requests) == 3
    recorded = sorted(each.name for each in (folder / "recordings" / "cases.jsonl").iterdir())
    assert [each for each in recorded if each.startswith("greets")] == ["greets.run.gram"]
    assert stale.returncode == 1
    assert "I'm Al" in stale.stdout.split("+++ now")[1]
    has(stale.stdout, "gram test --recordings changed", "1 passed, 1 failed")


def test_results_are_printed_as_json(folder: Path, model_server: ModelServer) -> None:
    model_server.will_say(GREETING, "Hello!", Answer({}, status=400))
    done = run_cases(folder, model_server, "--json")
    report = json.loads(done.stdout)
    greets, bye = report["cases"]
    assert (done.returncode, report["passed"], report["failed"]) == (1, 0, 2)
    assert (greets["answer"], greets["calls"][0]["tool"]) == ("Hello!", "sayHello")
    assert [each["part"] for each in greets["failures"]] == ["expected"]
    assert (bye["error"]["type"], bye["columns"]) == ("ModelError", {"level": 2})


def test_junit_counts_what_passed_and_failed(folder: Path, model_server: ModelServer) -> None:
    case = {"program": "hello.gram", "input": "ring \x07", "expected": "\x07"}
    (folder / "more.jsonl").write_text(json.dumps(case))
    model_server.will_say(GREETING, "Hello, Al!", Answer({}, status=400), f"\x00\x07 {KEY} ]]>")

    done = run_cases(folder, model_server, "cases.jsonl", "more.jsonl", "--junit", "out.xml")

    assert done.returncode == 1
    text = (folder / "out.xml").read_text()
    assert KEY not in text + done.stdout
    root = ET.fromstring(text)
    assert root.tag == "testsuites"
    counts = [{key: each.get(key) for key in ("tests", "failures", "errors")} for each in root]
    assert counts == [
        {"tests": "2", "failures": "0", "errors": "1"},
        {"tests": "1", "failures": "1", "errors": "0"},
    ]
    names = [(each.get("classname"), each.get("name")) for each in root.iter("testcase")]
    assert names[0] == ("cases.jsonl", "greets")
    (failure,) = root.iter("failure")
    assert "Run" not in (failure.get("message") or "")
    assert "]]>" in (failure.text or "")


def test_what_was_done_is_kept_when_the_user_stops(folder: Path, model_server: ModelServer) -> None:
    model_server.will_say(GREETING, "Hello, Al!", Answer({}, silence=60))
    words = ("--checks", "checks.py", "--recordings", "once", "--junit", "out.xml")

    with started("test", "cases.jsonl", *words, cwd=folder, **at(model_server)) as process:
        assert process.stdout
        assert process.stdout.readline().startswith("passed")
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()

    assert process.returncode == 130
    assert "1 passed, 1 not run" in rest
    recorded = [each.name for each in (folder / "recordings" / "cases.jsonl").iterdir()]
    assert recorded == ["greets.run.gram"]
    (suite,) = ET.parse(folder / "out.xml").getroot()
    assert (suite.get("tests"), suite.get("skipped"), suite.get("failures")) == ("2", "1", "0")


def test_cases_beside_agents_are_found_in_a_folder(folder: Path, model_server: ModelServer) -> None:
    program = (folder / "hello.gram").read_text()
    (folder / "own.gram").write_text(f'{program}\n[hi:Case {{input: "hi"}}]\n')
    model_server.will_say("Hello")
    done = run_cases(folder, model_server, ".", "-k", "l", "-k", "hi")
    assert (done.returncode, done.stdout.split()[:1]) == (0, ["passed"])
    nothing = gram("test", "hello.gram", cwd=folder, **at(model_server))
    refused(nothing, 3, "there are no cases in the file")


SAYS = """\
{"program": "hello.gram"}
{"name": "a", "input": "Hi", "contains": "yes", "kind": "x", "tags": ["smoke"]}
{"name": "b", "input": "Ho", "contains": "yes", "kind": "y"}
"""


def test_a_case_passes_if_enough_of_its_runs_do(folder: Path, model_server: ModelServer) -> None:
    (folder / "says.jsonl").write_text(SAYS)
    model_server.will_say(*["yes"] * 4, "no", *["yes", "no"] * 2, "no")

    done = run_cases(folder, model_server, "says.jsonl", "--at-least", "4/5", "--by", "kind")

    printed(done, 1, "passed  4/5 (38 % to 96 %)")
    has(done.stdout, "FAILED  b (says.jsonl:3:1)\n  2 of 5 runs passed, at least 4 have to; run 2:")
    has(done.stdout, '  the answer does not contain "yes": "no"', "pass rate 60.0 % [")
    assert "5 of 5 may be luck: the case may pass only 57 % of the time" in done.stdout
    assert "kind=x  1      80.0 %" in done.stdout


def test_figures_are_printed_as_json(folder: Path, model_server: ModelServer) -> None:
    (folder / "says.jsonl").write_text(SAYS)
    model_server.will_say("yes", "no", "yes", "yes")
    done = run_cases(folder, model_server, "says.jsonl", "--repeats", "2", "--by", "kind", "--json")
    report = json.loads(done.stdout)
    assert [(each["runs"], each["runs_passed"]) for each in report["cases"]] == [(2, 1), (2, 2)]
    assert report["pass_rate"]["value"] == 0.75
    assert [each["value"] for each in report["slices"]] == ["x", "y"]


@pytest.mark.parametrize(("arguments", "message"), rows("choices"))
def test_choices_that_fit_no_case(
    folder: Path, model_server: ModelServer, arguments: list[str], message: str
) -> None:
    (folder / "says.jsonl").write_text(SAYS)
    done = run_cases(folder, model_server, "says.jsonl", *arguments)
    assert done.returncode in (2, 3)
    assert message in done.stderr
    assert model_server.requests == []


def test_a_judge_is_asked_recorded_and_replayed(folder: Path, model_server: ModelServer) -> None:
    case = {"program": "hello.gram", "name": "kind", "input": "Hi", "judge": "It is kind"}
    (folder / "judged.jsonl").write_text(json.dumps(case))
    model_server.will_say("Go away", '{"reason": "it is rude", "score": false}')
    words = ("judged.jsonl", "--judge-model", "OpenAI/judge", "--recordings", "once")

    first = run_cases(folder, model_server, *words)
    again = run_cases(folder, model_server, *words, OPENAI_API_KEY="")

    assert [each["model"] for each in model_server.requests] == ["gpt-5.6-luna", "judge"]
    for done in (first, again):
        printed(done, 1, "the judge says no to 'It is kind': it is rude")
    recorded = sorted(each.name for each in (folder / "recordings" / "judged.jsonl").iterdir())
    assert recorded == ["kind+judge1.run.gram", "kind.run.gram"]
    rehearsed = gram("test", "judged.jsonl", "--offline", cwd=folder)
    assert "'It is kind' is not judged: a rehearsal judges no rubric" in rehearsed.stdout
