"""The pytest plugin, in pytest processes of its own that talk to a real server."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from interp import load_run
from tests.interp.cli.process import KEY, without_keys
from tests.interp.forked import PYTEST
from tests.interp.forking import run_forked
from tests.interp.model_server import Answer, ModelServer, tool_calls
from tests.paths import EXAMPLES, ROOT

GREETING = tool_calls(("c1", "sayHello", {"personName": "Al"}))
TEST = """
from interp import hello_world_tool_library


def test_greets(gram_agent, gram_recording):
    agent = gram_agent("hello.gram", tools=hello_world_tool_library)
    response = agent.run("I am Al")
    assert response.content == "Hello, Al!"
    assert [call.tool_name for call in response.tools_used] == ["sayHello"]
    assert response.usage.input_tokens == 20
"""


class Project:
    """A folder with tests, and pytest in it."""

    def __init__(self, folder: Path, server: ModelServer) -> None:
        self.folder = folder
        self.server = server
        (folder / "hello.gram").write_text((EXAMPLES / "hello_world.gram").read_text())
        self.write(TEST)
        self.write("[pytest]\naddopts = -p no:cacheprovider --import-mode=importlib", "pytest.ini")

    def write(self, text: str, name: str = "test_hello.py") -> None:
        (self.folder / name).write_text(text)

    def pytest(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run pytest; the server is found by the addresses in the environment."""
        return run_forked(
            PYTEST,
            ["-p", "pytest_gram", "-q", *arguments],
            cwd=self.folder,
            timeout=120,
            environment=self.environment | environment,
        )

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a run."""
        addresses = {"OPENAI_BASE_URL": self.server.url, "OPENAI_API_KEY": KEY}
        alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)}
        return {**without_keys(), **alone, **addresses}

    @property
    def recordings(self) -> list[str]:
        """The recordings, by their paths in the folder."""
        found = self.folder.rglob("*.run.gram")
        return sorted(path.relative_to(self.folder).as_posix() for path in found)


@pytest.fixture
def project(tmp_path: Path, model_server: ModelServer) -> Project:
    return Project(tmp_path, model_server)


def passed(done: subprocess.CompletedProcess[str], count: int = 1) -> bool:
    return done.returncode == 0 and f"{count} passed" in done.stdout


RECORDED = "recordings/test_hello/test_greets.run.gram"


def test_a_run_is_recorded_once_and_replayed_or_recorded_anew_or_never(project: Project) -> None:
    missing = project.pytest("--gram-recordings=none")
    project.server.will_say(*[GREETING, "Hello, Al!"] * 2)
    first = project.pytest()
    before = (project.folder / RECORDED).read_bytes()
    again = project.pytest(OPENAI_API_KEY="", OPENAI_BASE_URL="http://127.0.0.1:9")
    assert len(project.server.requests) == 2
    assert project.recordings == [RECORDED]
    anew = project.pytest("--gram-recordings=all")

    for done in (first, again, anew):
        assert passed(done), done.stdout

    assert missing.returncode == 1
    assert f"{project.folder / RECORDED}: there is no recording" in missing.stdout
    assert "pytest --gram-recordings=once records what is missing" in missing.stdout
    assert len(project.server.requests) == 4
    assert (project.folder / RECORDED).read_bytes() != before
    assert passed(project.pytest("--gram-recordings=none"))


def test_a_changed_program_or_recording_fails_with_the_difference(project: Project) -> None:
    project.server.will_say(GREETING, "Hello, Al!")
    project.pytest()
    program, file = project.folder / "hello.gram", project.folder / RECORDED
    text, shorter = file.read_text(), ("friendly conversations", "short talks")
    edits = [
        (file, "Bye".join(text.rsplit("Hello, Al!", 1)), "assert 'Bye' == 'Hello, Al!'"),
        (file, text.replace("[1]", "[7]"), "test_greets.run.gram:"),
        (file, text[: len(text) // 2], "test_greets.run.gram"),
        (file, text[:20], "hint: pytest --gram-recordings=changed asks what changed, all records"),
        (program, program.read_text().replace(*shorter), "request at position (0) is not the one"),
    ]
    for changed, content, message in edits:
        before = changed.read_text()
        changed.write_text(content)
        done = project.pytest()
        changed.write_text(before)
        assert (done.returncode, message in done.stdout) == (1, True)

    assert "+instruction: Have short talks" in done.stdout
    assert "pytest --gram-recordings=changed asks what changed" in done.stdout
    assert len(project.server.requests) == 2


def test_a_failure_shows_its_run_and_no_key_and_a_broken_off_one_is_not_kept(
    project: Project,
) -> None:
    called = 'sayHello(personName: "Al") -> "Hello, Al! Nice to meet you."'
    project.server.will_say(GREETING, Answer({"error": {"message": "no"}}, status=400))
    done = project.pytest()
    assert (done.returncode, called in done.stdout, project.recordings) == (1, True, [])

    project.server.will_say(GREETING, f"Bye, {KEY}!")
    done = project.pytest()
    assert done.returncode == 1
    for told in ("Run of the agent", called, 'model: "Bye, '):
        assert told in done.stdout
    assert KEY not in (project.folder / RECORDED).read_text() + done.stdout
    assert load_run(project.folder / RECORDED).state.run_id


def test_the_documented_test_passes(project: Project) -> None:
    (project.folder / "hello.gram").rename(project.folder / "hello_world.gram")
    page = (ROOT / "docs" / "test" / "testing.md").read_text()
    project.write(page.split("```python\n")[1].split("```")[0])
    project.server.will_say(GREETING, "Hello, Al!")
    done = project.pytest()
    assert passed(done), done.stdout


NAMES = """
import pytest

class TestOne:
    @pytest.mark.parametrize("name", ["Al", "a/b", "a b", "é", "", "x" * 300, "../../up"])
    def test_greets(self, gram_agent, gram_recording, name):
        assert gram_agent("hello.gram", tools=TOOLS).run(f"I am {name}").content == "ok"

class TestTwo:
    def test_greets(self, gram_agent, gram_recording):
        agent = gram_agent("hello.gram", tools=TOOLS)
        first = agent.run("I am Al")
        assert agent.run("And now?", first.context).content == "ok"

from interp import hello_world_tool_library as TOOLS
"""


def test_each_test_and_each_run_has_a_file_with_a_safe_and_readable_name(project: Project) -> None:
    project.write(NAMES)
    project.server.will_say(*["ok"] * 9)

    done = project.pytest()

    assert passed(done, 8), done.stdout
    folder = "recordings/test_hello"
    names = [name.removeprefix(f"{folder}/") for name in project.recordings]
    assert len(names) == 9
    assert {"TestOne.test_greets-Al.run.gram", "TestTwo.test_greets.run.gram"} <= set(names)
    assert "TestTwo.test_greets+2.run.gram" in names
    assert [name for name in names if name.startswith("TestOne.test_greets-a-b-")]
    assert max(map(len, names)) < 255
    assert passed(project.pytest(OPENAI_BASE_URL="http://127.0.0.1:9"), 8)


GUARDED = """
import asyncio
import socket

def connect(port):
    socket.create_connection(("127.0.0.1", port)).close()

def test_with_an_agent(gram_agent):
    assert gram_agent("hello.gram", model="Offline/rehearsal", tools=TOOLS).run("hi").content
    URL

def test_with_a_recording(gram_recording):
    URL

def test_by_name(gram_agent):
    socket.create_connection(("example.invalid", 80))

def test_by_address(gram_agent):
    socket.socket().connect(("192.0.2.1", 80))

def test_other_tests():
    URL
    assert "guarded" not in socket.socket.connect.__qualname__
    assert socket.getaddrinfo.__module__ == "socket"

def test_by_asyncio(gram_agent):
    async def ask():
        await asyncio.open_connection("192.0.2.1", 80)
    asyncio.run(ask())

def test_by_datagram(gram_agent):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"", ("192.0.2.1", 80))

def test_by_a_tool(gram_agent):
    @tool(description="Returns a friendly greeting message for the given name")
    def sayHello(personName: str = "world") -> str:
        socket.create_connection(("example.invalid", 80))
    gram_agent("hello.gram", model="Offline/rehearsal", tools=sayHello).run("Hi, I'm Al")

def test_by_a_model(gram_agent):
    gram_agent("hello.gram", tools=TOOLS, base_url="http://192.0.2.1/v1").run("hi")

def test_by_a_model_without_blocking(gram_agent):
    agent = gram_agent("hello.gram", tools=TOOLS, base_url="http://192.0.2.1/v1")
    asyncio.run(agent.arun("hi"))

def test_what_is_swallowed(gram_agent):
    try:
        socket.create_connection(("example.invalid", 80))
    except Exception:
        pass

from interp import hello_world_tool_library as TOOLS, tool
"""


def test_the_network_is_refused_in_tests_that_use_the_fixtures_alone(project: Project) -> None:
    host = project.server.url.split("/")[2]
    project.write(GUARDED.replace("URL", f"connect({host.split(':')[1]})"))

    done = project.pytest("-rA")

    refusing = ["by_name", "by_address", "by_asyncio", "by_datagram", "by_a_tool", "by_a_model"]
    refusing += ["with_a_recording", "by_a_model_without_blocking", "what_is_swallowed"]
    for test in refusing:
        assert f"FAILED test_hello.py::test_{test}" in done.stdout
    refused = "a test of an agent may not connect to"
    assert f"{refused} {host}: what is recorded is replayed" in done.stdout
    assert f"{refused} example.invalid:80: use the fixture gram_recording" in done.stdout
    assert f"{refused} 192.0.2.1:80" in done.stdout
    for test in ("with_an_agent", "other_tests"):
        assert f"PASSED test_hello.py::test_{test}" in done.stdout


KEPT = """
from interp import hello_world_tool_library as TOOLS, run

def test_one(gram_agent, gram_recording):
    assert gram_agent("hello.gram", tools=TOOLS).run("hi").content == "one"

def test_two(gram_recording):
    run(load("hello.gram"), "hi", TOOLS)

from interp import load
"""


def test_a_connection_of_a_recording_is_not_used_by_other_tests(project: Project) -> None:
    project.write(KEPT)
    project.server.will_say("one", "two")
    done = project.pytest()
    assert "1 failed, 1 passed" in done.stdout
    assert len(project.server.requests) == 1


def test_nothing_of_ours_is_imported_before_a_fixture_is_used(project: Project) -> None:
    project.write("""
import sys
found = {name.split(".")[0] for name in sys.modules} & {"gram", "lenses_ext", "interp"}

def test_nothing_is_imported():
    assert found == set()
""")
    words = [sys.executable, "-m", "pytest", "-p", "pytest_gram", "-q"]
    here: Any = {"cwd": project.folder, "env": project.environment}
    assert passed(subprocess.run(words, capture_output=True, text=True, timeout=120, **here))


CONVERSATION = """
import asyncio
import pytest
from interp import run

def test_own_program(gram_recording):
    assert gram_recording.run(load("hello.gram"), "hi", TOOLS).content == "one"

def test_without_blocking(gram_agent, gram_recording):
    agent = gram_agent("hello.gram", tools=TOOLS)
    async def both():
        return await asyncio.gather(agent.arun("a"), agent.arun("b"))
    assert [each.content for each in asyncio.run(both())] == ["one", "one"]

def test_own_world(gram_recording):
    with pytest.raises(ConfigurationError, match="its own record"):
        gram_recording.run(load("hello.gram"), "hi", TOOLS, record="x.run.gram")

def test_limit(gram_agent, gram_recording):
    with pytest.raises(LimitError):
        gram_agent("hello.gram", tools=TOOLS, limits=Limits(tokens=5)).run("hi")

from interp import ConfigurationError, LimitError, Limits, load
from interp import hello_world_tool_library as TOOLS
"""


def test_any_run_can_be_recorded(project: Project) -> None:
    project.write(CONVERSATION)
    project.server.will_say("one", "one", "one", GREETING)

    first = project.pytest("-p", "no:randomly")
    again = project.pytest(OPENAI_BASE_URL="http://127.0.0.1:9")

    assert passed(first, 4), first.stdout
    assert passed(again, 4), again.stdout
    assert len(project.recordings) == 4


CASES = """{"program": "hello.gram"}
{"name": "greets", "input": "I am Al", "expected": "Hello, Al!", "calls": ["sayHello"]}
{"name": "leaves", "input": "Bye", "expected": "Bye!"}
"""


def test_the_cases_of_files_are_tests_that_gram_test_runs(project: Project) -> None:
    project.write(CASES, "talks.cases.jsonl")
    project.server.will_say(GREETING, "Hello, Al!", "See you!")
    only = "talks.cases.jsonl"

    first = project.pytest(only)
    again = project.pytest(only, OPENAI_API_KEY="", OPENAI_BASE_URL="http://127.0.0.1:9")
    chosen = project.pytest(only, "-k", "greets")

    for done in (first, again):
        assert "1 failed, 1 passed" in done.stdout
        assert "talks.cases.jsonl::leaves" in done.stdout
        assert re.search(r"the answer is not the expected(.*\n)*.*jsonl:\d+:1:\n", done.stdout)
        assert "leaves - Failed: the answer is not the expected" in done.stdout
        assert 'model: "See you!"' in done.stdout
    assert passed(chosen)
    assert len(project.recordings) == 2


def test_the_options_of_gram_test_are_a_setting_of_pytest(project: Project) -> None:
    rows = 'program,input,calls\nhello.gram,"Hello, I\'m Al!",sayHello\nhello.gram,Hi,'
    project.write(rows, "x.cases.csv")
    project.write("[pytest]\naddopts = -p no:cacheprovider\ngram_test = --offline", "pytest.ini")

    done = project.pytest("x.cases.csv")

    assert done.returncode == 0
    assert "x.cases.csv:3:1: any answer passes Hi" in done.stdout
    assert project.recordings == []


def test_files_of_tools_are_found_beside_the_test_from_any_folder(project: Project) -> None:
    tool = "from interp import tool\n@tool\ndef {0}(x: str) -> str:\n    'Says'\n    return '{0}'\n"
    for name in ("here", "there"):
        (project.folder / name).mkdir()
        project.write(tool.format(name), f"{name}/tools.py")
        spec = f'[{name}:ToolSpecification {{description: "Says"}} | (x::String)==>(::String)]'
        head = '[a:Agent {instruction: "Hi", model: "Offline/rehearsal"} | '
        project.write(f"{head}{spec}]", f"{name}/a.gram")
        tools = {"here": '"tools.py"', "there": '["tools.py:there"]'}[name]
        project.write(
            f"def test_it(gram_agent):\n"
            f"    agent = gram_agent('a.gram', tools={tools})\n"
            f"    assert agent.run('{name} x: \"b\"').content == '{name}'\n",
            f"{name}/test_{name}.py",
        )

    done = project.pytest("here", "there")

    assert passed(done, 2), done.stdout


def test_what_is_wrong_is_shown_at_the_line_of_the_test(project: Project) -> None:
    project.write("[broken:Agent {", "broken.gram")
    project.write('{"program": "hello.gram", "inptu": "I am Al"}', "talks.cases.jsonl")
    project.write(
        """
def test_no_file(gram_agent):
    gram_agent("nowhere.gram")

def test_broken(gram_agent):
    gram_agent("broken.gram")

def test_nothing_is_recorded(gram_agent, gram_recording):
    gram_agent("hello.gram").run("hi")
"""
    )

    words = ("--continue-on-collection-errors", "--gram-recordings=none")
    done = project.pytest("test_hello.py", "talks.cases.jsonl", *words)

    assert re.search(r"3 failed, .*1 error", done.stdout)
    assert re.search(r"talks\.cases\.jsonl:1.*input", done.stdout)
    assert "nowhere.gram" in done.stdout
    assert "the `{` opened at 1:15 is not closed" in done.stdout
    assert "there is no recording" in done.stdout
    assert '>       gram_agent("hello.gram").run("hi")' in done.stdout
    assert "interp/" not in done.stdout  # no line of ours
    assert "gram_recording = <RunsOfTest: 1 run>" in done.stdout
