"""Calls of operations over HTTP: the request, and what the model is told of the answer.

This loads the network library: import it only when a request is about to leave.
"""

from __future__ import annotations

import asyncio
import codecs
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote, urlencode

import httpx2

from gram import visible

from ..errors import ToolError
from ..json_text import Json, read_json, write_json
from ..redaction import redact, redact_error
from .fetching import HEADERS, certificates
from .keys import ApiKey
from .operations import FORM_BODY, ApiParameter, Operation

_BEGINNING: Final = 1000  # characters of a body that is not wanted
_LONGEST_TARGET: Final = 200


async def call(
    operation: Operation,
    server: str,
    arguments: Mapping[str, Json],
    keys: Sequence[ApiKey],
    seconds: float,
    max_bytes: int,
) -> Json:
    """Call an operation and return what it answers: JSON, text, or None for nothing.

    Args:
        operation: the operation.
        server: the address of the server, which is allowed.
        arguments: the arguments, checked.
        keys: the keys that it is called with.
        seconds: the time for all of it.
        max_bytes: the most bytes of an answer.

    Raises:
        ToolError: an argument cannot be sent, or the answer is no success.
    """
    where = f"{operation.method} {operation.path}"
    request = _request(operation, server, arguments, keys)
    try:
        async with (
            asyncio.timeout(seconds),
            httpx2.AsyncClient(verify=certificates(), timeout=seconds) as client,
            client.stream(**request, follow_redirects=False) as response,
        ):
            body = bytearray()
            async for piece in response.aiter_raw():
                body += piece
                if len(body) > max_bytes:
                    break
    except (TimeoutError, httpx2.TimeoutException):
        raise ToolError(f"{where}: no answer in {seconds:g} seconds") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        raise ToolError(redact_error(f"{where}: {error or type(error).__name__}")) from None
    return _answer(response, bytes(body), where, max_bytes)


def _request(
    operation: Operation,
    server: str,
    arguments: Mapping[str, Json],
    keys: Sequence[ApiKey],
) -> dict[str, Any]:
    path = operation.path
    query: list[tuple[str, str]] = []
    headers = dict(HEADERS)
    for each in operation.parameters:
        value = arguments.get(each.key)
        if value is None:
            continue
        if each.place == "path":
            path = path.replace(f"{{{each.name}}}", _in_path(each, value))
        elif each.place == "query":
            query += _in_query(each, value)
        else:
            headers[each.name] = _in_header(each, value)
    content = None
    if operation.body is not None and operation.body in arguments:
        headers["Content-Type"] = operation.media_type
        content = _content(operation.media_type, arguments[operation.body])
    for key in keys:  # last, so that no argument takes the place of a key
        if key.place == "query":
            query = [*(each for each in query if each[0] != key.name), (key.name, key.value)]
        elif key.place == "cookie":
            headers["Cookie"] = f"{key.name}={key.value}"
        else:
            headers[key.name] = key.value
    url = server.rstrip("/") + path + (f"?{urlencode(query)}" if query else "")
    return {"method": operation.method, "url": url, "headers": headers, "content": content}


def _content(media_type: str, value: Json) -> bytes:
    if media_type == FORM_BODY:
        pairs = value.items() if isinstance(value, dict) else ()
        return urlencode({key: _plain(each) for key, each in pairs}).encode()
    return (str(value) if media_type == "text/plain" else write_json(value)).encode()


def _plain(value: Json) -> str:
    """A value as text; what has parts is JSON."""
    return value if isinstance(value, str) else write_json(value)


def _joined(each: ApiParameter, value: Json, comma: str = ",") -> str:
    if each.style != "json" and isinstance(value, list):
        return comma.join(map(_plain, value))
    if each.style != "json" and isinstance(value, dict):
        equals = "=" if each.explode else ","
        return comma.join(f"{key}{equals}{_plain(one)}" for key, one in value.items())
    return _plain(value)


def _in_path(each: ApiParameter, value: Json) -> str:
    text = _joined(each, value)
    if text in ("", ".", ".."):
        raise ToolError(f'"{each.key}" is part of a path and cannot be {text!r}')
    before = {"label": ".", "matrix": f";{each.name}="}.get(each.style, "")
    return before + quote(text, safe=",=")


def _in_query(each: ApiParameter, value: Json) -> list[tuple[str, str]]:
    if each.style == "deepObject" and isinstance(value, dict):
        return [(f"{each.name}[{key}]", _plain(one)) for key, one in value.items()]
    if each.style == "form" and each.explode:
        if isinstance(value, list):
            return [(each.name, _plain(one)) for one in value]
        if isinstance(value, dict):
            return [(key, _plain(one)) for key, one in value.items()]
    between = {"spaceDelimited": " ", "pipeDelimited": "|"}.get(each.style, ",")
    return [(each.name, _joined(each, value, between))]


def _in_header(each: ApiParameter, value: Json) -> str:
    text = _joined(each, value)
    if not text.isprintable() or not text.isascii():
        raise ToolError(f'"{each.key}" is a header: write printable ASCII')
    return text


def _answer(response: httpx2.Response, body: bytes, where: str, max_bytes: int) -> Json:
    status = f"{response.status_code} {response.reason_phrase}".strip()
    if 300 <= response.status_code < 400:
        target = visible(response.headers.get("location", "elsewhere")[:_LONGEST_TARGET])
        said = f"{where}: {status}: it redirects to {target}, which is not followed"
        raise ToolError(redact_error(said))
    if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise ToolError(f"{where}: {status}: the answer is compressed, which nobody asked for")
    text = redact(body[:max_bytes].decode(_encoding(response), "replace"))
    if not response.is_success:
        begun = text[:_BEGINNING] + ("…" if len(text) > _BEGINNING else "")
        raise ToolError(redact_error(f"{where}: {status}: {begun}"))
    if len(body) > max_bytes:
        raise ToolError(f"{where}: the answer has more than {max_bytes:,} bytes")
    if not text:
        return None
    if "json" in response.headers.get("content-type", "").lower():
        try:
            return read_json(text)
        except (ValueError, RecursionError) as error:
            raise ToolError(f"{where}: the answer is not JSON: {error}") from None
    return text


def _encoding(response: httpx2.Response) -> str:
    """The encoding that an answer names, if it is one of text."""
    try:
        return codecs.lookup(response.charset_encoding or "utf-8").name
    except LookupError:
        return "utf-8"
