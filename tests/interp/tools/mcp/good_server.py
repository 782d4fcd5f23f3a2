"""A server written with the SDK that does what it should: over pipes, or HTTP on a given port."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.types import ToolAnnotations

server = MCPServer("good", log_level="ERROR")


@server.tool()
def greet(name: str, loud: bool = False) -> str:
    """Greets a person."""
    return f"Hello, {name}{'!' if loud else '.'}"


@server.tool(structured_output=False)
def shout(text: str) -> str:
    """Says it in capitals."""
    return text.upper()


@server.tool(structured_output=False)
def picture() -> Any:
    """Draws a picture."""
    return ["Here it is:", Image(data=b"\x89PNG0123456", format="png")]


@server.tool(structured_output=False)
def fail(reason: str) -> str:
    """Fails."""
    raise ValueError(reason)


@server.tool(structured_output=False)
async def wait(mark: str) -> str:
    """Waits until it is cancelled, and writes that to a file."""
    try:
        with open(f"{mark}.begun", "w"):  # noqa: PTH123  # a str of the caller
            pass
        await asyncio.sleep(300)
    except BaseException:
        with open(f"{mark}.cancelled", "w"):  # noqa: PTH123  # a str of the caller
            pass
        raise
    return "waited"


@server.tool(structured_output=False)
def environment(name: str) -> str:
    """Tells an environment variable."""
    return os.environ.get(name, "not set")


@server.tool(structured_output=False)
async def progress(ctx: Context[Any], message: str = "half", seconds: float = 0) -> str:
    """Reports how far it is."""
    await ctx.report_progress(1, 2, message)
    await asyncio.sleep(seconds)
    return "done"


@server.tool(
    annotations=ToolAnnotations(read_only_hint=True, open_world_hint=True), structured_output=False
)
def look() -> str:
    """Says that it only reads."""
    return "seen"


@server.tool(
    annotations=ToolAnnotations(idempotent_hint=True, open_world_hint=True), structured_output=False
)
def put() -> str:
    """Says that to repeat it changes nothing."""
    return "put"


@server.tool(structured_output=False)
def die(mark: str = os.devnull) -> str:
    """Writes a line to a file, and ends the server."""
    with open(mark, "a") as file:  # noqa: PTH123  # a str of the caller
        file.write("died\n")
    os._exit(3)


if __name__ == "__main__":
    os.write(2, b"the good server starts\n")
    if len(sys.argv) > 1:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
    else:
        server.run()
