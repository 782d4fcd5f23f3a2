"""The one way to the network for models, through the client of ``openai``. It trusts no server.

Redirects to another server are refused, and replies have a limited size, also those of errors and
redirects. A hook on responses does this, so that it holds for every transport and behind proxies.
The client does not retry. Importing it takes about a second: it is done when a request leaves.

Errors are raised outside of ``except``: what they handle holds the request with its key, and would
be their ``__context__``.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Mapping
from functools import partial
from importlib.util import find_spec
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import anyio
import httpx2
import openai

from lenses_ext import Model

from ..errors import AgentError, ConfigurationError, ModelError
from ..secrets import without_keys
from .connections import Server, limit_body, no_cookies
from .failures import failed, too_large
from .providers import STREAMED_TIMES

NETWORK_ERRORS: tuple[type[Exception], ...] = (
    openai.OpenAIError,
    httpx2.HTTPError,
    httpx2.StreamError,
    httpx2.InvalidURL,
    anyio.EndOfStream,  # as some errors of TLS, it reaches us as it is
    OSError,
)
"""The errors of requests; those of connections are the causes of others."""

_AIOHTTP_ERRORS: tuple[type[Exception], ...] = ()

if find_spec("aiohttp"):
    from aiohttp import ClientError

    _AIOHTTP_ERRORS = (ClientError,)
    NETWORK_ERRORS = (*NETWORK_ERRORS, ClientError)

_LONGEST_ERROR, _LONGEST_PACKED_ERROR = 65_536, 8_192  # bytes, as they are sent


def new_client(server: Server) -> openai.AsyncOpenAI:
    """A client for a server, over aiohttp where that is installed."""
    kind = openai.DefaultAioHttpClient if find_spec("aiohttp") else openai.DefaultAsyncHttpxClient
    try:
        http = kind(
            auth=server.user if any(server.user) else None,
            cookies=no_cookies(),
            headers={"Accept-Encoding": "gzip"},
            event_hooks={"response": [partial(_guard, server)]},
        )
    except (ValueError, ImportError, OSError) as error:
        problem = f"the environment's proxies or certificates cannot be used: {error}"
    else:
        return openai.AsyncOpenAI(
            base_url=urlunsplit(urlsplit(server.base_url)._replace(netloc=server.host)),
            api_key=server.key,
            timeout=openai.Timeout(server.timeout, connect=server.connect_timeout),
            max_retries=0,
            http_client=http,
        )
    raise ConfigurationError(without_keys(problem))


async def _guard(server: Server, response: httpx2.Response) -> None:
    if response.has_redirect_location:
        _check_redirect(server.where, response)
    is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
    most = server.max_bytes * STREAMED_TIMES if is_stream else server.max_bytes
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    # What is packed twice could be a million times as large as what is sent.
    if encoding not in ("identity", "gzip", "deflate"):
        said = f"{server.where} sent a reply compressed as {encoding!r}, which nobody asked for"
        raise ModelError(said)
    needed = _LONGEST_ERROR if encoding == "identity" else _LONGEST_PACKED_ERROR
    needed = sys.maxsize if response.is_success else needed
    limit_body(response, most, partial(too_large, server.where, most), needed=needed)


def _check_redirect(where: str, response: httpx2.Response) -> None:
    asked, location = response.request.url, response.headers["location"]
    try:
        target: httpx2.URL | None = asked.join(location)
    except (httpx2.InvalidURL, ValueError):
        target = None
    # the origin of an address is its scheme, host and port (RFC 6454)
    origin = asked.scheme, asked.host, asked.port
    if target is None or (target.scheme, target.host, target.port) != origin:
        shown = "" if target is None else f" to {target.scheme}://{target.host}"
        raise ModelError(
            f"{where} redirects{shown}, which is not followed: keys are not sent to another "
            "server\n  hint: use that address if you trust it",
            status=response.status_code,
        )


async def ask(
    server: Server,
    client: openai.AsyncOpenAI,
    path: str,
    body: bytes | None = None,
    *,
    headers: Mapping[str, str] | None = None,
    query: Mapping[str, int] | None = None,
    model: Model | None = None,
) -> httpx2.Response:
    """Post a body to a path after the address, or without one, ask for what is there.

    The body of the response is still to be read.

    Raises:
        ModelError: The server did not answer, or answered with an error.
        ConfigurationError: The key was refused.
    """
    how: dict[str, Any] = {
        "cast_to": httpx2.Response,
        "options": {"headers": dict(headers or {}), "params": dict(query or {})},
        "stream": True,
        "stream_cls": openai.AsyncStream[object],
    }
    sent = client.get(path, **how) if body is None else client.post(path, content=body, **how)
    failure: AgentError
    try:
        response: httpx2.Response = await sent
        return response
    except openai.APIStatusError as error:
        failure = failed(
            error.body or error.response.reason_phrase,
            where=server.where,
            status=error.status_code,
            request_id=error.request_id,
            headers=error.response.headers,
            model=model,
            path=path,
        )
    except NETWORK_ERRORS as error:
        failure = _connection_error(server, error)
    raise failure


async def next_piece(
    server: Server, pieces: AsyncGenerator[bytes], *, begun: bool = False
) -> bytes | None:
    """The next piece of a response, or None at its end."""
    try:
        return await anext(pieces, None)
    except NETWORK_ERRORS as error:
        failure = _connection_error(server, error, begun=begun)
    raise failure


_OF_CONNECTING: Final = (
    httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError,
    httpx2.UnsupportedProtocol,
)  # fmt: skip
_IS_IT_THERE: Final = "\n  hint: is the address right, and is a server running there?"


def _connection_error(server: Server, error: Exception, *, begun: bool = False) -> ModelError:
    """What one of `NETWORK_ERRORS` means, before or after the reply has begun to be shown."""
    cause = error.__cause__ or error
    reasons: list[BaseException] = [cause]
    while (below := reasons[-1].__cause__) is not None:
        reasons.append(below)
    is_late = isinstance(cause, httpx2.TimeoutException | openai.APITimeoutError) and not any(
        isinstance(each, _AIOHTTP_ERRORS) and not isinstance(each, TimeoutError)
        for each in reasons  # others of aiohttp are timeouts for `httpx2`, too
    )
    # A connection that broke is, over aiohttp, an error of connecting for `httpx2`.
    kinds = {type(each).__name__ for each in reasons}
    is_broken = not kinds.isdisjoint({"ServerDisconnectedError", "ClientOSError"})
    is_connecting = isinstance(cause, _OF_CONNECTING)
    if is_connecting and is_late:
        seconds = min(server.connect_timeout, server.timeout)
        said = f"cannot connect to {server.where} within {seconds:g} s{_IS_IT_THERE}"
    elif is_late:
        when = "went silent in the middle of its reply, for" if begun else "did not answer within"
        said = f"{server.where} {when} {server.timeout:g} s"
    elif is_connecting and not is_broken:
        found = (each.strerror for each in reasons if isinstance(each, OSError))
        why = next(filter(None, found), cause)  # aiohttp names the address again, and "ssl:default"
        said = f"cannot connect to {server.where}: {why}{_IS_IT_THERE}"
    else:
        when = "in the middle of its reply" if begun else "before its reply was complete"
        said = f"the connection to {server.where} broke {when}: {cause}"
    return ModelError(said, retriable=True)
