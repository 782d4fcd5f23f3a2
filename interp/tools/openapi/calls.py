"""Calls of operations over HTTP: the request, and what the model is told of the answer.

What separates the values of a request is never part of one: it is escaped, or the value is
refused. Documents are fetched from their addresses here, too.

This loads the network library: import it only when a request is about to leave.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, suppress
from typing import Final
from unicodedata import normalize
from urllib.parse import quote, unquote, urlsplit

import httpx2

from gram.display import visible
from gram.words import counted

from ...concurrency import waited_for
from ...errors import ConfigurationError, ToolError
from ...json_text import Json, read_json, write_json
from ...models import client_of, no_cookies
from ...secrets import without_keys, without_userinfo
from .document import FORM, ApiParameter, Operation

# What every request says. What a server packs nevertheless is unpacked by the client.
_HEADERS: Final = {"Accept": "application/json, */*;q=0.5", "Accept-Encoding": "identity"}
_FETCH_SECONDS: Final = 30.0
_BEGINNING: Final = 1000  # characters of a body that is not wanted
_LONGEST_TARGET: Final = 200


async def call(operation: Operation, arguments: Mapping[str, Json]) -> Json:
    """Call an operation with checked arguments; return its JSON, its text, or None for nothing."""
    try:
        response, body = await _received(
            client_of(("openapi", *urlsplit(operation.server)[:2]), _new_client),
            lambda client: _request(client, operation, arguments),
            operation.seconds,
            operation.max_bytes,
        )
        return _answer(operation, response, body)
    except ToolError as error:
        raise ToolError(f"{operation.method} {operation.path}: {error}") from None


def _request(
    client: httpx2.AsyncClient, operation: Operation, arguments: Mapping[str, Json]
) -> httpx2.Request:
    path = _quoted(operation.path)
    query: list[tuple[str, str]] = []
    headers, content = httpx2.Headers(_HEADERS), None
    for each in operation.parameters:
        value = arguments.get(each.key)
        if each.place == "body" and each.key in arguments:
            content = _in_body(each, value)
            headers["Content-Type"] = each.name
        elif value is None:
            continue
        elif each.place == "path":
            path = path.replace(_quoted(f"{{{each.name}}}"), in_path(each, value))
        elif each.place == "header":
            headers[each.name] = in_header(each, value)
        else:
            query += in_query(each, value)
    if has_dots(path):  # parts that are fine by themselves, side by side
        raise ToolError("its arguments make a . or .. in its path")
    for key in operation.keys:  # last, so that no argument takes the place of a key
        if key.place == "header":
            headers[key.name] = key.value
        else:
            query = [each for each in query if unquote(each[0]) != key.name]
            query.append((_escaped(key.name), _escaped(key.value)))
    url = operation.server.rstrip("/") + path
    if query:
        url += ("&" if "?" in path else "?") + "&".join(map("=".join, query))
    made = client.build_request(
        operation.method, url, headers=headers, timeout=operation.seconds, content=content
    )
    size = int(made.headers.get("content-length", 0)) + len(url)
    if size > operation.max_bytes:
        raise ToolError(f"the request has more than {counted(operation.max_bytes, 'byte')}")
    return made


def _answer(operation: Operation, response: httpx2.Response, body: bytes) -> Json:
    status = visible(f"{response.status_code} {response.reason_phrase}".strip())
    if 300 <= response.status_code < 400:
        target = without_keys(response.headers.get("location", "elsewhere"))
        target = visible(without_userinfo(target)[:_LONGEST_TARGET])
        raise ToolError(f"{status}: it redirects to {target}, which is not followed")
    most = operation.max_bytes
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    text = _text(response, body[:most], kind)
    if not response.is_success:
        text = without_keys(text)
        begun = visible(text[:_BEGINNING]) + ("…" if len(text) > _BEGINNING else "")
        said = ": ".join(filter(None, (status, begun.strip())))
        if response.status_code in (401, 403) and operation.missing:
            said += f"\n  hint: it was called without a key for {' and '.join(operation.missing)}"
        raise ToolError(said)
    if len(body) > most:
        raise ToolError(f"the answer has more than {counted(most, 'byte')}")
    if not text or not kind.endswith(("/json", "+json")):
        return text or None
    try:
        return read_json(text)
    except (ValueError, RecursionError) as error:
        raise ToolError(f"the answer is not JSON: {error}") from None


def _text(response: httpx2.Response, body: bytes, kind: str) -> str:
    """The text of an answer; of one that has none, its type and size in brackets."""
    text = body.decode("utf-8", "replace")
    with suppress(LookupError, ValueError):  # an unknown encoding, or one that is not of texts
        text = body.decode(response.encoding or "utf-8", "replace")
    if kind.startswith(("text/", "application/json")) or not {"\0", "\ufffd"} & {*text}:
        return text.removeprefix("\ufeff")  # a byte order mark is no part of the text
    return f"[{visible(kind) or 'no type'}: {len(body):,} bytes that are no text]"


def in_path(parameter: ApiParameter, value: Json) -> str:
    """A value as a part of a path, which has to stay the same path."""
    parts = _parts(parameter, value)
    text = ",".join(map(_escaped, parts))
    if not text:
        raise ToolError(f'"{parameter.key}" is part of a path and cannot be empty')
    if any(map(has_dots, (text, *parts))):
        said = f'"{parameter.key}" is part of a path, and has a . or .. that leads elsewhere'
        raise ToolError(said)
    return text


def in_query(parameter: ApiParameter, value: Json) -> list[tuple[str, str]]:
    """A value as names and values of a query, escaped."""
    if parameter.is_deep:
        return [*_deep_pairs(parameter.name, value)]
    if isinstance(value, dict) and parameter.explode:
        return [(_escaped(key), _escaped(_plain(one))) for key, one in value.items()]
    name, parts = _escaped(parameter.name), [_escaped(each) for each in _parts(parameter, value)]
    return [(name, each) for each in (parts if parameter.explode else [",".join(parts)])]


def _deep_pairs(name: str, value: Json) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict | list):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _deep_pairs(f"{name}[{key}]", one)
    else:
        yield _escaped(name), _escaped(_plain(value))


def in_header(parameter: ApiParameter, value: Json) -> str:
    """A value as a header: printable ASCII, items of a list without commas."""
    parts = _parts(parameter, value)
    if isinstance(value, list) and any("," in each for each in parts):
        raise ToolError(f'"{parameter.key}" is sent with commas: an item with one cannot be sent')
    text = ",".join(parts)
    if not text.isprintable() or not text.isascii() or text != text.strip():
        raise ToolError(f'"{parameter.key}" is a header: write printable ASCII')
    return text


def _in_body(body: ApiParameter, value: Json) -> bytes:
    if body.name == FORM and isinstance(value, dict):
        usual = {name: ApiParameter(name, name, "query") for name in value}
        fields = [in_query({**usual, **body.fields}[name], one) for name, one in value.items()]
        return "&".join("=".join(pair) for pairs in fields for pair in pairs).encode()
    return (_plain(value) if body.name.startswith("text/") else write_json(value)).encode()


def _parts(parameter: ApiParameter, value: Json) -> list[str]:
    if isinstance(value, dict):
        raise ToolError(f'"{parameter.key}" is an object, which is not sent in a {parameter.place}')
    return [_plain(one) for one in (value if isinstance(value, list) else [value])]


def _plain(value: Json) -> str:
    return value if isinstance(value, str) else write_json(value)


def _escaped(text: str) -> str:
    return quote(text, safe="")


def _quoted(path: str) -> str:
    """The path of a document as addresses have it, with its parameters in braces."""
    return quote(path, safe="/:@!$&'()*+,;=%?{}")


_MOST_DECODINGS: Final = 8
_SLASHES: Final = re.compile(r"[/\\\u2044\u2215\u2216\u29f5\u29f8]")
_ENDS: Final = re.compile(r"[;?#]")  # of a part of a path, for servers after they have decoded it
_CODE: Final = re.compile("%u([0-9a-f]{4})", re.IGNORECASE)


def has_dots(path: str) -> bool:
    """Whether a part of a path is ``.`` or ``..`` to a server that decodes it, however often.

    Blanks and what cannot be seen are left out, as some servers leave them out.

    >>> has_dots("a/%252e%252E/b"), has_dots("..%5Cb"), has_dots("a..b/.c")
    (True, True, False)
    """
    text = path
    for _ in range(_MOST_DECODINGS):
        coded = _CODE.sub(lambda found: chr(int(found[1], 16)), text)
        text, before = unquote(coded, errors="surrogateescape"), text
        if text == before:
            break
    else:
        return True  # nobody writes this but to hide something
    if any("\udc80" <= each <= "\udcff" for each in text):
        return True  # it may be a dot in more bytes than it needs, which old servers take
    for part in _SLASHES.split(normalize("NFKC", text).replace("\u3002", ".")):
        seen = (char for char in _ENDS.split(part)[0] if char > " " and char.isprintable())
        if "".join(seen) in (".", ".."):
            return True
    return False


def fetch(address: str, max_bytes: int) -> bytes:
    """Get a document from its address."""
    try:
        response, body = waited_for(
            lambda: _received(
                _new_client(),
                lambda to: to.build_request("GET", address, headers=_HEADERS, timeout=None),
                _FETCH_SECONDS,
                max_bytes,
            )
        )
    except ToolError as error:
        raise ConfigurationError(f"{address}: {error}") from None
    if not response.is_success:
        raise ConfigurationError(f"{address}: the server answered {response.status_code}")
    if len(body) > max_bytes:
        raise ConfigurationError(f"{address}: more than {counted(max_bytes, 'byte')}")
    return body


async def _received(
    opened: AbstractAsyncContextManager[httpx2.AsyncClient],
    make: Callable[[httpx2.AsyncClient], httpx2.Request],
    seconds: float,
    max_bytes: int,
) -> tuple[httpx2.Response, bytes]:
    """The answer to a request and its bytes; of more than the most, the beginning."""
    body = bytearray()
    try:
        async with asyncio.timeout(seconds), opened as client:
            response = await client.send(make(client), stream=True)
            async with aclosing(response), aclosing(response.aiter_bytes()) as pieces:
                async for piece in pieces:
                    body += piece
                    if len(body) > max_bytes:
                        break
                    await asyncio.sleep(0)  # with many small pieces, other tasks would never run
    except (TimeoutError, httpx2.TimeoutException):
        raise ToolError(f"no answer in {counted(seconds, 'second')}") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        raise ToolError(str(error) or type(error).__name__) from None
    return response, bytes(body)


def _new_client() -> httpx2.AsyncClient:
    return httpx2.AsyncClient(cookies=no_cookies())  # it follows no redirects by itself


class _WithoutKeys(logging.Filter):
    """Replaces keys: the client logs addresses, and some keys are part of them."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = without_keys(record.getMessage()), ()
        return True


logging.getLogger("httpx2").addFilter(_WithoutKeys())
