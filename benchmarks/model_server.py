"""A server of Chat Completions that costs little, in a process of its own.

It answers a request by the last message: a tool's result is answered with words, everything else
with a call of the first tool that is offered. Run as a program it prints its address; its argument
is how many seconds it takes to answer.
"""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

GREETING = "Hello, Alice! Welcome."
_SECONDS = float(next(iter(sys.argv[1:]), "0")) if __name__ == "__main__" else 0.0


class _Connection(asyncio.Protocol):
    """One connection, kept open for many requests."""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._received = bytearray()

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            head = bytes(self._received[:end]).lower()
            length = int(head.partition(b"content-length:")[2].partition(b"\r")[0] or 0)
            if len(self._received) < end + 4 + length:
                return
            body = bytes(self._received[end + 4 : end + 4 + length])
            del self._received[: end + 4 + length]
            answer = _response(json.loads(body))
            asyncio.get_running_loop().call_later(_SECONDS, self._transport.write, answer)


def _response(request: dict[str, Any]) -> bytes:
    message: dict[str, Any] = {"role": "assistant", "content": GREETING}
    names = [tool["function"]["name"] for tool in request.get("tools", ())]
    is_answered = request["messages"][-1]["role"] in ("tool", "function")
    if "final_answer" in names and is_answered:  # smolagents answers by calling this tool
        message = _calling("final_answer", {"answer": GREETING})
    elif names and not is_answered:
        message = _calling("sayHello", {"personName": "Alice"})
    finish = "tool_calls" if "tool_calls" in message else "stop"
    completion = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_760_000_000,
        "model": request["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 60, "completion_tokens": 12, "total_tokens": 72},
    }
    body = json.dumps(completion).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
    return head.encode() + b"\r\n\r\n" + body


def _calling(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": "call_1", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


@contextmanager
def serving(seconds: float = 0.0) -> Iterator[str]:
    """The address of a server that runs while the context is open.

    Args:
        seconds: how long it takes to answer.
    """
    command = [sys.executable, __file__, str(seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


async def _serve() -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # clients keep their connections
    loop = asyncio.get_running_loop()
    server = await loop.create_server(_Connection, "127.0.0.1", 0, backlog=2048)
    port = server.sockets[0].getsockname()[1]
    print(f"http://127.0.0.1:{port}/v1", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve())
