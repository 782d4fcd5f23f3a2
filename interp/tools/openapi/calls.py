"""Calls of operations over HTTP: the request, and what the model is told of the answer.

Documents are fetched from their addresses here, too.

This loads the network library: import it only when a request is about to leave.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, suppress
from typing import Final
from urllib.parse import quote, unquote, urlsplit

import httpx2
from attrs import frozen

from gram.display import visible
from gram.words import counted

from ...concurrency import waited_for
from ...errors import ConfigurationError, ToolError
from ...json_text import Json, read_json
from ...models import Pace, client_of, no_cookies
from ...secrets import without_keys, without_userinfo
from .operations import ApiKey, Operation
from .styles import has_dots, in_body, in_header, in_path, in_query

HEADERS: Final = {"Accept": "application/json, */*;q=0.5", "Accept-Encoding": "identity"}
"""What every request says. What a server packs nevertheless is unpacked by the client."""

_FETCH_SECONDS: Final = 30.0
_BEGINNING: Final = 1000  # characters of a body that is not wanted
_LONGEST_TARGET: Final = 200
_CHARSET: Final = re.compile(r"""charset\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE)


@frozen
class Caller:
    """Calls one operation.

    Attributes:
        operation: the operation.
        server: the address of the server, which is allowed.
        keys: the keys that it is called with.
        missing: the schemes that there is no key for.
        seconds: the time for all of a call.
        max_bytes: the most bytes of a request and of an answer.
    """

    operation: Operation
    server: str
    keys: tuple[ApiKey, ...]
    missing: tuple[str, ...]
    seconds: float
    max_bytes: int

    async def call(self, arguments: Mapping[str, Json]) -> Json:
        """Call the operation and return what it answers: JSON, text, or None for nothing.

        Args:
            arguments: the arguments, checked.

        Raises:
            ToolError: an argument cannot be sent, or the answer is no success.
        """
        client = client_of(("openapi", *urlsplit(self.server)[:2]), _new_client)
        try:
            return self._answer(
                *await _received(
                    client, lambda to: self._request(to, arguments), self.seconds, self.max_bytes
                )
            )
        except ToolError as error:
            raise ToolError(f"{self.operation.method} {self.operation.path}: {error}") from None

    # --- the request

    def _request(self, client: httpx2.AsyncClient, arguments: Mapping[str, Json]) -> httpx2.Request:
        operation = self.operation
        path = _quoted(operation.path)
        query: list[tuple[str, str]] = []
        headers, content = dict(HEADERS), None
        for each in operation.parameters:
            value = arguments.get(each.key)
            if each.place == "body" and each.key in arguments:
                content = in_body(each, value)
                headers["Content-Type"] = each.name
            elif value is None:
                continue
            elif each.place == "path":
                path = path.replace(_quoted(f"{{{each.name}}}"), in_path(each, value))
            elif each.place == "header":
                headers[each.name] = in_header(each, value)
            else:
                query.extend(in_query(each, value))
        if has_dots(path):  # parts that are fine by themselves, side by side
            raise ToolError("its arguments make a . or .. in its path")
        for key in self.keys:  # last, so that no argument takes the place of a key
            if key.place == "header":
                same = {name for name in headers if name.lower() == key.name.lower()}
                headers = {name: one for name, one in headers.items() if name not in same}
                headers[key.name] = key.value
            else:
                query = [each for each in query if unquote(each[0]) != key.name]
                query.append((quote(key.name, safe=""), quote(key.value, safe="")))
        url = self.server.rstrip("/") + path
        if query:
            url += ("&" if "?" in path else "?") + "&".join(f"{key}={one}" for key, one in query)
        made = client.build_request(
            operation.method, url, headers=headers, timeout=self.seconds, content=content
        )
        size = int(made.headers.get("content-length", 0)) + len(url)
        if size > self.max_bytes:
            raise ToolError(f"the request has more than {counted(self.max_bytes, 'byte')}")
        return made

    # --- the answer

    def _answer(self, response: httpx2.Response, body: bytes) -> Json:
        status = visible(f"{response.status_code} {response.reason_phrase}".strip())
        if 300 <= response.status_code < 400:
            target = without_keys(response.headers.get("location", "elsewhere"))
            target = visible(without_userinfo(target)[:_LONGEST_TARGET])
            raise ToolError(f"{status}: it redirects to {target}, which is not followed")
        content_type = response.headers.get("content-type", "")
        if not response.is_success:
            text = without_keys(text_of(body[: self.max_bytes], content_type))
            begun = visible(text[:_BEGINNING]) + ("…" if len(text) > _BEGINNING else "")
            hint = f"\n  hint: it was called without a key for {' and '.join(self.missing)}"
            is_keyless = response.status_code in (401, 403) and self.missing
            said = ": ".join(filter(None, (status, begun.strip())))
            raise ToolError(said + (hint if is_keyless else ""))
        if len(body) > self.max_bytes:
            raise ToolError(f"the answer has more than {counted(self.max_bytes, 'byte')}")
        return value_of(body, content_type)


def text_of(body: bytes, content_type: str) -> str:
    """The text of an answer; of one that has none, its type and size in brackets."""
    named = _CHARSET.search(content_type)
    text = body.decode("utf-8", "replace")
    with suppress(LookupError, ValueError):  # nobody knows the encoding, or it is another
        text = body.decode(named[1] if named else "utf-8")
    kind = _kind(content_type)
    if kind.startswith(("text/", "application/json")) or not {"\0", "\ufffd"} & {*text}:
        return text.removeprefix("\ufeff")  # a byte order mark is no part of the text
    return f"[{visible(kind) or 'no type'}: {len(body):,} bytes that are no text]"


def value_of(body: bytes, content_type: str) -> Json:
    """The value of an answer: JSON, text, or None for nothing.

    Raises:
        ToolError: it should be JSON, and is not.
    """
    text = text_of(body, content_type)
    subtype = _kind(content_type).rpartition("/")[2]
    if not text or (subtype != "json" and not subtype.endswith("+json")):
        return text or None
    try:
        return read_json(text)
    except (ValueError, RecursionError) as error:
        raise ToolError(f"the answer is not JSON: {error}") from None


def _kind(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def fetch(address: str, max_bytes: int) -> bytes:
    """Get a document from its address.

    Raises:
        ConfigurationError: it cannot be fetched.
    """

    try:
        response, body = waited_for(
            lambda: _received(
                _new_client(),
                lambda to: to.build_request("GET", address, headers=HEADERS, timeout=None),
                _FETCH_SECONDS,
                max_bytes,
            )
        )
    except ToolError as error:
        raise ConfigurationError(f"{address}: {error}") from None
    if response.is_success and len(body) <= max_bytes:
        return body
    said = f"more than {counted(max_bytes, 'byte')}"
    if not response.is_success:
        said = f"the server answered {response.status_code}"
    raise ConfigurationError(f"{address}: {said}")


async def _received(
    opened: AbstractAsyncContextManager[httpx2.AsyncClient],
    make: Callable[[httpx2.AsyncClient], httpx2.Request],
    seconds: float,
    max_bytes: int,
) -> tuple[httpx2.Response, bytes]:
    """The answer to a request and its bytes; of more than the most, the beginning.

    Raises:
        ToolError: none came in time, or the connection failed.
    """
    body, pace = bytearray(), Pace()
    try:
        async with asyncio.timeout(seconds), opened as client:
            response = await client.send(make(client), stream=True)
            try:
                async with aclosing(response.aiter_bytes()) as pieces:
                    async for piece in pieces:
                        body += piece
                        if len(body) > max_bytes:
                            break
                        await pace.keep()
            finally:
                await response.aclose()
    except (TimeoutError, httpx2.TimeoutException):
        raise ToolError(f"no answer in {counted(seconds, 'second')}") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        raise ToolError(str(error) or type(error).__name__) from None
    return response, bytes(body)


def _quoted(path: str) -> str:
    """The path of a document as addresses have it, with its parameters in braces."""
    return quote(path, safe="/:@!$&'()*+,;=%?{}")


def _new_client() -> httpx2.AsyncClient:
    """A client, kept as long as the event loop; it follows no redirects and keeps no cookies."""
    return httpx2.AsyncClient(cookies=no_cookies())


class _WithoutKeys(logging.Filter):
    """Replaces keys: the client logs addresses, and some keys are part of them."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = without_keys(record.getMessage()), ()
        return True


logging.getLogger("httpx2").addFilter(_WithoutKeys())
