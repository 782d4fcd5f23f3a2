"""The HTTP client of models: it trusts no server.

Redirects to another server are refused, and replies have a limited size, also those of errors and
redirects. A hook on responses does this, so that it holds for every transport and behind proxies.
This loads the network library: import it only when a request is about to leave.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

import anyio
import httpx2
import openai

from ..errors import ModelError
from ..secrets import without_keys
from .connections import limit_body, no_cookies
from .failures import too_large
from .providers import STREAMED_TIMES

if TYPE_CHECKING:
    from .server import Server

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


def http_client(where: str, max_bytes: int, auth: tuple[str, str] | None) -> httpx2.AsyncClient:
    """A client for one server, by its address for messages: over aiohttp where it is installed."""
    kind = openai.DefaultAioHttpClient if find_spec("aiohttp") else openai.DefaultAsyncHttpxClient
    return kind(
        auth=auth,
        cookies=no_cookies(),
        headers={"Accept-Encoding": "gzip"},
        event_hooks={"response": [_guard(where, max_bytes)]},
    )


def _guard(where: str, max_bytes: int) -> Callable[[httpx2.Response], Awaitable[None]]:
    async def check(response: httpx2.Response) -> None:
        if response.has_redirect_location:
            _check_redirect(where, response)
        is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
        most = max_bytes * STREAMED_TIMES if is_stream else max_bytes
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        # What is packed twice could be a million times as large as what is sent.
        if encoding not in ("identity", "gzip", "deflate"):
            said = f"{where} sent a reply compressed as {encoding!r}, which nobody asked for"
            raise ModelError(without_keys(said))
        needed = _LONGEST_ERROR if encoding == "identity" else _LONGEST_PACKED_ERROR
        needed = sys.maxsize if response.is_success else needed
        limit_body(response, most, partial(too_large, where, most), needed=needed)

    return check


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
            without_keys(
                f"{where} redirects{shown}, which is not followed: keys are not sent to "
                "another server\n  hint: use that address if you trust it"
            ),
            status=response.status_code,
        )


_OF_CONNECTING: Final = (
    httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError,
    httpx2.UnsupportedProtocol,
)  # fmt: skip
_IS_IT_THERE: Final = "\n  hint: is the address right, and is a server running there?"


def connection_error(server: Server, error: Exception, *, begun: bool = False) -> ModelError:
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
        said = f"cannot connect to {server.where}: {cause}{_IS_IT_THERE}"
    else:
        when = "in the middle of its reply" if begun else "before its reply was complete"
        said = f"the connection to {server.where} broke {when}: {cause}"
    return ModelError(without_keys(said), retriable=True)
