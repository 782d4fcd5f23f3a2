"""MCP servers: binding and calling their tools, beside the SDK alone, over pipes.

Run it with ``python -m benchmarks.mcp``. A server of its own for each side, both the same. What is
counted is the CPU time of this process, without the servers.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from time import process_time
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from interp import bind_agent_tools, mcp_library, tool_spec_from_function
from interp.tools import acall_tool
from interp.tools.mcp import read_servers
from interp.tools.mcp.connection import Connection
from interp.tools.mcp.library import library_of
from interp.tools.mcp.listing import listed_tools
from lenses_ext import create_agent_pattern, validate_agent_pattern

TOOLS = 100
USED = 10
ROUNDS = 9
ARGUMENTS = {"query": "lenses", "limit": 5, "tags": ["a", "b"]}
SERVER = f"""
from mcp.server.mcpserver import MCPServer

server = MCPServer("many", log_level="ERROR")

def search(query: str, limit: int = 10, tags: list[str] | None = None, exact: bool = False) -> str:
    return query

for number in range({TOOLS}):
    server.add_tool(search, f"search{{number}}", description=f"Searches documents {{number}}")

server.run()
"""
COMMAND = [sys.executable, "-c", SERVER]

Act = Callable[[], Awaitable[object]]


async def compare(title: str, acts: Mapping[str, Act], times: int) -> None:
    """Time each act, the rounds interleaved; print the least time of one, and what it adds."""
    best = dict.fromkeys(acts, float("inf"))
    for _ in range(ROUNDS):
        for name, act in acts.items():
            began = process_time()
            for _ in range(times):
                await act()
            best[name] = min(best[name], (process_time() - began) / times)
    print(title)
    first = next(iter(best.values()))
    for name, seconds in best.items():
        added = (seconds - first) * 1e3
        print(f"  {seconds / first:6.2f} x  {seconds * 1e3:8.2f} ms  (+{added:.2f} ms)  {name}")


async def main() -> None:
    """Compare listing with binding, and a call of the SDK with one of a tool of ours."""
    parameters = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:])
    (server,) = read_servers(COMMAND, "many")
    async with Client(stdio_client(parameters)) as client, mcp_library(COMMAND, "many") as library:
        specs = [tool_spec_from_function(library[f"search{n}"]) for n in range(USED)]
        agent = create_agent_pattern("a", "Searches", "Ollama/any", "Search.", specs)

        async def list_alone() -> Any:
            return await client.list_tools(cache_mode="bypass")

        async def list_and_bind() -> Any:
            connection = Connection(server)
            connection.tools = await listed_tools(client, "many")
            return bind_agent_tools(agent, library_of([connection]))

        validate_agent_pattern(agent)  # as every run does before it binds, whatever the tools are
        connection = Connection(server)
        connection.tools = await listed_tools(client, "many")
        began = process_time()
        bind_agent_tools(agent, library_of([connection]))
        first = (process_time() - began) * 1e3
        print(f"the first binding of a process, without listing: {first:.2f} ms")
        await compare(
            f"{TOOLS} tools, of which a program uses {USED}",
            {"the SDK lists them": list_alone, "listed, checked and bound": list_and_bind},
            10,
        )
        tool = library["search0"]
        await compare(
            "one call",
            {
                "the SDK": lambda: client.call_tool("search0", ARGUMENTS),
                "a tool of a library": lambda: acall_tool(tool, ARGUMENTS),
            },
            100,
        )


if __name__ == "__main__":
    asyncio.run(main())
