"""How MCP servers are written: commands, addresses, and the ``mcpServers`` form."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gram import ArgumentError
from interp import ConfigurationError
from interp.secrets import without_keys
from interp.tools.mcp import read_servers


def one(given: Any, name: str | None = None) -> Any:
    """The one server that something describes."""
    (server,) = read_servers(given, name)
    return server


def test_a_command_is_split_as_a_shell_does() -> None:
    assert one("uvx 'some server' --port 1").command == ("uvx", "some server", "--port", "1")
    assert one(["uvx", "some server"]).command == ("uvx", "some server")


def test_variables_are_written_before_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", "value of mine")
    server = one("TOKEN=${MINE} LEVEL=3 uvx some-server")
    assert server.environment == {"TOKEN": "value of mine", "LEVEL": "3"}
    assert server.command == ("uvx", "some-server")


def test_an_address_is_named_without_its_password_and_query() -> None:
    server = one("https://me:pa55@example.com/mcp?key=1")

    assert server.name == "https://example.com/mcp"
    assert server.url == "https://me:pa55@example.com/mcp?key=1"


def test_a_file_names_servers_as_other_programs_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "abcdefgh1234")
    entries = {
        "files": {"command": "npx", "args": ["-y", "files", "${ROOT:-/tmp}"], "env": {"A": "b"}},
        "web": {
            "type": "http",
            "url": "https://example.com/mcp",
            "headers": {"Authorization": "Bearer ${TOKEN}"},
        },
    }
    path = tmp_path / "servers.json"
    path.write_text(json.dumps({"mcpServers": entries}))

    files, web = read_servers(path)

    assert files.command == ("npx", "-y", "files", "/tmp")
    assert (files.name, web.name) == ("files", "web")
    assert web.headers == {"Authorization": "Bearer abcdefgh1234"}
    assert "abcdefgh1234" not in repr(web)
    assert one(path, "web") == web


SECRET = "s3cr3tvalue-0123"


@pytest.mark.parametrize(
    "given",
    [
        "uvx server --api-key s3cr3tvalue-0123",
        "uvx server --token=s3cr3tvalue-0123",
        "uvx server --config ${MY_TOKEN}",
        "PASSWORD=s3cr3tvalue-0123 uvx server",
        "https://me:s3cr3tvalue-0123@example.com/mcp",
        "https://example.com/mcp?api_key=s3cr3tvalue-0123",
        "https://example.com/${MY_TOKEN}/mcp",
        {"mcpServers": {"a": {"url": "https://h/mcp", "headers": {"X-Any": "s3cr3tvalue-0123"}}}},
        {"mcpServers": {"s3cr3tvalue-0123": {"command": "x", "args": ["--key", SECRET]}}},
    ],
)  # fmt: skip
def test_keys_of_a_server_are_hidden_wherever_they_are_written(
    given: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", SECRET)

    server = one(given)

    assert without_keys(f"it is {SECRET}") == "it is [redacted]"
    assert SECRET not in f"{server} {server!r}"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("", "a command or an address"),
        ("uvx 'open", "No closing quotation"),
        ("A=${NOT_SET_ANYWHERE} uvx x", "needs the environment variable NOT_SET_ANYWHERE"),
        ("http:///mcp", "an address is http://"),
        ({"mcpServers": {}}, "names no server"),
        ({"mcpServers": {"a": {"command": "x", "disabled": True}}}, "no server that is enabled"),
        ({"mcpServers": {"a": {"command": "x", "enabled": False}}}, "no server that is enabled"),
        ({"mcpServers": []}, "mcpServers: Input should be a valid dictionary"),
        ({"mcpServers": {"a": 5}}, "mcpServers.a: Input should be a valid dictionary"),
        ({"command": "x"}, 'expected an object with "mcpServers"'),
        ({"mcpServers": {"a": {}}}, 'the MCP server "a" needs either "command" or "url"'),
        ({"mcpServers": {"a": {"command": "x", "args": [1]}}}, "a.args.0: Input should be a valid"),
        ({"mcpServers": {"a": {"type": "sse", "url": "http://x"}}}, "the transport SSE"),
        ({"mcpServers": {"b": {"command": "x"}, "a": {"command": "x", "disabled": "maybe"}}},
         "mcpServers.a.disabled: Input should be a valid boolean"),
    ],
)  # fmt: skip
def test_what_is_no_server_is_refused(given: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(message)):
        read_servers(given)
    with pytest.raises(ConfigurationError, match=r'no server "fiels".*files'):
        read_servers({"mcpServers": {"files": {"command": "x"}}}, "fiels")


@pytest.mark.parametrize("text", ["{", "[" * 100_000, '{"mcpServers": NaN}'])
def test_a_file_that_is_no_json_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "servers.json"
    path.write_text(text)

    with pytest.raises(ConfigurationError, match="not JSON"):
        read_servers(path)


def test_what_names_no_server_is_told_what_does() -> None:
    with pytest.raises(ArgumentError, match=r"str or .* Path or a mapping, got int"):
        read_servers(5)
