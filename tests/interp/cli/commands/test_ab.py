"""``gram ab`` as people use it."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from interp import open_store
from tests.interp.cli.process import (
    at,
    forked,
    gram,
    has,
    printed,
    refused,
    rows,
    started,
    told,
)
from tests.interp.model_server import Answer, ModelServer
from tests.interp.tools.mcp.servers import relayed
from tests.interp.worker_processes import until
from tests.paths import EXAMPLES

CASES = "".join(
    json.dumps({"name": name, "input": f"Hello, I'm {name}!", "expected": f"Hi {name}."}) + "\n"
    for name in ("Ada", "Bob", "Cyd", "Dan", "Eve", "Fay", "Gil", "Hal")
)
TOOLS = '''
from interp import hello_world_tool_library, tool

sayHello = hello_world_tool_library["sayHello"]

@tool(name="sayHi", description="Returns a friendly greeting message for the given name")
def briefly(personName: str = "world") -> str:
    """Greets in two words."""
    return f"Hi {personName}."

def short(run):
    return len(run.content) < 10
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    program = (EXAMPLES / "hello_world.gram").read_text()
    (tmp_path / "A.gram").write_text(program)
    (tmp_path / "B.gram").write_text(program.replace("sayHello", "sayHi"))
    (tmp_path / "cases.jsonl").write_text(CASES)
    (tmp_path / "brief.py").write_text(TOOLS)
    hi = TOOLS.replace("sayHello = ", "other = ").replace("sayHi", "sayHello")
    (tmp_path / "hi.py").write_text(hi)
    (tmp_path / "greetings.gram").write_text(EXPERIMENT)
    return tmp_path


COMPARED = ("ab", "--cases", "cases.jsonl", "--offline", "--seed", "1")
EXPERIMENT = """
(:Experiment {cases: "cases.jsonl", program: "A.gram", model: "Offline/rehearsal", seed: 1,
  pilot: 2, metrics: ["passed", "tokens"]})
[greeting:Factor | (long:Arm), (short:Arm {library: "brief"})]
(prompt:Factor {levels: ["Be kind.", "Be fast."]})
"""
FILE = ("ab", "greetings.gram", "--tools", "brief=hi.py")
TWO = (*COMPARED, "A.gram", "B.gram", "--tools", "brief.py")


def test_arms_ask_in_the_dialect_that_is_named(folder: Path, model_server: ModelServer) -> None:
    (folder / "two.jsonl").write_text("".join(CASES.splitlines(keepends=True)[:2]))
    asked = ("--model", "Mine/a", "--base-url", model_server.url, "--dialect", "responses")
    arms = ("A.gram", "B.gram", "--tools", "brief.py", "--set", "temperature=0")
    model_server.will_say(*["Hi."] * 4)
    done = gram("ab", "--cases", "two.jsonl", *asked, *arms, cwd=folder)
    assert (done.returncode, len(model_server.requests)) == (0, 4)
    assert all("input" in each for each in model_server.requests)
    assert all(each["temperature"] == 0 for each in model_server.requests)


def test_two_programs_are_compared_and_shown_again_as_json_and_html(folder: Path) -> None:
    words = (*TWO, "--metric", "passed", "--metric", "brief.py:short")
    first, same = gram(*words, cwd=folder), gram(*words, "-q", cwd=folder)
    again = gram("ab", "A-B.ab", "--html", "report.html", cwd=folder)
    found = json.loads(gram("ab", "A-B.ab", "--json", cwd=folder).stdout)

    assert (first.returncode, first.stderr.splitlines()[0][:8]) == (0, "16 runs;")
    has(first.stdout, "passed *: B − A  +100.0 points", "B is better")
    assert first.stdout == again.stdout == same.stdout
    assert same.stderr == ""
    kept = {each.name for each in (folder / "A-B.ab").iterdir()}
    assert kept == {"plan.gram", "results.gram", "runs.db"}
    one = found["comparisons"][0]
    assert (one["difference"], one["significant"], one["better"]) == (1.0, True, 8)
    page = (folder / "report.html").read_text()
    assert page.startswith("<!doctype html>")
    assert 'href="report.runs/0001-1-2-B.html"' in page
    assert "Hi Ada." in (folder / "report.runs" / "0001-1-2-B.html").read_text()
    for run in ("0001-1-1-A", "0008-1-2-B"):
        assert gram("trace", f"A-B.ab/runs.db#{run}", cwd=folder).returncode == 0


SCHEMA = {"type": "object", "required": ["name"]}
TYPED = """
[a:Agent {instruction: "Who?", model: "OpenAI/x"} | [answer::Answer::Object | (name::String)]]
[b:Agent {instruction: "Who?", model: "OpenAI/x"}]
"""


def test_answers_are_held_to_a_type_or_a_schema(folder: Path, model_server: ModelServer) -> None:
    model_server.takes_any_path = True
    model_server.will_say(*['{"name": "Ada"}'] * 3, '{"who": "Ada"}')
    for name, program in zip("ab", TYPED.strip().split("\n"), strict=True):
        (folder / f"{name}.gram").write_text(program)
    (folder / "b2.gram").write_text((folder / "b.gram").read_text())
    (folder / "schema.json").write_text(json.dumps(SCHEMA))
    (folder / "one.csv").write_text("input\nAda\n")
    of = ("ab", "--cases", "one.csv", "--jobs", "1", "--seed", "2")

    declared = gram(*of, "a.gram", "b.gram", "--metric", "schema", cwd=folder, **at(model_server))
    schema = ("b.gram", "b2.gram", "--metric", "schema.json", "--json")
    named = gram(*of, *schema, cwd=folder, **at(model_server))
    none = gram(*of, "b.gram", "--metric", "schema", cwd=folder, **at(model_server))

    printed(declared, 0, "schema *     100.0 %")
    scores = [each["scores"]["schema"]["value"] for each in json.loads(named.stdout)["trials"]]
    assert sorted(scores) == [False, True]
    refused(none, 4, "no agent declares a type; name a schema")


@pytest.mark.parametrize("text", ["{", "[]", '{"type": "nope"}'])
def test_a_file_that_is_no_schema_is_told(folder: Path, text: str) -> None:
    (folder / "s.json").write_text(text)
    why = "not a JSON Schema" if "nope" in text else "no JSON Schema"
    refused(gram(*COMPARED, "A.gram", "--metric", "s.json", cwd=folder), 4, "s.json: ", why)


JUDGE = """
[judge:Agent {instruction: "Is the answer short?", model: "OpenAI/x"} |
  [count:ToolSpecification {description: "Counts letters"} | (text::String)==>(::Integer)],
  (:Answer:Boolean)]
"""
COUNT = """
from interp import tool

@tool(description="Counts letters")
def count(text: str) -> int:
    return len(text)
"""


def test_a_judge_has_tools_of_its_own_and_rehearses_offline(folder: Path) -> None:
    (folder / "judge.gram").write_text(JUDGE)
    (folder / "count.py").write_text(COUNT)
    judged = (*COMPARED, "A.gram", "--metric", "judge.gram")
    without = gram(*judged, cwd=folder)
    done = gram(*judged, "--tools", "judge=count.py", cwd=folder)
    refused(without, 3, "hint: --tools judge=FILE.py names the tools of this judge")
    printed(done, 0, "judge *")


def test_an_arm_that_does_not_bind_is_refused_before_anything_runs(folder: Path) -> None:
    program = (folder / "B.gram").read_text()
    (folder / "B.gram").write_text(program.replace("personName", "someoneElse"))
    refused(gram(*TWO, cwd=folder), 3, "arm B: ", "B.gram:7:")
    assert not (folder / "A-B.ab").exists()


@pytest.mark.parametrize(("arguments", "code", "message"), rows("wrong use of ab"))
def test_misuse_is_told(folder: Path, arguments: list[str], code: int, message: str) -> None:
    refused(gram(*arguments, cwd=folder), code, message)


def test_the_file_of_an_experiment_says_what_it_takes_and_asks(folder: Path) -> None:
    waits = gram(*FILE, cwd=folder)
    done = gram(*FILE, "--yes", cwd=folder)
    shown = gram("ab", "greetings.ab", cwd=folder)

    told(waits, 6, "24 runs and 8 of a pilot; plan", "24 runs will take about 0 tokens, ")
    has(waits.stderr, "if they are like the 2 cases of the pilot", "too few to find a main effect")
    assert "nobody can be asked here: --yes runs them" in waits.stderr
    assert "0 of 24 runs are done" in waits.stdout
    assert "difference" not in waits.stdout
    told(done, 0, "8 of them are done")
    assert "passed *: greeting short − long" in done.stdout
    has(done.stdout, "greeting short − long × prompt Be fast. − Be kind.", "as one of 6 tests")
    assert shown.stdout == done.stdout


def test_a_rehearsal_asks_no_model_that_a_file_names(folder: Path) -> None:
    file = folder / "greetings.gram"
    (folder / "cases.jsonl").write_text("".join(CASES.splitlines(keepends=True)[:3]))
    file.write_text(EXPERIMENT + '(model:Factor {levels: ["OpenAI/a", "OpenAI/b"]})')
    done = gram(*FILE, "--offline", "--yes", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["plan"]["factors"]["model"] == ["OpenAI/a", "OpenAI/b"]


def test_ctrl_c_keeps_what_is_done_and_says_so(folder: Path, model_server: ModelServer) -> None:
    model_server.takes_any_path = True
    model_server.will_say("Hi Ada.", "Hi Bob.", Answer({"x": 1}, silence=120))
    command = ["ab", "A.gram", "--cases", "cases.jsonl", "--jobs", "1", "--out", "x"]
    with started(*command, cwd=folder, **at(model_server)) as process:
        until(lambda: len(model_server.requests) == 3)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)

    assert process.returncode == 130
    assert "2 of 8 runs are kept in x; the same command goes on with them" in said
    assert "Traceback" not in said
    model_server.will_say(*["Hi."] * 6)
    done = gram(*command, cwd=folder, **at(model_server))
    assert (done.returncode, len(model_server.requests)) == (0, 9)
    assert "8 runs, 2 of them are done" in done.stderr


def test_a_full_disk_keeps_what_was_done(folder: Path) -> None:
    done = forked(*TWO, "--out", "x", "--jobs", "1", cwd=folder, largest=2600)
    assert "Traceback" not in done.stderr
    assert done.returncode == 2, done.stderr
    assert "too large" in done.stderr or "is the disk full" in done.stderr
    if (folder / "x" / "results.gram").exists():
        assert gram(*TWO, "--out", "x", cwd=folder).returncode == 0


# --- servers


COUNTING = """
import os, sys
from mcp.server.mcpserver import MCPServer

server = MCPServer("counting", log_level="ERROR")
calls = []

@server.tool(structured_output=False)
def sayHello(personName: str = "world") -> str:
    \"\"\"Returns a friendly greeting message for the given name\"\"\"
    calls.append(personName)
    return f"Hello for the {len(calls)}. time in {os.environ.get('PLACE')}"

server.run()
"""


@pytest.fixture
def servers(folder: Path, forks: None) -> Path:
    """A server that counts its calls, in a folder with programs that use it."""
    (folder / "counting.py").write_text(COUNTING)
    (folder / "B.gram").write_text((folder / "A.gram").read_text())
    command = relayed(folder / "counting.py")
    entries = {"here": {"command": command[0], "args": command[1:], "env": {"PLACE": "here"}}}
    (folder / "servers.json").write_text(json.dumps({"mcpServers": entries}))
    return folder


WITH_SERVERS = (
    *("ab", "--cases", "cases.jsonl", "--offline", "--seed", "1", "--match", "name"),
    *("A.gram", "B.gram", "--out", "x", "--mcp", "servers.json:here"),
)


def test_each_run_has_a_server_of_its_own(servers: Path) -> None:
    (servers / "cases.jsonl").write_text(CASES[: CASES.index("Cyd") - 10])
    done = gram(*WITH_SERVERS, "--approve", "all", cwd=servers)

    assert done.returncode == 0, done.stderr
    with open_store(servers / "x" / "runs.db") as store:
        runs = {row.id: store.entries(row.id) for row in store.rows()}
    assert len(runs) == 4
    assert {run[-1] for run in runs} == {"A", "B"}
    for entries in runs.values():
        assert "Hello for the 1. time in here" in "".join(entries)


def test_a_server_that_cannot_be_used_is_told_before_anything_runs(servers: Path) -> None:
    done = gram(*WITH_SERVERS, "--approve", "all", "--mcp", "no-such-program", cwd=servers)
    refused(done, 4, "arm A: ", "there is no program no-such-program")
    assert not (servers / "x").exists()
