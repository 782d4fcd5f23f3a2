"""The one way to the network: models behind an OpenAI-compatible address, through ``openai``.

The package takes about a second to import, so that happens when the first request leaves. Bodies
are built by `request_json` and replies read by `reply_reading` and `stream_reading`; its client
carries the bytes. It does not retry: `retries` does.

Errors are raised outside of ``except``: what they handle holds the request with its key, and would
be their ``__context__``.
"""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    ExitStack,
    contextmanager,
)
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from attrs import evolve, field, frozen

from gram import expect

from ..errors import AgentError, ConfigurationError, ModelError
from ..json_text import Json
from ..machine import Request
from ..providers import (
    ADDRESS_RULE,
    MAX_REPLY_BYTES,
    AnswerFormat,
    AnswerMode,
    Dialect,
    is_address,
)
from ..redaction import hide, redact_error
from .calls_in_text import warn_about_calls_in_text
from .connections import async_client_of, client_of
from .failures import CallNotMadeError, failed
from .reply_reading import Reply, call_not_made, read_reply
from .request_json import SETTING_NAMES, request_body, request_content
from .retries import awith_retries, with_retries
from .stream_reading import IncomingReply, completion_in
from .typed_answers import request_for_the_answer, streams_word_by_word, without_answer_tool

if TYPE_CHECKING:
    import httpx2
    import openai

T = TypeVar("T")

_ATTEMPTS: Final = 3
_TIMEOUT: Final = 600.0  # seconds; as in the `openai` package
_CONNECT_TIMEOUT: Final = 10.0  # seconds
_PATH: Final = "/chat/completions"
_PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_VARIABLES: Final = (*_PROXIES, *map(str.lower, _PROXIES), "SSL_CERT_FILE", "SSL_CERT_DIR")
_IS_IT_THERE: Final = "\n  hint: is the address right, and is a server running there?"


@frozen
class _Address:
    """Where a model is and how it is reached; models that are equal in this share connections."""

    base_url: str
    where: str
    key: str = field(repr=False)
    auth: tuple[str, str] | None = field(repr=False)
    timeout: float
    connect_timeout: float
    max_bytes: int

    def client(self) -> AbstractContextManager[openai.OpenAI]:
        """A client for one request that blocks."""
        return client_of((self, _environment()), self._new_client)

    def async_client(self) -> AbstractAsyncContextManager[openai.AsyncOpenAI]:
        """A client for one request that does not block."""
        return async_client_of((self, _environment()), self._new_async_client)

    def _new_client(self) -> openai.OpenAI:
        import openai

        from .http_clients import Guard, http_client

        guard = Guard(self.where, self.max_bytes)
        http = _with_environment(lambda: http_client(guard, self.auth))
        return openai.OpenAI(http_client=http, **self._options())

    def _new_async_client(self) -> openai.AsyncOpenAI:
        import openai

        from .http_clients import Guard, async_http_client

        guard = Guard(self.where, self.max_bytes)
        http = _with_environment(lambda: async_http_client(guard, self.auth))
        return openai.AsyncOpenAI(http_client=http, **self._options())

    def _options(self) -> dict[str, Any]:
        import openai

        timeout = openai.Timeout(self.timeout, connect=self.connect_timeout)
        return {
            "base_url": self.base_url,
            "api_key": self.key,
            "max_retries": 0,
            "timeout": timeout,
        }


def _environment() -> tuple[str | None, ...]:
    """What a new client reads of the environment: its proxies and certificates."""
    return tuple(map(os.environ.get, _VARIABLES))


class OpenAIModel:
    """A model behind an address that speaks Chat Completions.

    Models with the same address, key and timeouts share their connections, see
    `interp.models.connections`.

    Args:
        base_url: The address, such as ``https://api.openai.com/v1``. A user and password in it are
            sent by HTTP Basic authentication instead of the key.
        key: The key to authenticate with.
        dialect: The dialect it is spoken to in.
        max_tokens: Its name for the setting ``maxTokens``.
        answers: How a typed answer is asked for where there are tools, see `AnswerMode`.
        answers_as: Whether it takes a schema for the answer, see `AnswerFormat`.
        timeout: How many seconds of silence are a failure.
        connect_timeout: How many seconds connecting may take.
        attempts: How often a request is sent at most, where sending it again can help.
        max_reply_bytes: The most bytes that a reply may have, counted decompressed.

    Raises:
        ArgumentError: The address or the key is not a str.
        ConfigurationError: The address is not one, or the key cannot be sent.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        dialect: Dialect = "tools",
        *,
        max_tokens: str = SETTING_NAMES["maxTokens"],
        answers: AnswerMode = "with_tools",
        answers_as: AnswerFormat = "json_schema",
        timeout: float = _TIMEOUT,
        connect_timeout: float = _CONNECT_TIMEOUT,
        attempts: int = _ATTEMPTS,
        max_reply_bytes: int = MAX_REPLY_BYTES,
    ) -> None:
        expect(base_url, str, "base_url", by="OpenAIModel")
        expect(key, str, "key", by="OpenAIModel")
        if not is_address(base_url):
            shown = redact_error(repr(base_url))
            raise ConfigurationError(f"{shown} is not a server address: it {ADDRESS_RULE}")
        parts = urlsplit(base_url)
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        basic = b64encode(f"{user}:{password}".encode()).decode()  # as it is sent (RFC 7617)
        self._hidden = hide(key.strip(), quote(key), password, parts.password, basic)
        host = parts.netloc.rpartition("@")[2]
        self._where = urlunsplit((parts.scheme, host, parts.path, "", ""))
        if not (key.isascii() and key.isprintable() and key.strip()):
            raise ConfigurationError(
                f"the key for {self._where} cannot be sent: it must consist of ASCII characters"
            )
        self._address = _Address(
            urlunsplit(parts._replace(netloc=host)),
            self._where,
            key,
            (user, password) if user or password else None,
            timeout,
            connect_timeout,
            max_reply_bytes,
        )
        self._server = host
        self._dialect = dialect
        self._max_tokens = max_tokens
        self._answers: AnswerMode = answers
        self._answers_as: AnswerFormat = answers_as
        self._is_openai = parts.hostname == "api.openai.com"
        self._attempts = attempts
        self._times_closed = 0

    def __repr__(self) -> str:
        return f"OpenAIModel({self._where!r})"

    def body(self, request: Request) -> dict[str, Json]:
        """The JSON that is sent for a request."""
        return request_body(request, **self._form(request))

    def _form(self, request: Request) -> dict[str, Any]:
        """How the JSON of a request is written: arguments of `request_body`."""
        wanted = request.settings.get("strictTools")
        return {
            "dialect": self._dialect,
            "max_tokens": self._max_tokens,
            "strict": wanted == "on" or (wanted == "auto" and self._is_openai),
            "answers": self._answers,
            "answers_as": self._answers_as,
            "server": self._server,
        }

    # --- whole replies

    def complete(self, request: Request) -> Reply:
        """The reply to a request.

        Raises:
            ModelError: No reply came, or none that can be used; after retries where these can
                help.
            ConfigurationError: The key was refused.
        """
        reply = self._complete(request)
        again = self._request_for_the_answer(request, reply)
        return reply if again is None else _added(reply, self._complete(again))

    async def acomplete(self, request: Request) -> Reply:
        """The reply to a request, without blocking; see `complete`."""
        reply = await self._acomplete(request)
        again = self._request_for_the_answer(request, reply)
        return reply if again is None else _added(reply, await self._acomplete(again))

    def _complete(self, request: Request) -> Reply:
        body = request_content(request, **self._form(request))

        def ask() -> Reply:
            response = self._safely(lambda: _post(client, body))
            return self._read(request, completion_in(response.content))

        try:
            with self._asking() as (client, is_wanted):
                return with_retries(ask, self._attempts, is_wanted)
        except CallNotMadeError as error:
            return call_not_made(request, error)

    async def _acomplete(self, request: Request) -> Reply:
        body = request_content(request, **self._form(request))

        async def ask() -> Reply:
            response = await self._asafely(lambda: _apost(client, body))
            return self._read(request, completion_in(response.content))

        try:
            async with self._address.async_client() as client:
                return await awith_retries(ask, self._attempts)
        except CallNotMadeError as error:
            return call_not_made(request, error)

    # --- streamed replies

    def stream(self, request: Request) -> Iterator[str | Reply]:
        """The words of the reply as they come, and the whole reply at the end.

        A request is sent again only as long as nothing of its reply has come.

        Raises:
            ModelError: As for `complete`, or the stream broke: nothing of it counts then.
            ConfigurationError: The key was refused.
        """
        if not streams_word_by_word(request, self._answers):
            yield from _in_one_piece(self.complete(request))
            return
        body = request_content(request, streaming=True, **self._form(request))

        def ask() -> tuple[IncomingReply, Iterator[bytes], ExitStack]:
            response = self._safely(lambda: _post(client, body, stream=True))
            incoming, pieces = IncomingReply(response.headers), response.iter_bytes()
            with ExitStack() as failing:
                failing.callback(response.close)
                while not incoming.has_begun:
                    incoming.take(self._safely(lambda: next(pieces, None)))
                return incoming, pieces, failing.pop_all()

        try:
            with self._asking() as (client, is_wanted):
                incoming, pieces, connection = with_retries(ask, self._attempts, is_wanted)
                with connection:
                    yield from incoming.words()
                    while not incoming.is_complete:
                        incoming.take(self._safely(lambda: next(pieces, None), begun=True))
                        yield from incoming.words()
                    yield self._read(request, incoming.completion())
        except CallNotMadeError as error:
            yield call_not_made(request, error)

    async def astream(self, request: Request) -> AsyncIterator[str | Reply]:
        """The words of the reply as they come, without blocking; see `stream`."""
        if not streams_word_by_word(request, self._answers):
            for each in _in_one_piece(await self.acomplete(request)):
                yield each
            return
        body = request_content(request, streaming=True, **self._form(request))

        async def ask() -> tuple[IncomingReply, AsyncGenerator[bytes], AsyncExitStack]:
            response = await self._asafely(lambda: _apost(client, body, stream=True))
            incoming = IncomingReply(response.headers)
            pieces = response.aiter_bytes()
            async with AsyncExitStack() as failing:
                failing.push_async_callback(response.aclose)
                failing.push_async_callback(pieces.aclose)
                while not incoming.has_begun:
                    incoming.take(await self._asafely(lambda: anext(pieces, None)))
                return incoming, pieces, failing.pop_all()

        try:
            async with self._address.async_client() as client:
                incoming, pieces, connection = await awith_retries(ask, self._attempts)
                async with connection:
                    for words in incoming.words():
                        yield words
                    while not incoming.is_complete:
                        incoming.take(await self._asafely(lambda: anext(pieces, None), begun=True))
                        for words in incoming.words():
                            yield words
                    yield self._read(request, incoming.completion())
        except CallNotMadeError as error:
            yield call_not_made(request, error)

    # --- connections

    def close(self) -> None:
        """Give up the requests of `complete` and `stream` under way: they are not sent again."""
        self._times_closed += 1

    async def aclose(self) -> None:
        """The same; those of `acomplete` and `astream` are given up by cancelling them."""
        self.close()

    @contextmanager
    def _asking(self) -> Iterator[tuple[openai.OpenAI, Callable[[], bool]]]:
        """A client for one request, and whether somebody still wants the reply.

        Raises:
            ModelError: The model was closed before the request could be sent.
        """
        times_closed = self._times_closed
        with self._address.client() as client:  # the first takes a second
            if self._times_closed != times_closed:
                raise ModelError(f"the model at {self._where} was closed while it was asked")
            yield client, lambda: self._times_closed == times_closed

    # --- requests and replies

    def _request_for_the_answer(self, request: Request, reply: Reply) -> Request | None:
        if self._answers != "after_tools" or reply.truncated:
            return None
        return request_for_the_answer(request, reply.message)

    def _read(self, request: Request, completion: Json) -> Reply:
        """The reply to a request, from its completion."""
        reply = read_reply(completion, request, server=self._server)
        if self._answers == "as_tool" and request.answer is not None and request.tools:
            message = without_answer_tool(request, reply.message)
            reply = read_reply(evolve(reply, message=message), request)
        warn_about_calls_in_text(request, reply.message)
        return reply

    # --- failures

    def _safely(self, act: Callable[[], T], *, begun: bool = False) -> T:
        """The result of an act on the network; the errors of its libraries become ours.

        Args:
            act: What to do.
            begun: Whether a part of the reply has come already.
        """
        try:
            return act()
        except _network_errors() as error:
            failure = self._reported(error, begun=begun)
        raise failure

    async def _asafely(self, act: Callable[[], Awaitable[T]], *, begun: bool = False) -> T:
        """The same without blocking."""
        try:
            return await act()
        except _network_errors() as error:
            failure = self._reported(error, begun=begun)
        raise failure

    def _reported(self, error: Exception, *, begun: bool) -> AgentError:
        import httpx2
        import openai

        if isinstance(error, openai.APIStatusError):
            return failed(
                error.body or error.response.reason_phrase,
                where=self._where,
                status=error.status_code,
                request_id=error.request_id,
                headers=error.response.headers,
            )
        cause = error.__cause__ or error
        if isinstance(cause, httpx2.ConnectTimeout | httpx2.PoolTimeout):
            seconds = self._address.connect_timeout
            said = f"cannot connect to {self._where} within {seconds:g} s{_IS_IT_THERE}"
        elif isinstance(cause, httpx2.TimeoutException | openai.APITimeoutError):
            when = (
                "went silent in the middle of its reply, for" if begun else "did not answer within"
            )
            said = f"{self._where} {when} {self._address.timeout:g} s"
        elif isinstance(
            cause, httpx2.ConnectError | httpx2.ProxyError | httpx2.UnsupportedProtocol
        ):
            said = f"cannot connect to {self._where}: {cause}{_IS_IT_THERE}"
        else:
            when = "in the middle of its reply" if begun else "before its reply was complete"
            said = f"the connection to {self._where} broke {when}: {cause}"
        return ModelError(redact_error(said), retriable=True)


def _post(client: openai.OpenAI, body: bytes, *, stream: bool = False) -> httpx2.Response:
    import httpx2
    import openai

    response = client.post(
        _PATH,
        content=body,
        cast_to=httpx2.Response,
        stream=stream,
        stream_cls=openai.Stream[object],
    )
    return cast("httpx2.Response", response)


async def _apost(
    client: openai.AsyncOpenAI, body: bytes, *, stream: bool = False
) -> httpx2.Response:
    import httpx2
    import openai

    response = await client.post(
        _PATH,
        content=body,
        cast_to=httpx2.Response,
        stream=stream,
        stream_cls=openai.AsyncStream[object],
    )
    return cast("httpx2.Response", response)


def _with_environment(make_client: Callable[[], T]) -> T:
    """A new client, which reads the proxies and certificates that the environment names.

    Raises:
        ConfigurationError: These cannot be used.
    """
    try:
        return make_client()
    except (ValueError, ImportError, OSError) as error:
        problem = str(error)
    raise ConfigurationError(
        redact_error(f"the environment's proxies or certificates cannot be used: {problem}")
    )


def _network_errors() -> tuple[type[Exception], ...]:
    import httpx2
    import openai

    return openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL


def _in_one_piece(reply: Reply) -> Iterator[str | Reply]:
    """A whole reply as a stream."""
    if reply.message.content:
        yield reply.message.content
    yield reply


def _added(first: Reply, second: Reply) -> Reply:
    """The second of two replies to what was one request, with the tokens of both."""
    return evolve(second, usage=first.usage + second.usage)
