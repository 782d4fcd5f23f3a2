"""Servers that send without end: other runs go on, and a run ends in its time."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from interp import ModelError, OpenAIModel
from tests.interp.four_ways import QUESTION

pytestmark = pytest.mark.usefixtures("each_transport")

OK = b"HTTP/1.1 200 OK\r\ncontent-type: "
EVENTS, JSON = OK + b"text/event-stream\r\n", OK + b"application/json\r\n"
CHUNKED = b"transfer-encoding: chunked\r\n\r\n"
CALL = b'data:{"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":"%s"}}]}}]}\n'

FLOODS = {  # what is sent once, and what is sent without end
    "chunks of one byte": (JSON + CHUNKED, b"1\r\nx\r\n" * 50_000),
    "events in chunks of one byte": (EVENTS + CHUNKED, b"1\r\n:\r\n1\r\n\n\r\n" * 30_000),
    "responses before the response": (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 20_000),
    "comments": (EVENTS + b"\r\n", b":\n" * 200_000),
    "empty events": (EVENTS + b"\r\n", b"data:{}\n" * 50_000),
    "lines of one event": (EVENTS + b"\r\n", b"data: [\n" * 50_000),
    "arguments of a call": (EVENTS + b"\r\n" + CALL % b'{\\"a\\":\\"', CALL % b"{}" * 10_000),
    "an error": (b"HTTP/1.1 400 No\r\n" + CHUNKED, b"1\r\nx\r\n" * 50_000),
    "a redirect": (b"HTTP/1.1 307 No\r\nlocation: /x\r\n" + CHUNKED, b"1\r\nx\r\n" * 50_000),
}
TOO_MUCH = {
    "headers": (OK, b"x: y\r\n" * 50_000),
    "a long header": (b"HTTP/1.1 200 OK\r\nx: ", b"y" * 500_000),
    "cookies": (OK + b"x\r\n", b"set-cookie: a=b\r\n" * 10_000),
}


@contextmanager
def flooding(first: bytes, rest: bytes) -> Iterator[str]:
    """A server that sends the second bytes again and again, until the client has left."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            connection, _ = listener.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(first)
                while True:
                    connection.sendall(rest)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    finally:
        listener.close()
        thread.join(10)


async def longest_hold(model: OpenAIModel, way: str, seconds: float) -> tuple[float, BaseException]:
    """For how long a request held the loop at a time, in processor time, and how it ended."""
    holds = [0.0]

    async def beat() -> None:
        before = time.thread_time()
        while True:
            await asyncio.sleep(0.005)
            now = time.thread_time()
            holds.append(now - before)
            before = now

    async def ask() -> None:
        if way == "acomplete":
            await model.acomplete(QUESTION)
        else:
            async for _ in model.astream(QUESTION):
                pass

    await model.aprepare()
    beating = asyncio.ensure_future(beat())
    try:
        await asyncio.wait_for(ask(), seconds)
    except (TimeoutError, ModelError) as error:
        return max(holds), error
    finally:
        beating.cancel()
        await model.aclose()
    raise AssertionError("it has answered")


@pytest.mark.parametrize("flood", FLOODS)
def test_a_flood_holds_up_no_other_run_and_ends_with_the_time_of_its_own(flood: str) -> None:
    way = "astream" if FLOODS[flood][0].startswith(EVENTS) else "acomplete"
    with flooding(*FLOODS[flood]) as url:
        began = time.monotonic()
        hold, _ = asyncio.run(longest_hold(OpenAIModel(url, "key", attempts=1), way, 0.25))
        took = time.monotonic() - began

    # a quarter of a second and half a second, where this machine is not busy
    assert hold < 0.5
    assert took < 5


@pytest.mark.parametrize("flood", TOO_MUCH)
def test_a_head_that_is_too_long_is_not_read(flood: str) -> None:
    with flooding(*TOO_MUCH[flood]) as url:
        model = OpenAIModel(url, "key", attempts=1)
        hold, error = asyncio.run(longest_hold(model, "acomplete", 60))

    assert isinstance(error, ModelError)
    assert "broke" in str(error)
    assert hold < 0.5
