"""A real HTTP server on loopback that speaks Chat Completions and the Responses API.

It does so well or badly, as it is told.
"""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from attrs import define, evolve, field

CHAT = "/v1/chat/completions"
RESPONSES = "/v1/responses"


class Line(str):
    """A line of a stream that is written as it is, without ``data:`` before it."""


@define
class Answer:
    """One HTTP answer.

    A JSON body, raw bytes, or the events of a stream, each JSON or a text as it is; with ``drop``
    the connection breaks off at the end of it. ``silence`` is how many seconds pass before it.
    """

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(factory=dict)
    raw: bytes | None = None
    events: list[Any] | None = None
    drop: bool = False
    silence: float = 0


@define
class ModelServer:
    """Answers requests in order and keeps what was asked."""

    url: str = ""
    answers: deque[Answer] = field(factory=deque)
    requests: list[dict[str, Any]] = field(factory=list)
    headers: list[dict[str, str]] = field(factory=list)
    paths: list[str] = field(factory=list)
    speaks: tuple[str, ...] = (CHAT, RESPONSES)
    takes_any_path: bool = False
    refuses_tools_in_chat: bool = False
    opened: list[str] = field(factory=list)
    meeting: threading.Barrier | None = None

    @property
    def connections(self) -> int:
        """How many connections were opened so far."""
        return len(self.opened)

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


def delta(content: str | None = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """One chunk of a stream."""
    said = {} if content is None else {"content": content}
    choice = {"index": 0, "delta": {**said, **more}, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "choices": [choice]}


USAGE = {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5}}
DONE = "[DONE]"


def part(index: int | None, arguments: str = "", **more: Any) -> dict[str, Any]:
    """A part of a tool call in a stream; ``id`` and ``name`` come with the first."""
    function = {"arguments": arguments}
    if "name" in more:
        function["name"] = more.pop("name")
    at = {} if index is None else {"index": index}
    return {**at, **more, "type": "function", "function": function}


def streamed(completed: dict[str, Any]) -> list[Any]:
    """The events of a stream that says what a completion says: a character or two at a time."""
    choice = completed["choices"][0]
    message = dict(choice["message"])
    events = [delta(role=message.get("role", "assistant"))]
    events += [delta(reasoning_details=[each]) for each in message.get("reasoning_details") or ()]
    if message.get("extra_content"):
        events.append(delta(extra_content=message["extra_content"]))
    for key in ("content", "refusal", "reasoning_content", "reasoning"):
        text = message.get(key) or ""  # or a list of parts, as some servers send it
        size = 2 if isinstance(text, str) else 1
        events += [delta(**{key: text[at : at + size]}) for at in range(0, len(text), size)]
    calls = message.get("tool_calls") or []
    for index, call in enumerate(calls):
        function = call["function"]
        extra = {"extra_content": call["extra_content"]} if "extra_content" in call else {}
        first = part(index, id=call.get("id"), name=function.get("name"), **extra)
        if not isinstance(function.get("arguments"), str):  # null, missing or an object: whole
            first["function"] = function
        events.append(delta(tool_calls=[first]))
    texts = [call["function"].get("arguments") for call in calls]
    texts = [text if isinstance(text, str) else "" for text in texts]
    for at in range(0, max(map(len, texts), default=0), 3):  # the calls' arguments interleaved
        for index, text in enumerate(texts):
            if piece := text[at : at + 3]:
                events.append(delta(tool_calls=[part(index, piece)]))
    if message.get("function_call"):
        call = message["function_call"]
        events.append(delta(function_call={"name": call["name"], "arguments": ""}))
        events += [delta(function_call={"arguments": each}) for each in call["arguments"]]
    usage = {"choices": [], "usage": completed.get("usage")}
    events += [delta(finish=choice["finish_reason"]), usage]
    named = {"model": completed["model"]} if "model" in completed else {}
    return [*({**each, **named} for each in events), DONE]


def response(completed: dict[str, Any]) -> dict[str, Any]:
    """The response of the Responses API that says what a completion says."""
    choice = completed["choices"][0]
    usage: dict[str, Any] = completed.get("usage") or {}
    message = choice["message"]
    output: list[dict[str, Any]] = []
    if thought := message.get("reasoning"):
        summary = [{"type": "summary_text", "text": thought}]
        item = {"type": "reasoning", "id": "rs_1", "summary": summary}
        output.append({**item, "encrypted_content": "c2VhbGVk"})
    kinds = (("content", "output_text", "text"), ("refusal", "refusal", "refusal"))
    parts = [{"type": kind, name: message[key]} for key, kind, name in kinds if message.get(key)]
    if parts:
        said = {"type": "message", "id": "msg_1", "role": "assistant", "content": parts}
        output.append(said)
    for index, call in enumerate(message.get("tool_calls") or ()):
        called = {"type": "function_call", "id": f"fc_{index}", "call_id": call["id"]}
        output.append({**called, **call["function"]})
    is_cut = choice["finish_reason"] == "length"
    return {
        "id": "resp_1",
        "object": "response",
        "status": "incomplete" if is_cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
        "error": None,
        "output": output,
        "usage": {
            "input_tokens": usage.get("prompt_tokens"),
            "output_tokens": usage.get("completion_tokens"),
        },
    }


def response_events(whole: dict[str, Any]) -> list[Any]:
    """The events of a stream that says what a response says: two characters at a time."""
    begun = {**whole, "status": "in_progress", "output": []}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": begun}]
    deltas = {
        "output_text": "response.output_text.delta",
        "summary_text": "response.reasoning_summary_text.delta",
        "reasoning_text": "response.reasoning_text.delta",
        "refusal": "response.refusal.delta",
    }
    for place, item in enumerate(whole["output"]):
        at = {"output_index": place, "item_id": item.get("id")}
        events.append({"type": "response.output_item.added", **at, "item": item})
        pieces = [
            (deltas[part["type"]], part.get("text") or part.get("refusal"))
            for part in [*item.get("summary", ()), *item.get("content", ())]
        ]
        pieces += [("response.function_call_arguments.delta", item.get("arguments") or "")]
        for kind, text in pieces:
            events += [
                {"type": kind, **at, "delta": text[start : start + 2]}
                for start in range(0, len(text), 2)
            ]
        events.append({"type": "response.output_item.done", **at, "item": item})
    return [*events, {"type": f"response.{whole['status']}", "response": whole}]


def tool_calls(*calls: tuple[str, str, Any], content: str | None = None) -> dict[str, Any]:
    """A message in the current dialect that calls tools, each given as (id, name, arguments)."""
    listed = []
    for id_, name, given in calls:
        arguments = given if isinstance(given, str) else json.dumps(given)
        function = {"name": name, "arguments": arguments}
        listed.append({"id": id_, "type": "function", "function": function})
    return {"role": "assistant", "content": content, "tool_calls": listed}


def function_call(name: str, arguments: Any) -> dict[str, Any]:
    """A message in the older dialect that calls a function."""
    call = {"name": name, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "content": None, "function_call": call}


_NO_TOOLS = (
    "Function tools with reasoning_effort are not supported for gpt-5.6-luna in "
    "/v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to "
    "'none'."
)


def _has_tools(request: dict[str, Any]) -> bool:
    """Whether the newer models of OpenAI refuse a request in Chat Completions."""
    return bool(request.get("tools")) and request.get("reasoning_effort") != "none"


def _is_completion(answer: Answer) -> bool:
    return answer.status == 200 and isinstance(answer.body, dict) and "choices" in answer.body


def _is_response(answer: Answer) -> bool:
    return answer.status == 200 and isinstance(answer.body, dict) and "output" in answer.body


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or each answer waits 40 ms for an acknowledgement
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.server.model.opened.append("connection")

    def do_GET(self) -> None:
        model = self.server.model
        model.headers.append({key.lower(): value for key, value in self.headers.items()})
        model.paths.append(self.path)
        answer = model.answers.popleft() if model.answers else Answer({"error": "?"}, 500)
        time.sleep(answer.silence)
        self._say(answer)

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        model = self.server.model
        model.requests.append(json.loads(self.rfile.read(length)))
        model.headers.append({key.lower(): value for key, value in self.headers.items()})
        if model.refuses_tools_in_chat and self.path == CHAT and _has_tools(model.requests[-1]):
            answer = Answer({"error": {"message": _NO_TOOLS}}, 400)
        else:
            answer = model.answers.popleft() if model.answers else Answer({"error": "?"}, 500)
        model.paths.append(self.path)
        if self.path not in model.speaks and not model.takes_any_path:
            answer = Answer({"error": {"message": f"no such path: {self.path}"}}, 404)
        time.sleep(answer.silence)
        if model.meeting:
            model.meeting.wait(100)
        if self.path == RESPONSES and _is_completion(answer):
            answer = evolve(answer, body=response(answer.body))
        if model.requests[-1].get("stream") and answer.events is None:
            if _is_completion(answer):
                answer = Answer(events=streamed(answer.body))
            elif _is_response(answer):
                answer = Answer(events=response_events(answer.body))
        if answer.events is not None:
            self._stream(answer)
            return
        self._say(answer)

    def _say(self, answer: Answer) -> None:
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

    def _stream(self, answer: Answer) -> None:
        self.send_response(answer.status)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        for key, value in answer.headers.items():
            self.send_header(key, value)
        self.end_headers()
        for event in answer.events or ():
            if isinstance(event, float):
                time.sleep(event)
                continue
            text = event if isinstance(event, str) else json.dumps(event)
            data = f"{'' if isinstance(event, Line) else 'data: '}{text}\n\n".encode()
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        if answer.drop:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_: Any) -> None:
        """Say nothing: the tests' output is for the tests."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    model: ModelServer

    def handle_error(self, *_: Any) -> None:
        """Say nothing of clients that leave before the answer."""


@contextmanager
def serving(context: ssl.SSLContext | None = None) -> Iterator[ModelServer]:
    """A server that runs while this is open, with TLS where it gets a context for that."""
    server = _Server(("127.0.0.1", 0), _Handler)
    scheme = "http"
    if context:
        scheme, server.socket = "https", context.wrap_socket(server.socket, server_side=True)
    server.model = ModelServer(f"{scheme}://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server.model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def raw_server(act: Callable[[socket.socket], object]) -> Iterator[list[str]]:
    """A server that acts on each connection until its client has left.

    Gives a list with its address, to which each new connection is added.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    found, open_ones = [f"http://127.0.0.1:{listener.getsockname()[1]}/v1"], ExitStack()

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:  # closed
                return
            found.append("connection")
            open_ones.callback(connection.close)
            with suppress(OSError):
                act(connection)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(10)
        open_ones.close()
