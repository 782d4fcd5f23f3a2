"""Requests: who may come in, what the client says to whom, and the error that it gets.

What is asked is read of Chat Completions and of the Responses API.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from attrs import field, frozen

from .. import errors
from ..errors import AgentError, ModelError, ValidationError
from ..files import File
from ..json_text import Json
from ..machine import AssistantRole, Given, Message, UserRole
from ..models import file_of_part

if TYPE_CHECKING:
    from starlette.requests import Request

# --- errors

_STATUSES: Final[Mapping[type[BaseException], tuple[int, str]]] = {
    ValidationError: (400, "invalid_request"),
    # Clients must not send this again: it is often their own retry of a request whose answer takes
    # long, and once that has come the same message would be said twice.
    errors.RunTakenError: (409, "conversation_busy"),
    errors.LimitError: (422, "limit_reached"),
    errors.WorkflowError: (422, "workflow_failed"),
    ModelError: (502, "model_failed"),
    errors.ConfigurationError: (500, "configuration"),
    errors.StoreError: (500, "store"),
}
"""The status and the code of each kind of error; the first that fits counts."""

_FAILED: Final = "the server failed; its log says why"
_TOLD: Final = {
    "conversation_busy": "another turn of the conversation is under way",
    "store": _FAILED,
}
"""What is said instead of an error that names the store: where it is, is no affair of clients."""


class RefusedError(AgentError):
    """A request that gets an error as its answer.

    Attributes:
        status: the HTTP status.
        code: what programs know it by.
        param: the field of the request that is wrong, or None.
        retry_after: after how many seconds it may be sent again; None if that does not help.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        code: str = "invalid_request",
        param: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.code = status, code
        self.param, self.retry_after = param, retry_after

    @classmethod
    def of(cls, error: BaseException) -> RefusedError:
        """The answer to a request whose run failed; what is not ours to tell stays in the log."""
        if isinstance(error, cls):
            return error
        for kind, (status, code) in _STATUSES.items():
            if isinstance(error, kind):
                after = 1.0 if isinstance(error, ModelError) and error.retriable else None
                told = _TOLD.get(code) or str(error)
                return cls(told, status=status, code=code, retry_after=after)
        return cls(_FAILED, status=500, code="server_error")

    @property
    def error(self) -> dict[str, Json]:
        """The error as an object of JSON."""
        kind = "server_error" if self.status >= 500 else "invalid_request_error"
        kind = "rate_limit_error" if self.status == 429 else kind
        return {"message": str(self), "type": kind, "param": self.param, "code": self.code}

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the answer: whether clients should send the request again."""
        if self.retry_after is None:
            return {"x-should-retry": "false"}
        return {"x-should-retry": "true", "Retry-After": f"{self.retry_after:.0f}"}


# --- who may come in

LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})


@frozen
class Doors:
    """What has to be true of a request before it is read.

    Attributes:
        hosts: the names and addresses that the server is called by; ``*`` is any.
        origins: the pages that may ask it from a browser; ``*`` is any.
        key: the key that clients send as ``Authorization: Bearer …``; None if there is none.
    """

    hosts: frozenset[str] = LOOPBACK
    origins: frozenset[str] = frozenset()
    key: str | None = None

    def check(self, request: Request) -> None:
        """Let a request in."""
        host = request.headers.get("host", "")
        if "*" not in self.hosts and _host_in(host) not in self.hosts:
            hint = "gram serve --allow-host names it"
            raise RefusedError(f"the host {host} is not served: {hint}", status=403, code="host")
        origin = request.headers.get("origin")
        if origin is not None and not self.origins & {origin, "*"}:
            hint = "gram serve --allow-origin names it"
            raise RefusedError(f"pages of {origin} may not ask: {hint}", status=403, code="origin")
        if self.key is None or request.url.path == "/health" or request.method == "OPTIONS":
            return
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        is_known = hmac.compare_digest(given.strip().encode(), self.key.encode())
        if scheme.lower() != "bearer" or not is_known:
            raise RefusedError("the key is missing or wrong", status=401, code="invalid_api_key")


def _host_in(header: str) -> str | None:
    try:
        return urlsplit(f"//{header}").hostname
    except ValueError:
        return None


# --- what is asked

_OURS: Final = "tools are the program's: they are declared in it, and run by the server"
_REFUSED: Final[Mapping[str, tuple[str, ...]]] = {
    _OURS: ("tools", "tool_choice", "functions", "function_call"),
    "the program declares the type of its answers": ("response_format", "text"),
    "a run has one answer": ("n",),
    "agents give no probabilities": ("logprobs", "top_logprobs"),
    "agents answer with text": ("modalities", "audio"),
    "a run answers while its client waits": ("background",),
    "the program has the prompts": ("prompt",),
    "responses are not kept by their ids: name a conversation": ("previous_response_id",),
}
"""What no request may ask for, by the reason."""

_HARMLESS: Final[tuple[Json, ...]] = (
    *([], {}, ["text"], {"type": "text"}, {"format": {"type": "text"}}),
    *("auto", "none", False, 1),
)

_LONGEST_NAME: Final = 200
_USER: Final = ("user", "system", "developer")
_TEXTS: Final = ("text", "input_text", "output_text")


@frozen
class Asked:
    """A request.

    Attributes:
        model: the name of the agent or workflow.
        messages: what the client says, and what it says was said before; the user speaks last.
        streams: whether the client wants the words as they come.
        with_usage: whether the stream ends with the tokens used.
        conversation: the name of the conversation that it goes on with, or None.
    """

    model: str
    messages: tuple[Message, ...]
    streams: bool = False
    with_usage: bool = field(default=False, kw_only=True)
    conversation: str | None = field(default=None, kw_only=True)

    @property
    def said(self) -> Given:
        """What the user says now."""
        return _given(self.messages[-1:])

    @property
    def said_since(self) -> Given:
        """All that was said after the last answer: what a kept conversation does not have yet."""
        roles = [each.role for each in self.messages]
        answered = [place for place, role in enumerate(roles) if role == AssistantRole]
        return _given(self.messages[answered[-1] + 1 if answered else 0 :])


def _given(messages: tuple[Message, ...]) -> Given:
    text = "\n\n".join(filter(None, (each.content for each in messages)))
    files = [file for each in messages for file in each.attachments]
    return [text, *files] if files else text


def read_chat(body: Json, conversation: str | None) -> Asked:
    """Read a request of Chat Completions.

    Raises:
        RefusedError: it is not valid, or asks for what no run does.
    """
    fields = _fields(body)
    options = _typed(fields, "stream_options", dict, {})
    return Asked(
        _typed(fields, "model", str),
        _messages(_typed(fields, "messages", list), "messages"),
        _typed(fields, "stream", bool, False),
        with_usage=bool(options.get("include_usage")),
        conversation=conversation,
    )


def read_response(body: Json, conversation: str | None) -> Asked:
    """Read a request of the Responses API, see `read_chat`."""
    fields = _fields(body)
    named = _typed(fields, "conversation", (str, dict), None)
    named = _typed(named, "id", str) if isinstance(named, dict) else named
    if named and not (named.isprintable() and len(named) <= _LONGEST_NAME):
        told = f"conversation is a name of at most {_LONGEST_NAME} characters that can be shown"
        raise RefusedError(told, param="conversation")
    given = _typed(fields, "input", (str, list))
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    if instructions := _typed(fields, "instructions", str, ""):
        items = [{"role": "system", "content": instructions}, *items]
    return Asked(
        _typed(fields, "model", str),
        _messages(items, "input"),
        _typed(fields, "stream", bool, False),
        conversation=named or conversation,
    )


def _fields(body: Json) -> Mapping[str, Any]:
    if not isinstance(body, dict):
        raise RefusedError("the body is a JSON object")
    for why, name in ((why, name) for why, names in _REFUSED.items() for name in names):
        value = body.get(name)
        if value is not None and (value is True or value not in _HARMLESS):
            raise RefusedError(f"{name} is not taken: {why}", code="unsupported", param=name)
    return body


_EXPECTED: Final = {str: "a string", list: "a list", dict: "an object", bool: "true or false"}
_MISSING: Final = object()


def _typed(
    fields: Mapping[str, Any], name: str, kind: type | tuple[type, ...], default: Any = _MISSING
) -> Any:
    value = fields.get(name)
    if value is None and default is not _MISSING:
        return default
    if not isinstance(value, kind) or (default is _MISSING and not value):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        expected = " or ".join(_EXPECTED[each] for each in kinds)
        found = f"{name} is missing or empty" if not value else f"{name} is of another type"
        raise RefusedError(f"{found}: expected {expected}", param=name)
    return value


def _messages(items: list[Json], name: str) -> tuple[Message, ...]:
    messages = tuple(_message(each, f"{name}[{place}]") for place, each in enumerate(items))
    if messages[-1].role != UserRole:
        raise RefusedError(f"{name} ends with what the user says", param=name)
    return messages


def _message(item: Json, place: str) -> Message:
    """One message; in both dialects its parts name what they are."""
    if not isinstance(item, dict) or item.get("type", "message") != "message":
        raise RefusedError(f"{place} is not a message: {_OURS}", param=place)
    role, content = item.get("role"), item.get("content")
    if item.get("tool_calls") or item.get("function_call") or role in ("tool", "function"):
        raise RefusedError(f"{place} is of a tool: {_OURS}", code="unsupported", param=place)
    if role not in (*_USER, "assistant"):
        raise RefusedError(
            f"{place}: the role is user, system, developer or assistant", param=place
        )
    texts, files, refusals = list[str](), list[File](), list[str]()
    if isinstance(refusal := item.get("refusal"), str):
        refusals.append(refusal)
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            texts.append(part)
        elif part is None and refusals:
            continue
        elif not isinstance(part, dict):
            raise RefusedError(f"{place}: the content is a text or a list of parts", param=place)
        elif part.get("type") in _TEXTS and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif part.get("type") == "refusal" and isinstance(part.get("refusal"), str):
            refusals.append(part["refusal"])
        else:
            files.append(_file(part, place))
    text = "\n".join(filter(None, texts))
    if role == "assistant":
        said = text or "\n".join(refusals)
        return Message(AssistantRole, said, refused=not text and bool(refusals))
    return Message(UserRole, text, attachments=files)


def _file(part: Mapping[str, Any], place: str) -> File:
    try:
        return file_of_part(part)
    except ValidationError as error:
        told = str(error).partition("\n")[0]  # its hint is for Python
        raise RefusedError(f"{place}: {told}", param=place) from None
