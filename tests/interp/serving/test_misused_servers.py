"""Bodies that are wrong, too big or slow, strangers, too many at once, clients that vanish."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from interp.history.stores import open_store
from interp.serving import LOOPBACK, Doors, Serving
from tests.interp.serving.served import GREETER, Slow, agents, ask, serving, until
from tests.interp.serving.test_openai_client import Parrot
from tests.interp.strategies import json_data

CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
BODY = {"model": "greeter", "messages": [{"role": "user", "content": "Hi"}]}


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    what = Serving(agents(GREETER, model=Parrot()), most_bytes=10_000, body_seconds=0.5)
    with serving(what) as found:
        yield found


def sent(port: int, path: str, body: bytes, length: int | None = None) -> socket.socket:
    """A connection on which a request was sent, perhaps not the whole of it."""
    connection = socket.create_connection(("127.0.0.1", port), 20)
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length or len(body)}"
    connection.sendall(f"{head}\r\n\r\n".encode() + body)
    return connection


def is_error(text: str) -> bool:
    error = json.loads(text)["error"]
    return error.keys() == {"message", "type", "param", "code"} and bool(error["message"])


VALUES = json_data() | st.sampled_from(["greeter", "Hi", True, [], {}, BODY["messages"]])
PARTS = st.dictionaries(
    st.sampled_from(["type", "text", "image_url", "file_data", "role", "content", "file"]),
    VALUES | st.sampled_from(["text", "image_url", "input_file", "user", "assistant", "file"]),
)
BODIES = json_data() | st.builds(
    lambda fields, more: {**BODY, "input": "Hi", **fields, **more},
    st.dictionaries(
        st.sampled_from(["model", "messages", "input", "stream", "stream_options", "text", "n"]),
        VALUES | st.lists(PARTS | VALUES, max_size=3),
    ),
    st.dictionaries(st.text(max_size=8), json_data(), max_size=2),
)


@given(body=BODIES, path=st.sampled_from([CHAT, RESPONSES]))
@settings(max_examples=40)
def test_any_json_gets_a_reply_and_the_server_lives(port: int, body: Any, path: str) -> None:
    status, headers, text = ask(port, path, body)

    if headers["content-type"].startswith("text/event-stream"):
        assert text.endswith("data: [DONE]\n\n" if path == CHAT else "}\n\n")
    elif status == 200:
        assert json.loads(text)["model"] == "greeter"
    else:
        assert 400 <= status < 500
        assert is_error(text)
    assert ask(port, "/health", method="GET")[0] == 200


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff", b'{"a": NaN}', b"[" * 5000, b'"\\ud800"', b'{"a":1,"a":2}']
)
def test_a_body_that_is_no_json_is_an_error(port: int, body: bytes) -> None:
    status, _, text = ask(port, CHAT, body)
    assert status == 400
    assert is_error(text)


def test_bodies_that_are_too_long_or_too_slow_are_refused(port: int) -> None:
    assert ask(port, CHAT, {**BODY, "user": "x" * 10_000})[0] == 413
    with sent(port, CHAT, b"{", 100) as connection:
        assert connection.recv(1000).startswith(b"HTTP/1.1 408")


def test_other_addresses_and_methods_are_errors_of_the_same_form(port: int) -> None:
    for path, method, expected in (("/v1/x", "GET", 404), (CHAT, "GET", 405), ("/", "POST", 404)):
        status, _, text = ask(port, path, method=method)
        assert status == expected
        assert is_error(text)


def test_strangers_do_not_come_in() -> None:
    doors = Doors(LOOPBACK | {"agents.example"}, frozenset({"https://chat.example"}), "secret")
    key = {"Authorization": "Bearer secret"}
    with serving(Serving(agents(GREETER, model=Parrot()), doors=doors)) as port:

        def status(**headers: str) -> int:
            return ask(port, CHAT, BODY, **headers)[0]

        assert status() == 401
        assert status(Authorization="Bearer sécret".encode().decode("latin-1")) == 401
        assert status(Authorization="Basic secret") == 401
        assert status(**key) == 200
        assert status(**key, Host="agents.example:99") == 200
        assert status(**key, Host="elsewhere.example") == 403
        assert status(**key, Host="[") == 403
        assert status(**key, Origin="https://elsewhere.example") == 403
        assert status(**key, Origin="https://chat.example") == 200
        assert ask(port, "/health", method="GET")[0] == 200
        assert ask(port, "/v1/models", method="GET")[0] == 401


def test_too_many_at_once_are_told_to_come_again() -> None:
    slow = Slow()
    with serving(Serving(agents(GREETER, model=slow), at_once=1)) as port:
        with sent(port, CHAT, json.dumps(BODY).encode()) as connection:
            until(lambda: slow.waiting == 1)
            status, headers, text = ask(port, CHAT, BODY)
            slow.may_answer = True
            answered = connection.recv(10)

        assert (status, headers["retry-after"]) == (429, "1")
        assert is_error(text)
        assert answered.startswith(b"HTTP/1.1 2")
        assert ask(port, CHAT, BODY)[0] == 200


@pytest.mark.parametrize(
    ("path", "stream", "is_kept"),
    [(CHAT, True, False), (RESPONSES, False, False), (CHAT, False, True)],
)
def test_the_run_of_a_client_that_vanishes_is_cancelled_unless_it_is_kept(
    tmp_path: Any, caplog: pytest.LogCaptureFixture, path: str, stream: bool, is_kept: bool
) -> None:
    slow, store = Slow(), str(tmp_path / "runs.db") if is_kept else None
    body = json.dumps({**BODY, "input": "Hi", "stream": stream}).encode()
    with serving(Serving(agents(GREETER, model=slow), record=store)) as port:
        with sent(port, path, body):
            until(lambda: slow.waiting == 1)
        slow.may_answer = is_kept
        until(lambda: (slow.cancelled, slow.answered) == (not is_kept, is_kept))
        slow.may_answer = True
        assert ask(port, path, body)[0] == 200

    assert not [record for record in caplog.records if record.levelname == "ERROR"]
    if store:
        with open_store(store) as opened:
            assert [row.status for row in opened.rows()] == ["done"] * 2
