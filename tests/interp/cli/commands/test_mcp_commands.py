"""``--mcp``: MCP servers at the command line."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import pytest

from gram import loads, loads_one
from lenses_ext import agent_tool_specs, view
from tests.interp.cli.process import forked as gram, refused, told, written
from tests.interp.cli.typing_at import Terminal
from tests.interp.tools.mcp.servers import GOOD, bad, hanging
from tests.interp.worker_processes import until

pytestmark = pytest.mark.usefixtures("forks")

SERVER = shlex.join(GOOD)
SERVERS = json.dumps({"mcpServers": {"good": {"command": GOOD[0], "args": GOOD[1:]}}})
AGENT = """// mine
[helper:Agent {
  description: "Helps", // why
  instruction: "Use tools.",
  model: "Ollama/llama3.2"
}]
"""


@pytest.fixture
def servers(tmp_path: Path) -> str:
    """A file in the ``mcpServers`` form."""
    return written(tmp_path / "servers.json", SERVERS)


@pytest.fixture(scope="module")
def helper(forks: None, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The text of an agent with two tools of the server."""
    path = tmp_path_factory.mktemp("helper") / "a.gram"
    path.write_text(AGENT)
    (path.parent / "servers.json").write_text(SERVERS)
    words = ("--mcp", str(path.parent / "servers.json"), "shout", "greet", "-i")
    added = gram("add", str(path), "helper.tools", *words)
    assert added.returncode == 0, added.stderr
    return path.read_text()


@pytest.fixture
def program(tmp_path: Path, helper: str) -> Path:
    """An agent with two tools of the server."""
    path = tmp_path / "a.gram"
    path.write_text(helper)
    return path


def test_tools_are_added_with_what_they_came_from_and_bind(program: Path, servers: str) -> None:
    text = program.read_text()
    specs = view(agent_tool_specs, loads_one(text))
    assert text.startswith('// mine\n[helper:Agent {\n  description: "Helps", // why\n')
    assert [spec.value.identity for spec in specs] == ["shout", "greet"]
    assert specs[0].value.properties["source"] == "good"
    assert gram("tools", str(program), "--mcp", f"{servers}:good").returncode == 0
    assert gram("check", str(program)).returncode == 0


def test_the_tools_of_a_server_are_printed_as_gram_with_what_it_says_of_them() -> None:
    done = gram("tools", "--mcp", SERVER, "--print-gram")
    tools = {each.value.identity: each.value.properties for each in loads(done.stdout)}
    assert '[shout:ToolSpecification {\n  description: "Says it in capitals.",' in done.stdout
    assert '(text::String {title: "Text"})==>(::Any)' in done.stdout
    said = [[tools[name].get(key) for key in ("returns", "sends")] for name in ("look", "put")]
    assert said == [["untrusted", None], ["untrusted", True]]
    assert tools["shout"].keys().isdisjoint(("returns", "sends"))


def test_new_words_are_refused_until_update_takes_them(program: Path, servers: str) -> None:
    before = program.read_text()
    older = before.replace("Greets a person", "Greets").replace("text::String", "text::Integer")
    program.write_text(older)

    stopped = gram("run", str(program), "--mcp", servers, "--offline", "hi")
    told(stopped, 3, "description: spec 'Greets.', implementation 'Greets a person.'")
    assert 'type of `text`: spec "integer"' in stopped.stderr
    assert stopped.stderr.endswith("--update shows what they say now; -i takes it\n")

    updated = gram("tools", str(program), "--mcp", servers, "--update")
    assert updated.stdout.startswith(f"--- {program}\n+++ {program} (new)\n")
    assert program.read_text() == older

    updated = gram("tools", str(program), "--mcp", servers, "--update", "-i")
    assert updated.returncode == 0
    assert updated.stdout.startswith(f"--- {program}\n+++ {program} (new)\n")
    assert program.read_text() == before


def test_a_rehearsal_asks_before_each_call_of_a_server(program: Path, servers: str) -> None:
    said = ("run", str(program), "--mcp", servers, "--offline", "greet 'Ann'")
    asked = gram(*said)
    allowed = gram(*said, "--approve", "all")
    assert "denied, because there is no terminal to ask at" in asked.stderr
    assert "Hello" in allowed.stdout


def test_a_rehearsal_wants_a_word_for_servers(program: Path, servers: str) -> None:
    tested = gram("test", str(program), "--mcp", servers, "--offline")
    run = gram("run", str(program), "--mcp", "http://127.0.0.1:1/mcp", "--offline", "hi")
    refused(tested, 2, "a rehearsal invents arguments")
    refused(run, 2, '--offline uses no network, and the MCP server "http://127.0.0.1:1/mcp"')


def test_ctrl_c_ends_a_server_that_is_starting(program: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    with Terminal("run", str(program), "--mcp", shlex.join(hanging(mark)), "hi") as terminal:
        until(mark.exists)
        terminal.type("\x03")
        assert terminal.leaves() == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)


def test_cases_are_run_with_the_tools_of_a_server(program: Path, servers: str) -> None:
    case = """{"program": "a.gram", "input": "greet 'Ann'", "calls": ["greet"]}\n"""
    cases = written(program.with_name("cases.jsonl"), case)
    done = gram("test", cases, "--mcp", servers, "--offline", "--approve", "all")
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done


@pytest.mark.parametrize(
    ("server", "message"),
    [
        ("no-such-program", "there is no program no-such-program"),
        (shlex.join(bad("twice")), 'lists the tool "same" twice'),
        (shlex.join(bad("ends-at-start")), "it wrote last:\nno configuration found"),
        ("http://127.0.0.1:1/mcp", "cannot be reached"),
    ],
    ids=["not there", "names twice", "ends at start", "not reached"],
)
def test_a_server_of_no_use_is_told_first(program: Path, server: str, message: str) -> None:
    done = gram("run", str(program), "--mcp", server, "hi")
    refused(done, 4, message)


def test_debug_shows_the_standard_error_of_a_server(program: Path, servers: str) -> None:
    said = ("run", str(program), "--mcp", servers, "--offline", "--approve", "all", "shout 'a'")
    assert "the good server starts" in gram(*said, "--debug").stderr
    assert "the good server starts" not in gram(*said).stderr


def test_progress_is_shown_behind_what_is_waited_for(program: Path, servers: str) -> None:
    gram("add", str(program), "helper.tools", "--mcp", servers, "progress", "-i")
    said = ("run", str(program), "--mcp", servers, "--offline", "--approve", "all")
    with Terminal(*said, "progress of 'a \x1b[J' for 3 seconds", TERM="xterm") as terminal:
        terminal.until("s 1 of 2: a \\x1b[J")
        assert terminal.leaves() == 0
        assert "\x1b[J" not in terminal.raw
