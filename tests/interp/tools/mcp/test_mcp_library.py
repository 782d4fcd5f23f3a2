"""The tools of MCP servers as a library, tried against real servers over pipes and HTTP."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import re
import sys
import threading
import time
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest

import interp
from interp import ConfigurationError, Limits, ScriptedModel, ToolError, ToolLibrary, mcp_library
from interp.secrets import without_keys
from interp.tools import ToolContext, call_tool, invoke_tool, providing
from interp.tools.mcp.listing import listed_tools, look_alikes
from lenses_ext import create_agent_pattern, create_tool_specification
from tests.interp.worker_processes import until

from .servers import GOOD, bad, good_server_over_http, hanging, raw

pytestmark = pytest.mark.usefixtures("forks")


@pytest.fixture(scope="module")
def library() -> Iterator[ToolLibrary]:
    with mcp_library(GOOD, "good") as opened:
        yield opened


@pytest.fixture(scope="module")
def over_http() -> Iterator[ToolLibrary]:
    with good_server_over_http() as url, mcp_library(url) as opened:
        yield opened


def agent_with(library: ToolLibrary, *names: str) -> Any:
    """An agent that has these tools, in the words of the library."""
    specs = [interp.tool_spec_from_function(library[name]) for name in names]
    return create_agent_pattern("a", "An agent", "Ollama/any", "Use tools.", specs)


def calling(name: str, /, **arguments: Any) -> ScriptedModel:
    """A model that calls a tool once, and then answers with its result."""
    call = interp.ToolCall("1", name, json.dumps(arguments))
    return ScriptedModel([interp.Message(interp.AssistantRole, "", tool_calls=(call,)), "fine"])


def waited_for(path: Path) -> None:
    """Wait until a file exists."""
    until = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < until, f"{path.name} does not come"
        time.sleep(0.02)


async def cancelled(begun: Coroutine[Any, Any, object], when: Path) -> None:
    """Cancel what is begun once a file exists."""
    task = asyncio.create_task(begun)
    await asyncio.to_thread(waited_for, when)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


def test_tools_have_the_name_description_and_schemas_that_the_server_lists(
    library: ToolLibrary,
) -> None:
    greet = library["greet"]

    assert (greet.name, greet.description) == ("greet", "Greets a person.")
    assert greet.schema["properties"]["loud"]["default"] is False
    assert greet.schema["required"] == ["name"]
    assert greet.result_schema is not None
    assert greet.place == 'the MCP server "good"'
    may_be_repeated = {name for name, tool in library.items() if not tool.once}
    assert may_be_repeated == {"look", "put"}, "those of which the server says so"


@pytest.mark.parametrize("opened", ["library", "over_http"])
def test_a_server_is_called_from_sync_and_async_runs(
    opened: str, request: pytest.FixtureRequest
) -> None:
    library = request.getfixturevalue(opened)
    agent, alice = agent_with(library, "greet"), {"name": "Alice"}

    sync = interp.run(agent, "hi", library, model=calling("greet", **alice))
    concurrent = asyncio.run(interp.arun(agent, "hi", library, model=calling("greet", **alice)))

    assert sync == concurrent
    assert sync.tools_used[0].result == {"result": "Hello, Alice."}


def test_a_result_that_is_declared_as_a_text_comes_without_the_object_around_it(
    library: ToolLibrary,
) -> None:
    signature = "(name::String)==>(loud::Boolean {default: false})==>(::String)"
    spec = create_tool_specification("greet", "Greets a person.", signature)
    agent = create_agent_pattern("a", "An agent", "Ollama/any", "Use tools.", [spec])

    calls = calling("greet", name="Alice")
    response = interp.run(agent, "hi", library, model=calls, match="types")

    assert response.tools_used[0].result == "Hello, Alice."


def test_a_library_opens_in_async_code_and_says_when_it_is_closed() -> None:
    async def opened() -> tuple[ToolLibrary, object]:
        async with mcp_library(GOOD, "good") as library:
            return library, await library["shout"].invoke({"text": "a"})

    library, said = asyncio.run(opened())

    assert said == "A"
    with pytest.raises(ToolError, match=r'the connection to the MCP server "good" is closed'):
        invoke_tool(library["shout"], {"text": "a"})


def test_an_image_is_a_reference_with_its_type_and_size(library: ToolLibrary) -> None:
    drawn = call_tool(library["picture"], {})

    assert drawn.text.value == "Here it is:\n[image: image/png, 11 bytes]"
    assert drawn.files == (interp.File(b"\x89PNG0123456", media_type="image/png"),)


def test_progress_is_told_while_a_call_goes_on_and_logged_with_its_standard_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told: list[tuple[float, float | None, str]] = []
    context = ToolContext("agent", "progress", watcher=lambda *said: told.append(said))
    debug = caplog.at_level("DEBUG", "interp.mcp")
    with debug, mcp_library(GOOD, "good") as library, providing(context):
        assert invoke_tool(library["progress"], {}) == "done"
        invoke_tool(library["progress"], {"message": "\x1b[2Ja\n" + "b" * 999})

    assert told[0] == (1, 2, "half")
    assert told[1][2].startswith("\\x1b[2Ja bbb")
    assert len(told[1][2]) < 250
    assert 'the MCP server "good": the good server starts' in caplog.text
    assert 'the MCP server "good": progress: 1 of 2: half' in caplog.text


def test_what_a_server_says_later_does_not_repeat_a_call_of_a_recorded_run(tmp_path: Path) -> None:
    command = bad("says-it-may-be-repeated-later", str(tmp_path / "mark"))
    file, short = tmp_path / "run.gram", Limits(run_seconds=0.5)
    with mcp_library(command, "bad") as library:
        agent = agent_with(library, "pay")
        with pytest.raises(interp.LimitError):
            interp.run(agent, "go", library, model=calling("pay"), record=file, limits=short)

    with mcp_library(command, "bad") as library:
        assert not library["pay"].once
        with pytest.raises(interp.ApprovalNeeded):
            interp.resume_run(file, library, model=ScriptedModel([]), limits=Limits())

    assert (tmp_path / "mark.paid").read_text() == "paid\n"


def test_a_tool_that_fails_is_told_to_the_model(library: ToolLibrary) -> None:
    agent = agent_with(library, "fail")

    response = interp.run(agent, "hi", library, model=calling("fail", reason="too late"))

    assert "fail" in (response.tools_used[0].error or "")
    assert response.content == "fine"


@pytest.mark.parametrize(
    ("way", "said"),
    [
        ("error", "no such pet"),
        ("wordless-error", "an error without words"),
        ("no-result", "it gives an answer that is not as MCP has it: content: "),
    ],
)
def test_an_error_of_a_server_is_told_and_the_server_goes_on(way: str, said: str) -> None:
    with mcp_library(raw(way), "raw") as library:
        for _ in range(3):
            with pytest.raises(ToolError, match=f'the MCP server "raw": {said}'):
                invoke_tool(library["do"], {})


def test_a_call_that_takes_too_long_is_cancelled_at_the_server(
    library: ToolLibrary, tmp_path: Path
) -> None:
    agent, mark = agent_with(library, "wait"), str(tmp_path / "mark")
    model, limits = calling("wait", mark=mark), Limits(tool_seconds=1)

    response = interp.run(agent, "hi", library, model=model, limits=limits)

    assert response.tools_used[0].error is not None
    waited_for(tmp_path / "mark.cancelled")


def test_a_run_that_is_cancelled_cancels_its_call_at_the_server(
    library: ToolLibrary, tmp_path: Path
) -> None:
    agent, model = agent_with(library, "wait"), calling("wait", mark=str(tmp_path / "mark"))

    asyncio.run(cancelled(interp.arun(agent, "hi", library, model=model), tmp_path / "mark.begun"))

    waited_for(tmp_path / "mark.cancelled")


def test_a_server_that_dies_is_started_again_and_the_call_is_not_repeated(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    with mcp_library(GOOD, "good") as library:
        for text in ("a", "b"):
            with pytest.raises(ToolError) as raised:
                invoke_tool(library["die"], {"mark": str(mark)})
            assert invoke_tool(library["shout"], {"text": text}) == text.upper()

    assert str(raised.value).endswith(
        'the MCP server "good" ended during the call, which may have taken effect or not; '
        "the next call starts it again"
    )
    assert mark.read_text() == "died\n" * 2


def test_a_server_that_ended_between_two_calls_is_started_again_for_the_next() -> None:
    with mcp_library(raw("leaves"), "raw") as library:
        first = int(str(invoke_tool(library["do"], {})))
        until(lambda: not Path(f"/proc/{first}").exists())
        time.sleep(0.5)  # its end is read

        assert int(str(invoke_tool(library["do"], {}))) != first


def test_a_server_that_lists_other_tools_after_its_restart_is_not_called(tmp_path: Path) -> None:
    with mcp_library(bad("other-after-restart", str(tmp_path / "mark")), "bad") as library:
        with pytest.raises(ToolError, match="the next call starts it again"):
            invoke_tool(library["do"], {})
        said = "started again and lists other tools than before: do"
        for _ in range(2):
            with pytest.raises(ToolError, match=said):
                invoke_tool(library["do"], {})


def test_a_cancelled_opening_ends_the_server_that_was_starting(tmp_path: Path) -> None:
    mark = tmp_path / "mark"

    asyncio.run(cancelled(mcp_library(hanging(mark)).__aenter__(), mark))

    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)


def test_pages_of_tools_are_all_read() -> None:
    with mcp_library(bad("pages")) as library:
        assert list(library) == ["tool0", "tool1", "tool2", "tool3"]


@pytest.mark.parametrize("way", ["samples", "elicits"])
def test_requests_to_sample_or_to_ask_the_user_are_declined(way: str) -> None:
    with mcp_library(raw(way)) as library:
        try:
            said = str(invoke_tool(library["do"], {}))
        except ToolError as error:
            said = str(error)

    assert "not supported" in said or "Cannot send" in said


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (bad("twice"), '"bad" lists the tool "same" twice'),
        (bad("broken-schema"), '"bad": tool "broken": not a JSON Schema: "strng"'),
        (raw("endless"), '"bad" lists its tools on more than 500 pages'),
        (raw("array-schema"), '"bad" lists a broken tool: tools.1.inputSchema.type: '),
        (raw("nan"), '"bad": the schema of a tool: $.'),
        (raw("no-schema"), '"bad" lists a broken tool: tools.1.inputSchema: '),
        (raw("not-an-object"), '"bad" lists a broken tool: tools.1: '),
        (bad("bad-name"), '"bad" lists a tool with the name "clear\\x1b[2J"'),
        (bad("long-description"), 'of the tool "long" has 60000 characters, over 50000'),
        (bad("ends-at-start"), '"bad" ended before it answered; it wrote last:\nno configuration'),
        (["a\0b"], '"bad" cannot be started: embedded null byte'),
        (["/"], '"bad" cannot be started: Permission denied'),
        (["no-such-program"], '"bad" cannot be started: there is no program no-such-program'),
        ("http://127.0.0.1:1/mcp", '"bad" cannot be reached, or is not an MCP server'),
    ],
)
def test_a_server_that_cannot_be_used_is_named(command: Any, message: str) -> None:
    refused = pytest.raises(ConfigurationError, match=re.escape(message))
    with refused, mcp_library(command, "bad"):
        pass


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("pay\u200b", "pay\\u200b"), ("pa\u200dy", "pa\\u200dy"), ("\u2060pay", "\\u2060pay"),
        ("pay\u00ad", "pay\\xad"), ("pay\ufe0f", "pay\\ufe0f"), ("pay\u3164", "pay\\u3164"),
        ("pay\u2800", "pay\\u2800"), ("pay\u00a0now", "pay\\xa0now"), ("pay\tnow", "pay\\tnow"),
        ("pay\U000e0041", "pay\\U000e0041"), ("pay ", "pay"), ("pay  now", "pay␣␣now"),
        ("files/read", "files/read"), ("", '""'),
    ],
    ids=ascii,
)  # fmt: skip
def test_a_name_that_hides_something_is_refused(name: str, shown: str) -> None:
    from mcp.types import ListToolsResult, Tool

    listed = ListToolsResult(tools=[Tool(name=name, input_schema={"type": "object"})])
    client: Any = Mock(list_tools=AsyncMock(return_value=listed))
    with pytest.raises(ConfigurationError, match=f"with the name .*{re.escape(shown)}"):
        asyncio.run(listed_tools(client, "bad"))


def test_names_that_look_alike_are_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    with mcp_library(bad("look-alikes"), "bad") as library:
        assert len(library) == 4

    (warning,) = [each.getMessage() for each in caplog.records if each.levelname == "WARNING"]
    assert warning == (
        'tools of the MCP server "bad" have names that look alike: '
        '"p\u0430y" like "pay", "Pay" like "pay"'
    )


@pytest.mark.parametrize(
    "names",
    [
        ["send", "SEND"], ["send", "ｓｅｎｄ"], ["send", "ѕеnd"], ["mode1", "model"],
        ["io", "i0"], ["modern", "modem"], ["a-b", "a\u2010b"], ["kiss", "κιss"],
        ["café", "cafe\u0301"], ["hot", "հօt"], ["Il", "lI"], ["read_file", "read-file"],
        ["click", "dick"], ["SEND", "ᏚEND"], ["a b", "a\u2013b"], ["new", "пew"],
    ],
    ids=ascii,
)  # fmt: skip
def test_names_look_alike_by_case_width_and_confusable_letters(names: list[str]) -> None:
    others = ["read_file_s", "write_file", "read_files", "оплатить", "платить"]

    assert look_alikes([*others, *names]) == [(names[1], names[0])]


def test_servers_of_one_library_start_at_the_same_time(tmp_path: Path) -> None:
    marks = [str(tmp_path / "one"), str(tmp_path / "two")]
    servers = {
        name: {"command": sys.executable, "args": bad("meets-another", *others)[1:]}
        for name, others in (("one", marks), ("two", marks[::-1]))
    }

    with mcp_library({"mcpServers": servers}) as library:
        assert "do" in library.ambiguous


@pytest.mark.parametrize("way", ["hangs-at-start", "hang-at-list", "no-server"])
def test_a_server_that_does_not_answer_is_given_up(way: str) -> None:
    opening = mcp_library(bad(way), "bad", start_seconds=1)
    with pytest.raises(ConfigurationError, match='"bad" did not answer within 1 second'), opening:
        pass


MUCH = [b"x" * 1_000_000] * 60
TOO_LONG = '^the MCP server "any" does not answer as MCP servers do: .*the answer has more than 16,'


@pytest.mark.parametrize(
    ("kind", "pieces", "encoding", "said"),
    [
        ("text/html", [b"<html>"], "identity", "is not an MCP server: .*text/html"),
        ("application/json", [b'{"jsonrpc": "2.0", "id": 1, "result": {"a": "', *MUCH], "identity",
         TOO_LONG),
        ("text/event-stream", [b"event: message\ndata: ", *MUCH], "identity", TOO_LONG),
        ("application/json", [gzip.compress(b"x" * 20_000_000, mtime=0)], "gzip",
         "does not answer as MCP servers do: .* the answer is compressed"),
    ],
    ids=["page", "long", "long-stream", "compressed"],
)  # fmt: skip
def test_an_answer_over_http_that_is_none_or_too_much_is_refused(
    kind: str, pieces: list[bytes], encoding: str, said: str
) -> None:
    refused = pytest.raises(ConfigurationError, match=said)
    with answering(kind, *pieces, encoding=encoding) as url, refused, mcp_library(url, "any"):
        pass


@contextmanager
def answering(kind: str, *pieces: bytes, encoding: str) -> Iterator[str]:
    """The address of a server that gives every request the same answer."""

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Encoding", encoding)
            self.end_headers()
            with suppress(OSError):  # the other side has had enough
                for piece in pieces:
                    self.wfile.write(piece)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp"
    finally:
        server.shutdown()
        server.server_close()


def test_invisible_characters_of_a_description_are_shown() -> None:
    with mcp_library(bad("hidden-text")) as library:
        assert library["hidden"].description == "Adds.\\U000e0041\\u202e"


@pytest.mark.parametrize("way", ["error-with-escapes", "long-structure"])
def test_what_a_server_answers_is_limited(way: str) -> None:
    with mcp_library(bad(way)) as library, pytest.raises(ToolError) as raised:
        invoke_tool(library["do"], {})

    assert len(str(raised.value)) < 3_000
    assert "\x1b" not in str(raised.value)


@pytest.mark.parametrize(
    ("way", "end"),
    [
        ("long-answer", "[… 500,000 more characters]"),
        ("writes-rubbish", "done"),
        ("floods", "done"),  # its standard error
    ],
)
def test_a_long_text_is_cut_and_what_is_written_beside_it_passed_over(way: str, end: str) -> None:
    with mcp_library(bad(way)) as library:
        assert str(invoke_tool(library["do"], {})).endswith(end)


def test_a_command_gets_the_variables_that_are_named_and_their_keys_are_hidden(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SERVICE_TOKEN", "abcdefgh12345678")
    monkeypatch.setenv("NOT_NAMED", "secret")

    with mcp_library(GOOD, env=["SERVICE_TOKEN"]) as library:
        tool = library["environment"]

        assert invoke_tool(tool, {"name": "SERVICE_TOKEN"}) == "abcdefgh12345678"
        assert invoke_tool(tool, {"name": "NOT_NAMED"}) == "not set"
        assert without_keys("it is abcdefgh12345678") == "it is [redacted]"


def test_a_key_that_a_server_writes_back_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_TOKEN", "abcdefgh12345678")
    said = r"it wrote last:\nthe token \[redacted\] is refused$"
    refused = pytest.raises(ConfigurationError, match=said)

    with refused, mcp_library(bad("tells-its-token"), "bad", env=["SERVICE_TOKEN"]):
        pass


def test_servers_of_one_file_add_up_and_a_name_of_two_is_an_error_when_it_is_used() -> None:
    entry = {"command": GOOD[0], "args": GOOD[1:]}
    servers = {"mcpServers": {"one": entry, "two": entry, "off": {**entry, "disabled": True}}}

    with mcp_library(servers) as library, mcp_library(servers, "one") as one:
        agent = agent_with(one, "greet")
        said = 'the MCP server "one" and the MCP server "two"'
        with pytest.raises(interp.ToolBindingError, match=said):
            interp.bind_agent_tools(agent, library)
