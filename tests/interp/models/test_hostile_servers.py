"""Servers that attack or send without end: they get no key, no memory and no other run's time."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import logging
import socket
import time
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager
from functools import partial

import httpx2
import pytest

from interp import AgentError, ConfigurationError, ModelError, OpenAIModel
from interp.models import limit_body
from tests.interp.four_ways import QUESTION, ask
from tests.interp.model_server import (
    DONE,
    Answer,
    Line,
    ModelServer,
    completion,
    delta,
    raw_server,
    serving,
)

WAYS = ["acomplete", "astream"]  # the blocking ways wait for these
each_transport = pytest.mark.usefixtures("each_transport")
KEY = "sk-proj-0123456789abcdefghij"


@pytest.fixture
def elsewhere() -> Iterator[ModelServer]:
    """Another server, on another port."""
    with serving() as server:
        yield server


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("status", "to"),
    [
        *((status, "{other}/chat/completions") for status in (301, 302, 303, 307, 308)),
        *((302, to) for to in ("https://127.0.0.1/v1", "//x/", "http://[")),
    ],
)
def test_a_redirect_to_another_server_is_not_followed(
    model_server: ModelServer, elsewhere: ModelServer, way: str, status: int, to: str
) -> None:
    location = to.format(other=elsewhere.url)
    model_server.will_say(Answer({}, status, {"location": location}), "never")
    with pytest.raises(ModelError, match="redirects"):
        ask(OpenAIModel(model_server.url, KEY), way)
    assert elsewhere.requests == []
    assert len(model_server.requests) == 1


@each_transport
@pytest.mark.parametrize("way", WAYS)
def test_a_redirect_on_the_same_server_is_followed(model_server: ModelServer, way: str) -> None:
    model_server.will_say(Answer({}, 307, {"location": "/v1/chat/completions"}), "Here.")
    assert ask(OpenAIModel(model_server.url, KEY), way)[-1].message.content == "Here."
    assert model_server.requests[0] == model_server.requests[1]
    assert len(model_server.requests) == 2


def bombs() -> dict[str, Answer]:
    """Replies that are too large, whole and streamed, plain and compressed."""
    large = b'{"choices": "' + b"x" * 200_000 + b'"}'
    packed = {"content-encoding": "gzip"}
    event = json.dumps(delta("x" * 40_000))
    return {
        "plain": Answer(raw=large),
        "gzip": Answer(raw=gzip.compress(large), headers=packed),
        "gzip of nothing": Answer(raw=gzip.compress(b"") * 6_000, headers=packed),
        "deflate": Answer(raw=zlib.compress(large), headers={"content-encoding": "deflate"}),
        "many values": Answer(raw=b"[" + b"[]," * 10_000 + b"1]"),
        "events": Answer(events=[event] * 26 + [DONE]),
        "comments": Answer(events=[Line(":" + "x" * 10_000)] * 101),
        "a line without end": Answer(events=[Line("data: [" + "[" * 110_000)]),
        "an event without end": Answer(raw=b"data: [\n" * 30_000),
    }


BOMBS = bombs()


@each_transport
@pytest.mark.parametrize(
    ("bomb", "way"),
    [
        *((bomb, "acomplete") for bomb in BOMBS),
        *((bomb, "astream") for bomb in BOMBS if bomb in ("plain", "gzip") or "event" in bomb),
        ("comments", "astream"),
    ],
)
def test_a_reply_that_is_too_large_is_not_read(
    model_server: ModelServer, bomb: str, way: str
) -> None:
    model_server.will_say(BOMBS[bomb], "never")
    with pytest.raises(ModelError, match=r"of more than (100|1,000),000 bytes") as caught:
        ask(OpenAIModel(model_server.url, KEY, max_reply_bytes=100_000), way)
    assert caught.value.code == "too_large"
    assert len(model_server.requests) == 1


@pytest.mark.parametrize("packed", [False, True])
def test_of_an_error_that_is_too_large_the_beginning_is_read(
    model_server: ModelServer, packed: bool
) -> None:
    raw = b"out of order " + b"x" * 200_000
    headers = {"content-encoding": "gzip"} if packed else {}
    model_server.will_say(
        Answer(raw=gzip.compress(raw) if packed else raw, status=418, headers=headers)
    )

    with pytest.raises(ModelError, match="answered 418: out of order xxx") as caught:
        ask(OpenAIModel(model_server.url, KEY, max_reply_bytes=300_000), "acomplete")

    assert len(str(caught.value)) < 1000


def test_an_error_that_comes_in_small_pieces_is_read_up_to_its_limit() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for each in b"out of order":
            yield bytes([each])

    async def read(needed: int) -> bytes:
        response = httpx2.Response(418, content=pieces())
        limit_body(response, 100, partial(ModelError, "too large"), needed=needed)
        return await response.aread()

    assert asyncio.run(read(8_192)) == b"out of order"
    assert asyncio.run(read(6)) == b"out of"


@each_transport
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_a_compressed_reply_is_read(model_server: ModelServer, way: str, encoding: str) -> None:
    plain = json.dumps(completion({"content": "Hi " * 10_000})).encode()
    packed = zlib.compress(plain) if encoding == "deflate" else gzip.compress(plain)
    model_server.will_say(Answer(raw=packed, headers={"content-encoding": encoding}))
    *_, found = ask(OpenAIModel(model_server.url, KEY), way)
    assert found.message.content == "Hi " * 10_000
    assert model_server.headers[0]["accept-encoding"] == "gzip"


@pytest.mark.parametrize("status", [200, 418])
@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("x-unknown", "compressed as 'x-unknown', which nobody asked for"),
        ("gzip, gzip", "compressed as 'gzip, gzip', which nobody asked for"),
        ("gzip", "incorrect header"),
    ],
)
def test_a_reply_that_cannot_be_decompressed_is_a_model_error(
    model_server: ModelServer, encoding: str, said: str, status: int
) -> None:
    answer = Answer(raw=b"not compressed", status=status, headers={"content-encoding": encoding})
    model_server.will_say(*[answer] * 3)
    with pytest.raises(ModelError, match=said):
        ask(OpenAIModel(model_server.url, KEY), "acomplete")


def echoes(secret: str) -> dict[str, Answer]:
    """Answers of a server that gives a secret back in every place it can."""
    error = {"message": f"bad {secret}", "code": secret, "type": secret}
    far = {"message": "x" * 490 + secret + "y" * 1000}
    twice = f'{{"{secret}": 1, "{secret}": 2}}'.encode()
    named = {"x-request-id": secret}
    return {
        "an error": Answer({"error": error}, 400, named),
        "a refused key": Answer({"error": error}, 401, named),
        "a failure": Answer({"error": error}, 500, {**named, "retry-after": "0"}),
        "a key where the quote ends": Answer({"error": far}, 400),
        "a page": Answer(raw=f"<html>{secret}</html>".encode(), status=502),
        "no JSON": Answer(raw=f"{secret} {{".encode()),
        "a key twice": Answer(raw=twice),
        "an error with status 200": Answer({"error": error}),
        "a text as error": Answer({"error": secret}),
        "a detail": Answer({"detail": [{"msg": secret}]}, 422),
        "a raw error": Answer({"error": {"message": "m", "metadata": {"raw": secret}}}, 400),
        "a redirect": Answer({}, 307, {"location": f"http://{secret}.example/{secret}?{secret}"}),
        "an odd encoding": Answer(raw=b"x", headers={"content-encoding": secret}),
        "an odd role": Answer(completion({"role": secret, "content": "x"})),
        "an error in a stream": Answer(events=[delta("a"), {"error": error}]),
        "an event that is not JSON": Answer(events=[delta("a"), f"{secret} {{"]),
        "an error line": Answer(events=[delta("a"), Line(f"error: {secret}")]),
    }


def all_that_is_said(error: BaseException) -> str:
    """All texts of an error, of what caused it and of what it was raised while handling."""
    said = ""
    seen: list[BaseException | None] = [error]
    for each in seen:
        if each is not None:
            said += f"{each} {each!r} {vars(each)} {getattr(each, 'doc', '')}"
            seen += [more for more in (each.__cause__, each.__context__) if more not in seen]
    return said


def parts_of(secret: str) -> Iterator[str]:
    """The parts of a secret that are long enough to be of use."""
    yield from (secret[at : at + 8] for at in range(len(secret) - 7))


@pytest.mark.parametrize("answer", echoes(KEY).values(), ids=echoes(KEY))
def test_a_key_that_a_server_echoes_is_in_no_error(
    model_server: ModelServer, answer: Answer, caplog: pytest.LogCaptureFixture
) -> None:
    model_server.will_say(answer)
    model = OpenAIModel(model_server.url, KEY, attempts=1)
    way = "astream" if answer.events else "acomplete"

    with caplog.at_level(logging.INFO), pytest.raises(AgentError) as caught:
        ask(model, way)

    said = all_that_is_said(caught.value) + repr(model) + caplog.text
    assert [part for part in parts_of(KEY) if part in said] == []
    assert caught.value.__context__ is None


@pytest.mark.parametrize("way", WAYS)
def test_a_password_in_an_address_is_sent_and_shown_nowhere(
    model_server: ModelServer, way: str, caplog: pytest.LogCaptureFixture
) -> None:
    secret = "pass word/" + KEY
    address = model_server.url.replace("://", "://me:pass%20word%2F" + KEY + "@")
    basic = base64.b64encode(f"me:{secret}".encode()).decode()
    echo = {"error": {"message": f"{secret} {address} {basic}"}}
    model_server.will_say(*[Answer(echo, 400)] * 2)
    model = OpenAIModel(address, "some-other-key", attempts=1)

    with caplog.at_level(logging.DEBUG, "httpx2"), pytest.raises(AgentError) as caught:
        ask(model, way)

    sent = model_server.headers[0]["authorization"].removeprefix("Basic ")
    assert base64.b64decode(sent).decode() == f"me:{secret}"
    said = all_that_is_said(caught.value) + repr(model) + caplog.text
    assert [part for part in (*parts_of(KEY), basic) if part in said] == []


@pytest.mark.parametrize(
    ("scheme", "key"), [("ftp", "k"), ("http", "ä"), ("http", " "), ("http", f"{KEY}\n")]
)
def test_an_address_or_a_key_that_cannot_be_used_is_shown_without_secrets(
    scheme: str, key: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        OpenAIModel(f"{scheme}://me:{KEY}@host", key)
    said = all_that_is_said(caught.value)
    assert [part for part in (*parts_of(KEY), "me:") if part in said] == []


@each_transport
@pytest.mark.parametrize("way", WAYS)
def test_connecting_has_a_timeout_of_its_own(way: str) -> None:
    with socket.socket() as full:  # a port whose queue of connections is full: nothing is answered
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = full.getsockname()
        waiting = [socket.socket() for _ in range(3)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(address)
        model = OpenAIModel(
            f"http://127.0.0.1:{address[1]}/v1", KEY, connect_timeout=0.2, attempts=1
        )
        with pytest.raises(ModelError, match=r"cannot connect to http://127\S+/v1 within 0\.2 s"):
            ask(model, way)
        for each in waiting:
            each.close()


@each_transport
@pytest.mark.parametrize("way", WAYS)
def test_a_proxy_from_the_environment_is_used(
    model_server: ModelServer, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_server.takes_any_path = True  # it is the proxy here
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", model_server.url.removesuffix("/v1"))
    monkeypatch.setenv("http_proxy", model_server.url.removesuffix("/v1"))
    model_server.will_say("Through the proxy.", Answer({}, 307, {"location": "http://evil/"}))

    *_, found = ask(OpenAIModel("http://a.model.example/v1", KEY), way)

    assert found.message.content == "Through the proxy."
    assert model_server.headers[0]["host"] == "a.model.example"
    with pytest.raises(ModelError, match="redirects"):
        ask(OpenAIModel("http://a.model.example/v1", KEY), way)


def test_a_proxy_that_cannot_be_used_is_a_configuration_error(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"odd://me:{KEY}@host")
    with pytest.raises(ConfigurationError, match="proxies") as caught:
        ask(OpenAIModel(model_server.url, "k"), "complete")
    assert [part for part in parts_of(KEY) if part in all_that_is_said(caught.value)] == []


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


def flooding(first: bytes, rest: bytes) -> AbstractContextManager[list[str]]:
    """A server that sends the second bytes again and again, until the client has left."""

    def flood(connection: socket.socket) -> None:
        connection.recv(65_536)
        connection.sendall(first)
        while True:
            connection.sendall(rest)

    return raw_server(flood)


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


@each_transport
@pytest.mark.parametrize("flood", FLOODS)
def test_a_flood_holds_up_no_other_run_and_ends_with_the_time_of_its_own(flood: str) -> None:
    way = "astream" if FLOODS[flood][0].startswith(EVENTS) else "acomplete"
    with flooding(*FLOODS[flood]) as (url, *_):
        began = time.monotonic()
        hold, _ = asyncio.run(longest_hold(OpenAIModel(url, "key", attempts=1), way, 0.1))
        took = time.monotonic() - began

    # a tenth of a second each, where this machine is not busy
    assert hold < 0.5
    assert took < 5


@each_transport
@pytest.mark.parametrize("flood", TOO_MUCH)
def test_a_head_that_is_too_long_is_not_read(flood: str) -> None:
    with flooding(*TOO_MUCH[flood]) as (url, *_):
        model = OpenAIModel(url, "key", attempts=1)
        hold, error = asyncio.run(longest_hold(model, "acomplete", 60))
    assert isinstance(error, ModelError)
    assert "broke" in str(error)
    assert hold < 0.5
