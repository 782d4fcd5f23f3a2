"""A real HTTP server on loopback, whose operations documents describe."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


class _Handler(BaseHTTPRequestHandler):
    """Answers by path, and keeps what was asked."""

    server: Any
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        """Called for each connection."""
        super().setup()
        self.server.connections += 1

    def _answer(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        asked = {"method": self.command, "path": self.path, "body": self.rfile.read(size).decode()}
        self.server.asked.append({**asked, "headers": dict(self.headers)})
        status, headers, body = self.server.answers.get(
            self.path.partition("?")[0], (200, {"Content-Type": "application/json"}, b"")
        )
        if body == b"wait":
            self.server.ended.wait(60)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        body = body or json.dumps(asked).encode()
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Set-Cookie", "session=stays-nowhere")
        self.end_headers()
        self.wfile.write(body)

    do_GET = _answer  # noqa: N815  # http.server calls it so
    do_PUT = _answer  # noqa: N815  # http.server calls it so
    do_POST = _answer  # noqa: N815  # http.server calls it so

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False


@pytest.fixture
def server() -> Iterator[Any]:
    http: Any = _Server(("127.0.0.1", 0), _Handler)
    http.asked, http.answers, http.ended, http.connections = [], {}, threading.Event(), 0
    http.url = f"http://127.0.0.1:{http.server_port}"
    thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield http
    http.ended.set()
    http.shutdown()
    http.server_close()
