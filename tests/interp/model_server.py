"""A real HTTP server on loopback that speaks Chat Completions, well or badly as it is told."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from attrs import define, field


@define
class Answer:
    """One HTTP answer: a JSON body, or raw bytes; with ``drop`` the connection breaks off."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(factory=dict)
    raw: bytes | None = None
    drop: bool = False


@define
class ModelServer:
    """Answers requests in order and keeps what was asked."""

    url: str = ""
    answers: deque[Answer] = field(factory=deque)
    requests: list[dict[str, Any]] = field(factory=list)
    headers: list[dict[str, str]] = field(factory=list)

    def will_say(self, *messages: str | dict[str, Any] | Answer) -> None:
        """Queue replies: a text, a message dict, or an answer as it is."""
        for message in messages:
            if isinstance(message, str):
                message = {"role": "assistant", "content": message}
            if isinstance(message, dict):
                message = Answer(completion(message))
            self.answers.append(message)


def completion(message: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A completion with one choice."""
    choice = {"index": 0, "message": message, "finish_reason": "stop", **more.pop("choice", {})}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return {"id": "c1", "object": "chat.completion", "choices": [choice], "usage": usage, **more}


def tool_calls(*calls: tuple[str, str, Any], content: str | None = None) -> dict[str, Any]:
    """A message in the current dialect that calls tools, each given as (id, name, arguments)."""
    listed = [
        {
            "id": id_,
            "type": "function",
            "function": {
                "name": name,
                "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
            },
        }
        for id_, name, arguments in calls
    ]
    return {"role": "assistant", "content": content, "tool_calls": listed}


def function_call(name: str, arguments: Any) -> dict[str, Any]:
    """A message in the older dialect that calls a function."""
    call = {"name": name, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "content": None, "function_call": call}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        model = self.server.model
        model.requests.append(json.loads(self.rfile.read(length)))
        model.headers.append({key.lower(): value for key, value in self.headers.items()})
        answer = model.answers.popleft() if model.answers else Answer({"error": "?"}, 500)
        if self.path != "/v1/chat/completions":
            answer = Answer({"error": {"message": f"no such path: {self.path}"}}, 404)
        body = json.dumps(answer.body).encode() if answer.raw is None else answer.raw
        if answer.drop:
            self.send_response(200)
            self.send_header("content-length", str(len(body) + 100))
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = True
            return
        self.send_response(answer.status)
        for key, value in {"content-type": "application/json", **answer.headers}.items():
            self.send_header(key, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing: the tests' output is for the tests."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    model: ModelServer


@contextmanager
def serving() -> Iterator[ModelServer]:
    """A server that runs while the context is open."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.model = ModelServer(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server.model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
