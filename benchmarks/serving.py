"""Agents served: beside services that are written by hand around the same agent.

Run it with ``python -m benchmarks.serving``. Each service is a process of its own, and its CPU
time is counted; the agent asks a local server for its model and calls one tool. They take turns,
and the ratio is the median of the turns.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from statistics import median
from typing import Any, Final

import uvicorn
from aiohttp import ClientSession
from mcp import Client
from mcp.server.mcpserver import MCPServer
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from benchmarks.model_server import GREETING, serving
from interp import hello_world_tool_library, load
from interp.execution import Finished, TextDelta
from interp.running import Run, begin
from interp.serving import Served, Serving, app_of

CALLS: Final = 300
AT_ONCE: Final = 8
ROUNDS: Final = 7
SAID: Final = "My name is Alice"
AGENT: Final = load("examples/hello_world.gram")


def by_hand(address: str) -> Starlette:
    """What one writes who has one agent and knows its clients."""

    def begun(text: str) -> Run:
        return begin(AGENT, text, hello_world_tool_library, base_url=address, dialect="tools")

    async def chat(request: Request) -> Response:
        body = await request.json()
        run = begun(body["messages"][-1]["content"])
        head = {"id": f"chatcmpl-{run.state.run_id}", "created": int(time.time()), "model": "a"}
        if body.get("stream"):
            return StreamingResponse(chunks(run, head), media_type="text/event-stream")
        response = await run.afinish()
        said = {"role": "assistant", "content": response.content}
        choice = {"index": 0, "message": said, "finish_reason": "stop"}
        used = response.usage
        usage = {"prompt_tokens": used.input_tokens, "completion_tokens": used.output_tokens}
        return JSONResponse(
            {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
        )

    async def chunks(run: Run, head: dict[str, Any]) -> Any:
        def chunk(delta: dict[str, str], finish: str | None = None) -> str:
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            data = {**head, "object": "chat.completion.chunk", "choices": [choice]}
            return f"data: {json.dumps(data)}\n\n"

        yield chunk({"role": "assistant", "content": ""})
        said = False
        async for seen in run.astream():
            if isinstance(seen, TextDelta):
                said = True
                yield chunk({"content": seen.text})
            elif isinstance(seen, Finished) and not said:
                yield chunk({"content": seen.response.content})
        yield chunk({}, "stop")
        yield "data: [DONE]\n\n"

    tools = MCPServer("by hand", log_level="ERROR")

    @tools.tool()
    async def hello_world_agent(input: str) -> str:
        """A friendly agent that greets people"""
        return (await begun(input).afinish()).content

    app = tools.streamable_http_app()
    app.routes.append(Route("/v1/chat/completions", chat, methods=["POST"]))
    return app


def ours(address: str) -> Starlette:
    """The same agent, served."""
    served = Served(AGENT, hello_world_tool_library, {"base_url": address, "dialect": "tools"})
    return app_of(Serving({"hello_world_agent": served}), as_mcp=True)


SERVICES = {"by hand": by_hand, "gram serve": ours}


class Service:
    """A service in a process of its own."""

    def __init__(self, name: str, address: str, stack: ExitStack) -> None:
        command = [sys.executable, "-m", "benchmarks.serving", name, address]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        stack.callback(self._process.wait)
        stack.callback(self._process.kill)
        self.address = f"http://127.0.0.1:{self._line()}"

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def cpu(self) -> float:
        """The seconds of CPU time that it has taken."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return float(self._line())


def be(name: str, address: str) -> None:
    """Be a service: print the port, then the CPU time for each line that is read."""
    server = uvicorn.Server(uvicorn.Config(SERVICES[name](address), port=0, log_level="error"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.01)
    print(server.servers[0].sockets[0].getsockname()[1], flush=True)
    for _ in sys.stdin:
        print(time.process_time(), flush=True)


async def ask(address: str, way: str, count: int) -> None:
    """Ask a service so many times."""
    left = iter(range(count))

    async def chat(session: ClientSession) -> None:
        message = {"role": "user", "content": SAID}
        body = {"model": "hello_world_agent", "messages": [message], "stream": way == "streamed"}
        for _ in left:
            async with session.post(f"{address}/v1/chat/completions", json=body) as answer:
                assert GREETING in await answer.text()

    async def call() -> None:
        async with Client(f"{address}/mcp") as client:
            for _ in left:
                result = await client.call_tool("hello_world_agent", {"input": SAID})
                assert GREETING in str(result.content)

    if way == "an MCP tool":
        await asyncio.gather(*(call() for _ in range(AT_ONCE)))
        return
    async with ClientSession() as session:
        await asyncio.gather(*(chat(session) for _ in range(AT_ONCE)))


def main() -> None:
    """Compare them in each way to ask."""
    with ExitStack() as stack:
        address = stack.enter_context(serving())
        services = {name: Service(name, address, stack) for name in SERVICES}
        for way in ("whole", "streamed", "an MCP tool"):
            used: dict[str, list[float]] = {name: [] for name in SERVICES}
            for count in (20, *[CALLS] * ROUNDS):
                for name, service in services.items():
                    before = service.cpu()
                    asyncio.run(ask(service.address, way, count))
                    used[name].append((service.cpu() - before) / count * 1e3)
            hand, served = (used[name][1:] for name in SERVICES)
            ratio = median(b / a for a, b in zip(hand, served, strict=True))
            print(f"{way:12} {ratio:.2f} x  {median(hand):.2f} ms, {median(served):.2f} ms")


if __name__ == "__main__":
    be(*sys.argv[1:]) if sys.argv[1:] else main()
