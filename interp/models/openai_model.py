"""Models behind an OpenAI-compatible address.

A `Wire` writes requests and reads replies in a dialect, and `incoming_reply` takes them in;
`server` carries the bytes, and `retries` says when they are sent again.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import AsyncExitStack, aclosing
from functools import partial
from typing import Any, Final, get_args

from attrs import evolve

from gram.errors import expect

from ..concurrency import read_by_waiting, waited_for
from ..errors import ConfigurationError, ModelError
from ..json_text import Json
from ..machine import Request
from ..secrets import hide
from .chat import ChatCompletions
from .failures import CallNotMadeError, awith_retries
from .incoming_reply import IncomingReply
from .providers import (
    CHAT_FIELDS,
    MAX_REPLY_BYTES,
    AnswerFormat,
    AnswerMode,
    Dialect,
    is_own_server,
)
from .refusals import learn
from .reply_reading import Reply, call_not_made, warn_about_calls_in_text
from .responses import Responses
from .server import Server, import_network
from .typed_answers import request_for_the_answer, streams_word_by_word, words_of
from .wire import Piece, Reasoning, Wire

_log = logging.getLogger("interp.model")

_ATTEMPTS: Final = 3
_TIMEOUT: Final = 600.0  # seconds; as in the `openai` package
_CONNECT_TIMEOUT: Final = 10.0  # seconds


class OpenAIModel:
    """A model behind an address that speaks Chat Completions or the Responses API.

    It is asked without blocking; ``complete`` and ``stream`` wait for the same in an event loop
    that the process keeps. Models with the same address, key and timeouts share their
    connections, which are kept as long as the event loop.

    Args:
        base_url: The address, such as ``https://api.openai.com/v1``. A user and password in it are
            sent by HTTP Basic authentication instead of the key.
        key: The key to authenticate with.
        dialect: The dialect it is spoken to in: ``responses``, or one of Chat Completions.
        max_tokens: Its name for the setting ``maxTokens``.
        answers: How a typed answer is asked for where there are tools, see `AnswerMode`.
        answers_as: Whether it takes a schema for the answer, see `AnswerFormat`.
        timeout: How many seconds of silence are a failure.
        connect_timeout: How many seconds connecting may take.
        attempts: How often a request is sent at most, where sending it again can help.
        max_reply_bytes: The most bytes that a reply may have, counted decompressed; a streamed
            one may have ten times as many.
        not_taken: The settings that the server does not take; they are left out.

    Raises:
        ArgumentError: The address or the key is not a str.
        ConfigurationError: The address is not one, the key cannot be sent, or the dialect is not
            known.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        dialect: Dialect = "tools",
        *,
        max_tokens: str = CHAT_FIELDS["maxTokens"],
        answers: AnswerMode = "with_tools",
        answers_as: AnswerFormat = "json_schema",
        timeout: float = _TIMEOUT,
        connect_timeout: float = _CONNECT_TIMEOUT,
        attempts: int = _ATTEMPTS,
        max_reply_bytes: int = MAX_REPLY_BYTES,
        not_taken: Iterable[str] = (),
    ) -> None:
        expect(base_url, str, "base_url", by="OpenAIModel")
        expect(key, str, "key", by="OpenAIModel")
        for name, value, kind in (
            ("dialect", dialect, Dialect),
            ("answers", answers, AnswerMode),
            ("answers_as", answers_as, AnswerFormat),
        ):
            if value not in get_args(kind):
                known = ", ".join(map(repr, get_args(kind)))
                raise ConfigurationError(f"OpenAIModel: {name} {value!r} is not one of {known}")
        self._server = Server(
            base_url=base_url,
            key=key,
            timeout=timeout,
            connect_timeout=connect_timeout,
            max_bytes=max_reply_bytes,
        )
        self._hidden = hide(*self._server.secrets)  # as long as this model is kept
        chat = partial(ChatCompletions, dialect=dialect, max_tokens=max_tokens)
        speaking: Callable[..., Wire] = Responses if dialect == "responses" else chat
        self._wire: Wire = speaking(
            answers=answers,
            answers_as=answers_as,
            is_strict=self._server.is_openai,
            server=self._server.host,
        )
        self._attempts = attempts
        self._not_taken = frozenset(not_taken)

    def __repr__(self) -> str:
        return f"OpenAIModel({self._server.where!r})"

    def body(self, request: Request) -> dict[str, Json]:
        """The JSON that is sent for a request."""
        return self._wire.body(self._taken(request))

    def _taken(self, request: Request) -> Request:
        """A request without the settings that the server does not take."""
        names = sorted(self._not_taken.intersection(request.settings))
        for name in names:
            _log.warning("%s does not take the setting %s: left out", request.model, name)
        settings = request.settings.with_changes(dict.fromkeys(names)) if names else None
        return request if settings is None else evolve(request, settings=settings)

    # --- asking

    async def acomplete(self, request: Request) -> Reply:
        """The reply to a request.

        Raises:
            ModelError: No reply came, or none that can be used; after retries where these can
                help.
            ConfigurationError: The key was refused.
        """
        reply = await self._whole(request)
        if self._wire.answers != "after_tools" or reply.truncated:
            return reply
        if again := request_for_the_answer(request, reply.message):
            answer = await self._whole(again)
            return answer._replace(usage=reply.usage + answer.usage)
        return reply

    async def astream(self, request: Request) -> AsyncGenerator[Piece | Reply, None]:
        """The words of the reply and of its reasoning as they come, and the reply at the end.

        A request is sent again only as long as none of its words have come.

        Raises:
            ModelError: As for `acomplete`, or the stream broke: nothing of it counts then.
            ConfigurationError: The key was refused.
        """
        if streams_word_by_word(request, self._wire.answers):
            async with aclosing(self._asked(request, streaming=True)) as pieces:
                async for piece in pieces:
                    yield piece
        else:
            reply = await self.acomplete(request)
            if reply.reasoning:
                yield Reasoning(reply.reasoning)
            if words := words_of(request, reply.message):
                yield words
            yield reply

    def complete(self, request: Request) -> Reply:
        """The reply to a request; see `acomplete`."""
        reply: Reply = waited_for(lambda: self.acomplete(request))
        return reply

    def stream(self, request: Request) -> Iterator[Piece | Reply]:
        """The words of the reply as they come, and the whole reply at the end; see `astream`."""
        return read_by_waiting(self.astream(request))

    # --- connections

    async def aprepare(self) -> None:
        """Import what requests need, so that the first takes no longer than others."""
        await import_network()

    async def aclose(self) -> None:
        """Close the connections to its server that this event loop keeps.

        Requests under way end first. Other models with the same server open new ones.
        """
        await self._server.close()

    def close(self) -> None:
        """The same for the connections of `complete` and `stream`."""
        waited_for(self.aclose)

    # --- one request

    async def _whole(self, request: Request) -> Reply:
        reply: Reply
        *_, reply = [each async for each in self._asked(request, streaming=False)]
        return reply

    async def _asked(self, request: Request, *, streaming: bool) -> AsyncGenerator[Any]:
        """The pieces of the reply if it is streamed, and at the end the `Reply`."""
        server, wire, request = self._server, self._wire, self._taken(request)

        async def posted() -> Any:
            body = wire.content(request, streaming=streaming)
            try:
                return await server.ask(client, wire.path, body, model=request.model)
            except ModelError as error:
                if not learn(error, request, server.host):
                    raise
            return await posted()  # written otherwise now

        async def ask() -> tuple[IncomingReply, AsyncGenerator[bytes], AsyncExitStack]:
            async with AsyncExitStack() as opened:
                response = await posted()
                await opened.enter_async_context(aclosing(response))
                pieces = response.aiter_bytes()
                await opened.enter_async_context(aclosing(pieces))
                kind = response.headers.get("content-type", "")
                incoming = IncomingReply(kind, wire, request, server, streaming)
                while not (incoming.is_complete or (streaming and incoming.has_said)):
                    await incoming.take(await server.piece(pieces))
                if incoming.is_complete:
                    await incoming.reply()
                return incoming, pieces, opened.pop_all()

        try:
            async with server.client() as client:  # the first takes a second
                incoming, pieces, opened = await awith_retries(ask, self._attempts)
                async with opened:
                    for piece in incoming.pieces():
                        yield piece
                    while not incoming.is_complete:
                        await incoming.take(await server.piece(pieces, begun=True))
                        for piece in incoming.pieces():
                            yield piece
                    reply = await incoming.reply()
        except CallNotMadeError as error:
            reply = call_not_made(request, error)
        warn_about_calls_in_text(request, reply.message)
        is_own = is_own_server(request.model, server.where)
        yield reply if is_own else reply._replace(server=server.where)
