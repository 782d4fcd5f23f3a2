"""HTTP/1.1 as we read and write it ourselves, beside `h11`: the same, but for what it costs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable

import h11
import httpx2
import pytest
from hypothesis import given, strategies as st

from interp.network.exchange import Exchange

LINES = st.sampled_from(
    [
        b"Content-Length: 4",
        b"content-length:  4 ",
        b"Content-Length: 9",
        b"Content-Length: 4, 4",
        b"Content-Length: +4",
        b"Content-Length: 0004",
        b"Transfer-Encoding: chunked",
        b"Connection: keep-alive",
        b"Connection: Keep-Alive",
        b"connection: close",
        b"Content-Type: application/json",
        b"Set-Cookie: a=b",
        b"Set-Cookie:",
        b"X-Odd: caf\xe9",
        b"X-Tab: a\tb",
        b" folded",
        b"No Name: x",
        b": x",
        b"Upgrade: x",
        b"X: a\rb",
        b"X: a\nb",
    ]
)
STARTS = st.sampled_from(
    [
        b"HTTP/1.1 200 OK",
        b"HTTP/1.1 200",
        b"HTTP/1.1 200 ",
        b"HTTP/1.0 200 OK",
        b"HTTP/1.1 204 No Content",
        b"HTTP/1.1 404 Not Found",
        b"HTTP/1.1 2000 OK",
        b"HTTP/1.1  200 OK",
        b"HTTP/2 200 OK",
        b"ICY 200 OK",
    ]
)
BODIES = st.sampled_from(
    [b"", b"{}", b"body", b"body and more", b"4\r\nbody\r\n0\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n"]
)


def request(method: str = "POST", body: bytes = b"{}", **fields: str) -> httpx2.Request:
    """A request."""
    url = "http://127.0.0.1:1/v1"
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    length = {"Content-Length": str(len(body))} if body else {}
    headers = {"Host": "127.0.0.1:1", **length, **named}
    return httpx2.Request(method, url, headers=headers, stream=httpx2.ByteStream(body))


def answered(pieces: Iterable[bytes], sent: httpx2.Request) -> list[object]:
    """What is read of a response that comes in these pieces, and whether another can follow."""
    exchange, found, body = Exchange(), list[object](), b""
    exchange.sent(sent)
    coming = iter(pieces)
    try:
        exchange.take(next(coming))
        while (head := exchange.head()) is None:
            exchange.take(next(coming))
        found.append(head)
        while (part := exchange.part()) != b"":
            if part is None:
                exchange.take(next(coming))
            else:
                body += part
    except httpx2.RemoteProtocolError as error:
        found.append(str(error))
    return [*found, body, exchange.ends() and not any(coming)]


@given(STARTS, st.lists(LINES, max_size=4), BODIES, st.sampled_from(["POST", "GET", "HEAD"]))
def test_a_response_is_the_same_however_it_comes(
    start: bytes, lines: list[bytes], body: bytes, method: str
) -> None:
    whole = b"\r\n".join([start, *lines, b"", body])
    sent = request(method, b"{}" if method == "POST" else b"")
    one_by_one = [whole[at : at + 1] for at in range(len(whole))]  # such a head is read by h11

    assert answered([whole, b"", b""], sent) == answered([*one_by_one, b"", b""], sent)


@pytest.mark.parametrize(
    "sent",
    [
        request(),
        request("GET", b""),
        request(Authorization="Bearer key", Connection="keep-alive", X_Odd="a  b"),
        request("PUT", b"caf\xe9"),
    ],
)
def test_a_request_is_written_as_h11_writes_it(sent: httpx2.Request) -> None:
    exchange = Exchange()
    written, of_h11 = exchange.sent(sent), exchange._sent_by_h11()

    assert written == of_h11


@pytest.mark.parametrize(
    "fields",
    [
        {"X": "a\r\nInjected: b"},
        {"X": "a\nb"},
        {"X": "a\0b"},
        {"X Y": "a"},
        {"X: Y": "a"},
        {"X: a\r\nY": "b"},
        {"X": " a"},
        {"X": "a "},
        {"Content_Length": "1"},
        {"Content_Length": "x"},
    ],
)
def test_a_request_that_h11_refuses_is_not_written(fields: dict[str, str]) -> None:
    with pytest.raises(h11.LocalProtocolError):
        Exchange().sent(request(**fields))


def test_a_usual_exchange_does_without_h11() -> None:
    code = """
import sys, httpx2
from interp.network.exchange import Exchange
exchange = Exchange()
headers = {"Host": "a", "Content-Length": "2"}
stream = httpx2.ByteStream(b"{}")
exchange.sent(httpx2.Request("POST", "http://a", headers=headers, stream=stream))
exchange.take(b"HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\n{}")
assert (exchange.part(), exchange.part(), exchange.ends()) == (b"{}", b"", True)
assert "h11" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
