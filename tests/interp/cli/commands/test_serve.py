"""``gram serve``: the command, from its options to its end."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from interp.history.stores import open_store
from tests.interp.cli.process import HELLO, gram, refused, relayed, rows, started, without_keys
from tests.interp.serving.served import GREETER, ask, client, until
from tests.interp.serving.test_mcp_clients import request
from tests.interp.serving.test_openai_client import COUNTER
from tests.paths import ROOT


class Log:
    """What a server has told so far."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def events(self) -> list[dict[str, str]]:
        return [json.loads(each) for each in self._path.read_text().splitlines() if each[0] == "{"]

    def port(self) -> int:
        until(lambda: any(each.get("event") == "server_started" for each in self.events()))
        (started,) = (each for each in self.events() if each.get("event") == "server_started")
        return int(re.findall(r":(\d+)/v1", started["message"])[0])

    def has(self, event: str) -> bool:
        return any(each.get("event") == event for each in self.events())


@contextmanager
def served(tmp_path: Path, *options: str, **environment: str) -> Iterator[Log]:
    """A server in a process of its own, which is told to end, and ends well."""
    told = tmp_path / "log"
    with told.open("w") as errors:
        process = subprocess.Popen(
            relayed("serve", *options, "--port", "0", "--log-format", "json"),
            cwd=ROOT,
            env={**without_keys(), "PYTHONPATH": str(ROOT), **environment},
            stderr=errors,
        )
    try:
        yield Log(told)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0, told.read_text()
    finally:
        process.kill()
        process.wait()


def test_it_serves_a_program_until_it_is_told_to_stop(tmp_path: Path) -> None:
    options = ("--offline", "--key-env", "SERVE_KEY", "--body-bytes", "400", "--grace", "0")
    with served(tmp_path, HELLO, *options, SERVE_KEY="open") as log:
        port = log.port()
        with client(port, "open") as asking:
            answer = asking.chat.completions.create(
                model="hello_world_agent", messages=[{"role": "user", "content": "Hi, I'm Alice"}]
            )
        metrics = ask(port, "/metrics", method="GET", Authorization="Bearer open")
        too_long = ask(port, "/v1/chat/completions", b" " * 401, Authorization="Bearer open")

    assert answer.choices[0].message.content == "Hello, Alice! Nice to meet you."
    assert "gram_tool_duration" in metrics[2]
    assert too_long[0] == 413
    assert log.has("exchange_ended")
    assert log.has("server_ended")


def test_a_changed_program_is_taken_and_one_with_faults_is_not(tmp_path: Path) -> None:
    program = tmp_path / "a.gram"
    program.write_text(GREETER)
    with served(tmp_path, str(program), "--offline", "--reload") as log:
        port = log.port()

        def names() -> list[str]:
            return json.loads(ask(port, "/health", method="GET")[2])["agents"]

        program.write_text(GREETER.replace("greeter", "welcomer"))
        until(lambda: names() == ["welcomer"])
        program.write_text("[broken:Agent")
        until(lambda: log.has("reload_refused"))

        assert names() == ["welcomer"]
        program.unlink()
        os.mkfifo(program)  # which nobody ever writes to
        until(lambda: "not a regular file" in log.events()[-1]["message"])
        program.unlink()
        program.write_text(GREETER)
        until(lambda: names() == ["greeter"])
        program.write_text('{imports: ["b.gram"]}\n' + GREETER.replace("greeter", "importer"))
        until(lambda: '"b.gram" is not there' in log.events()[-1]["message"])
        program.with_name("b.gram").write_text(GREETER)  # which was not watched
        until(lambda: names() == ["importer"])


@pytest.mark.parametrize(("options", "code", "told"), rows("not served"))
def test_what_cannot_be_served_is_refused(options: list[str], code: int, told: str) -> None:
    refused(gram("serve", HELLO, "--offline", *options), code, told)


TOOLS = """
import os, pathlib, time
from interp import tool

print("when it is read")
os.system("echo by a child")

@tool
def add(a: int, b: int) -> int:
    \"\"\"Adds two numbers\"\"\"
    print("when it is called", flush=True)
    os.system("echo by a child")
    while not pathlib.Path(GO).exists():
        time.sleep(0.01)
    return a + b
"""


def over_stdio(tmp_path: Path, go: Path, *options: str) -> list[str]:
    """The words that serve an agent with a tool that waits for a file."""
    (tmp_path / "counter.gram").write_text(COUNTER)
    (tmp_path / "tools.py").write_text(TOOLS.replace("GO", repr(str(go))))
    files = [str(tmp_path / "counter.gram"), "--tools", str(tmp_path / "tools.py")]
    return ["serve", *files, "--offline", "--as-mcp", "stdio", *options]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_over_stdio_standard_output_has_the_protocol_alone(tmp_path: Path, mode: str) -> None:
    command, *args = relayed(*over_stdio(tmp_path, tmp_path))
    environment = {**without_keys(), "PYTHONPATH": str(ROOT)}
    server = StdioServerParameters(command=command, args=args, env=environment, cwd=ROOT)
    lost = list[Any]()

    async def told(message: Any) -> None:
        lost.extend([message] if isinstance(message, Exception) else [])

    async def talk() -> Any:
        async with Client(server, mode=mode, message_handler=told) as opened:
            return await opened.call_tool("counter", {"input": "Add 1 and 2"})

    (part,) = asyncio.run(talk()).content
    assert (part.text, lost) == ("3", [])


@pytest.mark.parametrize("is_kept", [True, False])
def test_over_stdio_it_ends_when_its_client_has_gone(tmp_path: Path, is_kept: bool) -> None:
    go, store = tmp_path / "go", str(tmp_path / "runs.db")
    call = request("tools/call", {"name": "counter", "arguments": {"input": "Add 1 and 2"}})
    words = over_stdio(tmp_path, go, *(["--record", store] if is_kept else []))
    with started(*words, stdin=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stderr
        process.stdin.write(json.dumps(call) + "\n")
        process.stdin.flush()
        while "when it is called" not in (line := process.stderr.readline()):
            assert line, "it ended before the call"
        process.stdin.close()
        if is_kept:
            go.touch()
        assert process.wait(30) == 0
    if is_kept:
        with open_store(store) as opened:
            assert [row.status for row in opened.rows()] == ["done"]
