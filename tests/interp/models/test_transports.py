"""Connections over each transport: used again while they are good, with and without TLS."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import pytest

from interp import ConversationContext, Message, ModelError, OpenAIModel, UserRole
from interp.machine import Request
from lenses_ext import Model
from tests.interp.model_server import serving
from tests.paths import DATA

pytestmark = pytest.mark.usefixtures("each_transport")

QUESTION = Request(Model("Some", "m"), "x", ConversationContext([Message(UserRole, "hi")]))
LOCALHOST = str(DATA / "localhost.pem")
"""A key and a certificate for this machine alone, which nobody trusts but these tests."""

BODY = b'{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi."}}]}'
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n" % len(BODY)
WHOLE = HEAD + b"\r\n" + BODY


@contextmanager
def answering(*responses: bytes, then: Callable[[socket.socket], object]) -> Iterator[list[str]]:
    """A server that gives each connection these bytes, one for each request, then acts on it.

    Gives a list with its address, to which each new connection is added.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    found = [f"http://127.0.0.1:{listener.getsockname()[1]}/v1"]

    open_ones = ExitStack()

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:  # closed
                return
            found.append("connection")
            open_ones.callback(connection.close)
            with suppress(OSError):  # the client has left
                for response in responses:
                    if not _request(connection):
                        break
                    connection.sendall(response)
                then(connection)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
        open_ones.close()


def _request(connection: socket.socket) -> bytes:
    """A whole request, or nothing at the end."""
    found = b""
    while b"\r\n\r\n" not in found or not found.endswith(b"}"):
        if not (piece := connection.recv(65_536)):
            return b""
        found += piece
    return found


def asked(model: OpenAIModel, times: int, *, pause: float = 0) -> list[str]:
    """What a model says when it is asked so often, blocking and in an event loop."""

    async def in_a_loop() -> list[str]:
        said = []
        for _ in range(times):
            said.append((await model.acomplete(QUESTION)).message.content)
            await asyncio.sleep(pause)
        return said

    blocking = []
    for _ in range(times):
        blocking.append(model.complete(QUESTION).message.content)
        threading.Event().wait(pause)
    return blocking + asyncio.run(in_a_loop())


def test_a_connection_that_the_server_closed_meanwhile_is_not_used_again() -> None:
    with answering(WHOLE, then=socket.socket.close) as server:
        said = asked(OpenAIModel(server[0], "key", attempts=1), 3, pause=0.05)

    assert said == ["Hi."] * 6
    assert server[1:] == ["connection"] * 6


def test_a_connection_on_which_the_server_took_its_leave_is_not_used_again() -> None:
    def say_goodbye(connection: socket.socket) -> None:
        head = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
        connection.sendall(head)
        connection.close()

    with answering(WHOLE, then=say_goodbye) as server:
        said = asked(OpenAIModel(server[0], "key"), 2, pause=0.05)

    assert said == ["Hi."] * 4
    assert server[1:] == ["connection"] * 4


def test_a_server_that_closes_after_each_response_is_asked_on_a_new_connection() -> None:
    closing = HEAD + b"connection: close\r\n\r\n" + BODY

    with answering(closing, then=socket.socket.close) as server:
        assert asked(OpenAIModel(server[0], "key", attempts=1), 2) == ["Hi."] * 4


def test_what_a_server_says_before_its_response_is_passed_over() -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"

    with answering(hints + WHOLE, hints + WHOLE, then=socket.socket.close) as server:
        assert asked(OpenAIModel(server[0], "key", attempts=1), 2) == ["Hi."] * 4


@pytest.mark.parametrize("way", ["complete", "acomplete"])
def test_a_server_is_reached_by_tls_whose_certificate_is_trusted(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(LOCALHOST)
    monkeypatch.setenv("SSL_CERT_FILE", LOCALHOST)  # as it is for all tests

    with serving(context) as server:
        server.will_say("Hi.", "Hi again.")
        said = _twice(OpenAIModel(server.url, "key", attempts=1), way)

    assert said == ["Hi.", "Hi again."]
    assert server.connections == 1


@pytest.mark.parametrize("way", ["complete", "acomplete"])
def test_a_certificate_that_is_not_trusted_is_an_error_that_says_so(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(LOCALHOST)

    with serving(context) as server, pytest.raises(ModelError, match="certificate verify failed"):
        _twice(OpenAIModel(server.url, "key", attempts=1), way)


def _twice(model: OpenAIModel, way: str) -> list[str]:
    if way == "complete":
        return [model.complete(QUESTION).message.content for _ in range(2)]

    async def in_a_loop() -> list[Any]:
        return [(await model.acomplete(QUESTION)).message.content for _ in range(2)]

    return asyncio.run(in_a_loop())
