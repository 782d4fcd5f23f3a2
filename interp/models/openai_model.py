"""Models behind an OpenAI-compatible address.

Bodies are built by `request_json` and replies taken in by `incoming_reply`; `server` carries the
bytes, and `retries` says when they are sent again.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing, closing
from typing import Any, Final

from gram import expect

from ..errors import ModelError
from ..json_text import Json
from ..machine import Request
from ..redaction import hide
from .calls_in_text import warn_about_calls_in_text
from .failures import CallNotMadeError
from .incoming_reply import IncomingReply
from .providers import MAX_REPLY_BYTES, AnswerFormat, AnswerMode, Dialect, is_own_server
from .reply_reading import Reply, call_not_made, read_reply
from .request_json import SETTING_NAMES, request_body, request_content
from .retries import awith_retries, with_retries
from .server import Server
from .typed_answers import request_for_the_answer, streams_word_by_word, without_answer_tool

_ATTEMPTS: Final = 3
_TIMEOUT: Final = 600.0  # seconds; as in the `openai` package
_CONNECT_TIMEOUT: Final = 10.0  # seconds


class OpenAIModel:
    """A model behind an address that speaks Chat Completions.

    Models with the same address, key and timeouts share their connections, see
    `interp.models`.

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
        self._server = Server.at(
            base_url,
            key,
            timeout=timeout,
            connect_timeout=connect_timeout,
            max_bytes=max_reply_bytes,
        )
        self._hidden = hide(*self._server.secrets)  # as long as this model is kept
        self._dialect = dialect
        self._max_tokens = max_tokens
        self._answers: AnswerMode = answers
        self._answers_as: AnswerFormat = answers_as
        self._attempts = attempts
        self._times_closed = 0

    def __repr__(self) -> str:
        return f"OpenAIModel({self._server.where!r})"

    def body(self, request: Request) -> dict[str, Json]:
        """The JSON that is sent for a request."""
        return request_body(request, **self._form(request))

    def _form(self, request: Request) -> dict[str, Any]:
        """How the JSON of a request is written: arguments of `request_body`."""
        wanted = request.settings.get("strictTools")
        return {
            "dialect": self._dialect,
            "max_tokens": self._max_tokens,
            "strict": wanted == "on" or (wanted == "auto" and self._server.is_openai),
            "answers": self._answers,
            "answers_as": self._answers_as,
            "server": self._server.host,
        }

    def complete(self, request: Request) -> Reply:
        """The reply to a request.

        Raises:
            ModelError: No reply came, or none that can be used; after retries where these can
                help.
            ConfigurationError: The key was refused.
        """
        reply: Reply
        *_, reply = self._asked(request, streaming=False)
        if again := self._request_for_the_answer(request, reply):
            *_, answer = self._asked(again, streaming=False)
            return _added(reply, answer)
        return reply

    async def acomplete(self, request: Request) -> Reply:
        """The reply to a request, without blocking; see `complete`."""
        reply: Reply
        *_, reply = [each async for each in self._aasked(request, streaming=False)]
        if again := self._request_for_the_answer(request, reply):
            *_, answer = [each async for each in self._aasked(again, streaming=False)]
            return _added(reply, answer)
        return reply

    def stream(self, request: Request) -> Iterator[str | Reply]:
        """The words of the reply as they come, and the whole reply at the end.

        A request is sent again only as long as nothing of its reply has come.

        Raises:
            ModelError: As for `complete`, or the stream broke: nothing of it counts then.
            ConfigurationError: The key was refused.
        """
        if streams_word_by_word(request, self._answers):
            yield from self._asked(request, streaming=True)
        else:
            yield from _in_one_piece(self.complete(request))

    async def astream(self, request: Request) -> AsyncIterator[str | Reply]:
        """The words of the reply as they come, without blocking; see `stream`."""
        if streams_word_by_word(request, self._answers):
            async with aclosing(self._aasked(request, streaming=True)) as pieces:
                async for piece in pieces:
                    yield piece
        else:
            for piece in _in_one_piece(await self.acomplete(request)):
                yield piece

    def close(self) -> None:
        """Give up the requests of `complete` and `stream` under way: they are not sent again."""
        self._times_closed += 1

    async def aclose(self) -> None:
        """The same; those of `acomplete` and `astream` are given up by cancelling them."""
        self.close()

    def _asked(self, request: Request, *, streaming: bool) -> Iterator[Any]:
        """The words of the reply if it is streamed, and at the end the `Reply`."""
        body = request_content(request, streaming=streaming, **self._form(request))
        server, times_closed = self._server, self._times_closed

        def ask() -> tuple[IncomingReply, Iterator[bytes], closing[Any]]:
            if self._times_closed != times_closed:
                raise ModelError(f"the request to {server.where} was given up: the model is closed")
            response = server.post(client, body)
            incoming = IncomingReply(response.headers, self._reader(request), streaming=streaming)
            coming: Any = response.stream  # decompressed already, see `Guard`
            parts = iter(coming)
            try:
                while not incoming.has_begun:
                    incoming.take(server.part(parts))
            except BaseException:  # a cancellation too: it is raised again, the connection closed
                response.close()
                raise
            return incoming, parts, closing(response)

        try:
            with server.client() as client:  # the first takes a second
                incoming, parts, connection = with_retries(ask, self._attempts)
                with connection:
                    yield from incoming.words()
                    while not incoming.is_complete:
                        incoming.take(server.part(parts, begun=True))
                        yield from incoming.words()
                    yield incoming.reply()
        except CallNotMadeError as error:
            yield call_not_made(request, error)

    async def _aasked(self, request: Request, *, streaming: bool) -> AsyncGenerator[Any]:
        """The same without blocking."""
        body = request_content(request, streaming=streaming, **self._form(request))
        server = self._server

        async def ask() -> tuple[IncomingReply, _Parts]:
            response = await server.apost(client, body)
            incoming = IncomingReply(response.headers, self._reader(request), streaming=streaming)
            parts = _Parts(response)
            try:
                while not incoming.has_begun:
                    incoming.take(await server.apart(parts.coming))
            except BaseException:  # a cancellation too: it is raised again, the connection closed
                await parts.aclose()
                raise
            return incoming, parts

        try:
            async with server.async_client() as client:
                incoming, parts = await awith_retries(ask, self._attempts)
                async with aclosing(parts):
                    for words in incoming.words():
                        yield words
                    while not incoming.is_complete:
                        incoming.take(await server.apart(parts.coming, begun=True))
                        for words in incoming.words():
                            yield words
                    yield incoming.reply()
        except CallNotMadeError as error:
            yield call_not_made(request, error)

    def _request_for_the_answer(self, request: Request, reply: Reply) -> Request | None:
        if self._answers != "after_tools" or reply.truncated:
            return None
        return request_for_the_answer(request, reply.message)

    def _reader(self, request: Request) -> Callable[[Json], Reply]:
        """Reads the completion that answers a request."""

        def read(completion: Json) -> Reply:
            reply = read_reply(completion, request, server=self._server.host)
            if self._answers == "as_tool" and request.answer is not None and request.tools:
                message = without_answer_tool(request, reply.message)
                reply = read_reply(reply._replace(message=message), request)
            warn_about_calls_in_text(request, reply.message)
            is_own = is_own_server(request.model, self._server.where)
            return reply if is_own else reply.from_server(self._server.where)

        return read


class _Parts:
    """The parts of a response as they come."""

    def __init__(self, response: Any) -> None:
        self.coming: AsyncIterator[bytes] = aiter(response.stream)  # decompressed, see `Guard`
        self._response = response

    async def aclose(self) -> None:
        """Close the connection, or give it back."""
        try:
            if isinstance(self.coming, AsyncGenerator):
                await self.coming.aclose()
        finally:
            await self._response.aclose()


def _in_one_piece(reply: Reply) -> Iterator[str | Reply]:
    """A whole reply as a stream."""
    if reply.message.content:
        yield reply.message.content
    yield reply


def _added(first: Reply, second: Reply) -> Reply:
    """The second of two replies to what was one request, with the tokens of both."""
    return second._replace(usage=first.usage + second.usage)
