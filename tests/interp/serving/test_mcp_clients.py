"""What MCP clients get of agents that are served: by HTTP, in the older protocol and the newer."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import ElicitResult

from interp import ScriptedModel, ToolLibrary, ask_all
from interp.history.stores import open_store
from interp.serving import Doors, Serving
from interp.workers import decide_run
from tests.interp.model_server import ModelServer, tool_calls
from tests.interp.serving.served import (
    GREETER,
    MODES,
    Slow,
    agents,
    ask,
    calling,
    mcp_client,
    serving,
    talk,
    text_of,
    until,
)
from tests.interp.serving.test_misused_servers import sent
from tests.interp.serving.test_openai_client import (
    CALL,
    COUNTER,
    PAYER,
    TYPED,
    Parrot,
    add,
    call,
    pay,
)
from tests.interp.strategies import json_data

JSON = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
CALLED = {"Mcp-Method": "tools/call", "Mcp-Name": "greeter"}
NEWER = {**JSON, **CALLED, "MCP-Protocol-Version": "2026-07-28"}
RECORD = """
[person:Agent {description: "Tells who", instruction: "Tell.", model: "OpenAI/gpt-5.6-luna"} |
  (name::Text)==>(age::Integer {default: 3})==>(::Person), [Person:Object | (name::Text)]]
[flow:Workflow {description: "Tells twice"} | (name::Text)==>(::Array), lister]
[lister:Agent {instruction: "List.", model: "OpenAI/gpt-5.6-luna"} | (name::Text)==>(::Array)]
[chooser:Agent {instruction: "Choose.", model: "OpenAI/gpt-5.6-luna"} |
  (text::Text)==>(::String {enum: ["yes", "no"]})]
"""


# --- tools and answers


@MODES
def test_agents_and_workflows_are_tools_with_their_signatures(mode: str) -> None:
    served = Serving(agents(RECORD + TYPED + GREETER, model=ScriptedModel([])))

    listed = talk(served, mode, lambda opened: opened.list_tools()).tools
    tools = {each.name: each for each in listed}

    person = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    assert tools["person"].description == "Tells who"
    assert tools["person"].input_schema["properties"]["age"] == {"type": "integer", "default": 3}
    assert tools["person"].input_schema["required"] == ["name"]
    assert tools["person"].output_schema == person
    assert tools["flow"].output_schema["properties"] == {"answer": {"type": "array"}}
    assert tools["greeter"].input_schema["required"] == ["input"]
    assert tools["greeter"].output_schema is None


@MODES
@pytest.mark.parametrize(
    ("name", "reply", "structured"),
    [
        ("person", '{"name": "Al"}', {"name": "Al"}),
        ("flow", "[1]", {"answer": [1]}),
        ("judge", '["yes"]', {"answer": ["yes"]}),
        ("chooser", "yes", {"answer": "yes"}),
        ("greeter", "[1]", None),
    ],
)
def test_declared_answers_are_structured(mode: str, name: str, reply: str, structured: Any) -> None:
    served = Serving(agents(RECORD + TYPED + GREETER, model=ScriptedModel([reply])))
    said = {"flow": {"name": "Al"}, "person": {"name": "Al"}, "greeter": {"input": "Hi"}}
    result = talk(served, mode, calling(name, said.get(name, {"text": "Hi"})))
    assert (result.structured_content, result.is_error) == (structured, False)
    assert text_of(result).replace(" ", "") == reply.replace(" ", "")


def test_each_call_is_a_conversation_of_its_own_with_defaults_filled_in() -> None:
    model = ScriptedModel(['{"name": "Al"}'] * 2)

    async def twice(opened: Client) -> None:
        for name in "Al", "Bo":
            await opened.call_tool("person", {"name": name})

    talk(Serving(agents(RECORD, model=model)), "auto", twice)

    said = [json.loads(each.content) for request in model.requests for each in request.messages]
    assert said == [{"name": "Al", "age": 3}, {"name": "Bo", "age": 3}]


@MODES
def test_what_cannot_be_done_is_told_in_words(mode: str, model_server: ModelServer) -> None:
    no = {"role": "assistant", "content": None, "refusal": "No."}
    model_server.will_say(no)
    how = {"base_url": model_server.url, "dialect": "tools"}
    served = Serving(agents(RECORD + TYPED, **how))

    async def mistakes(opened: Client) -> None:
        wrong = await opened.call_tool("person", {"nam": "Al"})
        refused = await opened.call_tool("judge", {"text": "Hi"})
        with pytest.raises(MCPError, match="there is no tool perso; did you mean"):
            await opened.call_tool("perso", {"name": "Al"})

        assert wrong.is_error
        assert 'missing required "name"' in text_of(wrong)
        assert (refused.is_error, text_of(refused)) == (True, "No.")

    talk(served, mode, mistakes)


@given(arguments=json_data())
def test_a_server_outlives_any_arguments(port: int, arguments: Any) -> None:
    body = request("tools/call", {"name": "greeter", "arguments": arguments})
    status, _, text = ask(port, "/mcp", body, **NEWER)
    assert status in (200, 400)
    assert json.loads(text).keys() & {"result", "error"}
    assert ask(port, "/health", method="GET")[0] == 200


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    what = Serving(agents(GREETER, model=Parrot()), most_bytes=10_000, body_seconds=0.5)
    with serving(what, as_mcp=True) as found:
        yield found


# --- while it runs


@MODES
@pytest.mark.parametrize("shows_tools", [True, False])
def test_progress_is_in_words(mode: str, shows_tools: bool, model_server: ModelServer) -> None:
    model_server.will_say(CALL, "Three.")
    how = {"base_url": model_server.url, "dialect": "tools"}
    served = Serving(agents(COUNTER, ToolLibrary.of(add), **how), shows_tools=shows_tools)
    seen: list[tuple[float, str | None]] = []

    async def watch(opened: Client) -> Any:
        async def told(done: float, _total: float | None, message: str | None) -> None:
            seen.append((done, message))

        return await opened.call_tool("counter", {"input": "1 + 2"}, progress_callback=told)

    assert text_of(talk(served, mode, watch)) == "Three."
    numbers, messages = zip(*seen, strict=True)
    assert [*numbers] == sorted({*numbers})
    of_tools = ["tool started: add", "tool finished: add"] if shows_tools else []
    assert [each for each in messages if each] == ["Let me see.", *of_tools]


@MODES
def test_a_run_whose_call_is_cancelled_is_cancelled(mode: str) -> None:
    slow = Slow()

    async def cancel(opened: Client) -> None:
        called = asyncio.ensure_future(opened.call_tool("greeter", {"input": "Hi"}))
        await so(lambda: slow.waiting == 1)
        called.cancel()
        await so(lambda: slow.cancelled == 1)

    talk(Serving(agents(GREETER, model=slow)), mode, cancel)


@MODES
@pytest.mark.parametrize("is_kept", [True, False])
def test_runs_of_vanished_clients_are_cancelled_unless_kept(
    mode: str, is_kept: bool, tmp_path: Path
) -> None:
    slow, store = Slow(), str(tmp_path / "runs.db")
    what = Serving(agents(GREETER, model=slow), record=store if is_kept else None)

    with serving(what, as_mcp=True) as port:
        headers = NEWER if mode == "auto" else older(port)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        body = request("tools/call", {"name": "greeter", "arguments": {"input": "Hi"}})
        connection.request("POST", "/mcp", json.dumps(body), headers)
        until(lambda: slow.waiting == 1)
        connection.close()  # without a word
        slow.may_answer = is_kept
        until(lambda: (slow.cancelled, slow.answered) == (not is_kept, is_kept))

    if is_kept:
        with open_store(store) as opened:
            assert [row.status for row in opened.rows()] == ["done"]


def older(port: int) -> dict[str, str]:
    """The headers of a request in a session of the older protocol, after the handshake."""
    who = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    hello = {"protocolVersion": "2025-11-25", **who}
    _, answered, _ = ask(port, "/mcp", request("initialize", hello), **JSON)
    headers = {**JSON, "Mcp-Session-Id": answered["mcp-session-id"]}
    ask(port, "/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"}, **headers)
    return headers


def request(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """A request of any protocol."""
    said = {"protocolVersion": "2026-07-28", "clientCapabilities": {}}
    meta = {f"io.modelcontextprotocol/{name}": value for name, value in said.items()}
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}


async def so(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not is_so():
            await asyncio.sleep(0.01)


# --- many, and strangers


@pytest.mark.parametrize("count", [8, pytest.param(200, marks=pytest.mark.nightly)])
def test_nothing_of_many_clients_at_once_is_lost_or_mixed(count: int) -> None:
    async def talk_of(port: int, number: int) -> list[str]:
        async with mcp_client(port, ["legacy", "auto"][number % 2]) as opened:
            said = [{"input": f"{number}, {turn}"} for turn in range(3)]
            return [text_of(await opened.call_tool("greeter", each)) for each in said]

    async def talks(port: int) -> list[list[str]]:
        return await asyncio.gather(*(talk_of(port, each) for each in range(count)))

    with serving(Serving(agents(GREETER, model=Parrot()), at_once=count), as_mcp=True) as port:
        heard = asyncio.run(talks(port))

    for number, each in enumerate(heard):
        assert each == [f"You said: {number}, {turn}" for turn in range(3)]


def test_what_is_under_way_ends_before_the_server_does() -> None:
    slow = Slow()

    async def call_it(port: int, stop: threading.Event) -> str:
        async with mcp_client(port, "legacy") as opened:
            await opened.list_tools()  # else the client looks them up after the answer
            called = asyncio.ensure_future(opened.call_tool("greeter", {"input": "Hi"}))
            await so(lambda: slow.waiting == 1)
            stop.set()
            return text_of(await called)

    stop = threading.Event()
    with ThreadPoolExecutor() as pool:
        with serving(Serving(agents(GREETER, model=slow)), as_mcp=True) as port:
            heard = pool.submit(asyncio.run, call_it(port, stop))
            assert stop.wait(20)
            threading.Timer(0.3, setattr, (slow, "may_answer", True)).start()
        assert heard.result(20) == "At last."


def test_strangers_and_bodies_too_long_or_too_slow_do_not_come_in(port: int) -> None:
    assert ask(port, "/mcp", b"{", **JSON)[0] == 400
    assert ask(port, "/mcp", b"{", method="GET", **JSON)[0] == 405
    assert ask(port, "/mcp", b"x" * 10_001, **JSON)[0] == 413
    assert ask(port, "/mcp", b"{}", **JSON, Origin="https://elsewhere.example")[0] == 403
    assert ask(port, "/mcp", b"{}", **JSON, Host="elsewhere.example")[0] == 403
    with sent(port, "/mcp", b"{", 100) as connection:
        assert connection.recv(1000).startswith(b"HTTP/1.1 408")
    with serving(Serving(agents(GREETER), Doors(key="secret")), as_mcp=True) as locked:
        assert ask(locked, "/mcp", b"{}", **JSON)[0] == 401


def payer(tmp_path: Path, *replies: Any) -> tuple[Serving, str]:
    model, store = ScriptedModel([*replies]), str(tmp_path / "runs.db")
    served = agents(PAYER, ToolLibrary.of(pay), model=model, policy=ask_all)
    return Serving(served, record=store), store


PAY = call("pay", '{"sum": 3}')


def answering(asked: list[str], *answers: ElicitResult) -> Any:
    left = [*answers]

    async def answer(_: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return left.pop(0)

    return answer


@MODES
def test_the_client_asks_its_user_and_gives_the_result(mode: str, tmp_path: Path) -> None:
    yes = ElicitResult(action="accept", content={"allow": True})
    no = ElicitResult(action="accept", content={"allow": False, "reason": "too much"})
    others = [call("pay", f'{{"sum": {sum}}}') for sum in (9, 8)]
    what, store = payer(tmp_path, PAY, *others, "Paid once.")
    asked: list[str] = []
    answers = answering(asked, yes, no, ElicitResult(action="decline"))

    result = talk(what, mode, calling("payer"), elicitation_callback=answers)

    assert text_of(result) == "Paid once."
    assert result.meta
    with open_store(store) as opened:
        (row,) = opened.rows()
        used = opened.recorded(row.id).state.tools_used
    assert result.meta["gram/run"] == row.id
    assert asked == [f"May pay(sum: {sum}) be called? (Run {row.id} waits.)" for sum in (3, 9, 8)]
    assert [each.result for each in used][:1] == ["paid 3"]
    assert "too much" in str(used[1].error)
    assert used[2].error is not None


def test_progress_behind_a_question_has_only_new_words(
    tmp_path: Path, model_server: ModelServer
) -> None:
    again = tool_calls(("c", "pay", '{"sum": 9}'), content="Once more.")
    model_server.will_say(PAY, again, "Paid.")
    how = {"base_url": model_server.url, "dialect": "tools", "policy": ask_all}
    what, _ = payer(tmp_path)
    what.agents = agents(PAYER, ToolLibrary.of(pay), **how)
    yes = ElicitResult(action="accept", content={"allow": True})
    seen: list[str | None] = []

    async def watch(opened: Client) -> Any:
        async def told(_done: float, _total: float | None, message: str | None) -> None:
            seen.append(message)

        return await opened.call_tool("payer", {"input": "Hi"}, progress_callback=told)

    result = talk(what, "legacy", watch, elicitation_callback=answering([], yes, yes))

    assert text_of(result) == "Paid."
    assert [each for each in seen if each] == ["Once more."]


@MODES
@pytest.mark.parametrize("can_ask", [True, False])
def test_what_stays_open_is_told_with_the_run(mode: str, can_ask: bool, tmp_path: Path) -> None:
    what, store = payer(tmp_path, PAY)
    later = answering([], ElicitResult(action="cancel"))

    result = talk(what, mode, calling("payer"), elicitation_callback=later if can_ask else None)

    with open_store(store) as opened:
        (row,) = opened.rows()
        assert decide_run(opened, row.id, True) == ()
    assert f"Run {row.id} waits for approval of pay(" in text_of(result)
    assert "`gram runs decide` answers" in text_of(result)


@pytest.mark.parametrize("key", [None, "a key of the server"])
def test_with_a_key_a_question_outlives_the_server(key: str | None, tmp_path: Path) -> None:
    what, _ = payer(tmp_path, PAY, "Paid.")
    what.doors = Doors(key=key)
    yes = ElicitResult(action="accept", content={"allow": True})

    async def ask_first(opened: Client) -> Any:
        return await opened.session.call_tool("payer", {"input": "Hi"}, allow_input_required=True)

    waits = talk(what, "auto", ask_first, elicitation_callback=answering([]))

    async def answer(opened: Client, state: str, said: str) -> str:
        replies = dict.fromkeys(waits.input_requests, yes)
        sent = {"input_responses": replies, "request_state": state}
        return text_of(await opened.session.call_tool("payer", {"input": said}, **sent))

    async def answer_all(opened: Client) -> None:
        state = waits.request_state
        wrong = [(state[:-4] + "AAAA", "Hi"), ("x", "Hi"), (state, "another")]
        for forged, said in [*wrong, *([(state, "Hi")] if key is None else [])]:
            with pytest.raises(MCPError, match="requestState"):
                await answer(opened, forged, said)
        for _ in range(2 if key else 0):  # a client asks again that has not got the answer
            assert await answer(opened, state, "Hi") == "Paid."

    talk(what, "auto", answer_all)
