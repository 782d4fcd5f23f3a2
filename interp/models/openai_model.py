"""Models behind an OpenAI-compatible address.

A `Wire` writes requests and reads replies in a dialect; `server` carries the bytes, and `failures`
says when they are sent again.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing
from functools import partial
from importlib import import_module
from typing import Any, Final, TypeAlias, TypeVar, get_args

from gram.errors import expect, expect_all

from ..concurrency import call_in_thread, read_by_waiting, waited_for
from ..errors import ConfigurationError, ModelError
from ..json_text import Json
from ..machine import Request
from ..secrets import hide
from . import providers
from .chat import ChatCompletions
from .connections import NETWORK, Server
from .failures import awith_retries, learn, quoted, too_large
from .providers import AnswerFormat, AnswerMode, Dialect, find_provider
from .reply_reading import Reply, call_in_text, call_not_made, words_of
from .responses import Responses
from .server_events import EventReader, json_or_problem
from .wire import Piece, Reasoning, Wire, request_for_the_answer, streams_word_by_word

T = TypeVar("T")
_log = logging.getLogger("interp.model")


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
        ArgumentError: An argument has the wrong type.
        ConfigurationError: The address is not one, the key cannot be sent, or the dialect is not
            known.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        dialect: Dialect = "tools",
        *,
        max_tokens: str = providers.CHAT_FIELDS["maxTokens"],
        answers: AnswerMode = "with_tools",
        answers_as: AnswerFormat = "json_schema",
        timeout: float = 600.0,
        connect_timeout: float = 10.0,
        attempts: int = 3,
        max_reply_bytes: int = providers.MAX_REPLY_BYTES,
        not_taken: Iterable[str] = (),
    ) -> None:
        expect(base_url, str, "base_url", by="OpenAIModel")
        expect(key, str, "key", by="OpenAIModel")
        expect(max_tokens, str, "max_tokens", by="OpenAIModel")
        expect(timeout, (int, float), "timeout", by="OpenAIModel")
        expect(connect_timeout, (int, float), "connect_timeout", by="OpenAIModel")
        expect(attempts, int, "attempts", by="OpenAIModel")
        expect(max_reply_bytes, int, "max_reply_bytes", by="OpenAIModel")
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
        speaking: Callable[..., Wire] = ChatCompletions
        fields: Mapping[str, str] = {**providers.CHAT_FIELDS, "maxTokens": max_tokens}
        if dialect == "responses":
            speaking, fields = Responses, providers.RESPONSES_FIELDS
        self._wire = speaking(
            dialect=dialect,
            fields=fields,
            answers=answers,
            answers_as=answers_as,
            not_taken=frozenset(expect_all(not_taken, str, "not_taken", by="OpenAIModel")),
            is_strict=providers.PROVIDERS["OpenAI"].is_at(base_url),
            server=self._server.host,
        )
        self._attempts = attempts

    def __repr__(self) -> str:
        return f"OpenAIModel({self._server.where!r})"

    def body(self, request: Request) -> dict[str, Json]:
        """The JSON that is sent for a request."""
        return self._wire.body(request)

    async def acomplete(self, request: Request) -> Reply:
        """The reply to a request.

        Raises:
            ModelError: No reply came, or none that can be used; after retries where these help.
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

    async def aprepare(self) -> None:
        """Import what requests need, so that the first takes no longer than others."""
        if NETWORK not in sys.modules:  # it takes a second
            await call_in_thread(lambda: import_module(NETWORK))

    async def aclose(self) -> None:
        """Close the connections to its server that this event loop keeps.

        Requests under way end first. Other models with the same server open new ones.
        """
        await self._server.close()

    def close(self) -> None:
        """The same for the connections of `complete` and `stream`."""
        waited_for(self.aclose)

    async def _whole(self, request: Request) -> Reply:
        reply: Reply
        *_, reply = [each async for each in self._asked(request, streaming=False)]
        return reply

    async def _asked(self, request: Request, *, streaming: bool) -> AsyncGenerator[Any]:
        """The pieces of the reply if it is streamed, and at the end the `Reply`."""
        server, wire = self._server, self._wire
        body = wire.content(request, streaming=streaming)  # once: it warns of what is left out

        async def posted() -> Any:
            nonlocal body
            from .http_client import ask  # it is loaded, the client is of it

            try:
                return await ask(server, client, wire.path, body, model=request.model)
            except ModelError as error:
                if not learn(error, request, server.host):
                    raise
                written = wire.content(request, streaming=streaming)
                if written == body:  # it had been left out already
                    raise
            body = written
            return await posted()

        async def begun() -> tuple[Piece | Reply, _Incoming]:
            coming = _incoming(await posted(), wire, request, server, streaming=streaming)
            return await anext(coming), coming  # what fails has closed itself

        try:
            async with server.client() as client:  # the first takes a second
                piece, coming = await awith_retries(begun, self._attempts)
                async with aclosing(coming):
                    while not isinstance(piece, Reply):
                        yield piece
                        piece = await anext(coming)
                reply = piece
        except ModelError as error:
            if error.call_not_read is None or not request.tools:
                raise
            reply = call_not_made(request, error.call_not_read)
        message = reply.message
        if not message.tool_calls and (name := call_in_text(request.tools, message.content)):
            told = "%s wrote a call of %s as text: does its server support tools?"
            _log.warning(told, request.model, name)
        row, rows = find_provider(request.model), providers.PROVIDERS.values()
        is_own = row is not None and row in rows and row.has_its_prices(server.where)
        yield reply if is_own else reply._replace(server=server.where)


_Incoming: TypeAlias = "AsyncGenerator[Piece | Reply]"

_BLANK: Final = b" \t\r\n\xef\xbb\xbf"  # and the bytes of a byte order mark
_FIELDS: Final = (b"data:", b"event:", b"id:", b"retry:", b":", b"error:")
"""What the first line of an event stream begins with; llama.cpp has ``error:``."""

_ENOUGH: Final = 6  # bytes, by which a stream and a whole reply are told apart
_PIECE: Final = 16_384  # bytes that are read before other tasks may run
_LARGE: Final = 100_000  # bytes of a reply that is read in a thread: the event loop goes on


async def _incoming(
    response: Any, wire: Wire, request: Request, server: Server, *, streaming: bool
) -> _Incoming:
    """The words and the reasoning of a streamed reply as they come, and last the reply.

    Some servers send it whole although a stream was asked for, and some always stream.
    """
    from .http_client import next_piece

    is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
    most = server.max_bytes * (providers.STREAMED_TIMES if is_stream else 1)
    body, size, has_said = bytearray(), 0, False
    events, reply = EventReader(server.max_bytes), wire.new_stream()

    async def has_more() -> bool:
        """Whether more has come, which is in the body now."""
        nonlocal size
        data = await next_piece(server, coming, begun=has_said)
        body.extend(data or b"")
        size += len(data or b"")
        if size > most:  # unpacked
            raise too_large(server.where, most)
        return data is not None

    def added(found: Iterator[Json]) -> list[Piece]:
        return [piece for event in found for piece in reply.add(event)]

    async with aclosing(response), aclosing(response.aiter_bytes()) as coming:
        is_open = True
        if not (streaming and is_stream):  # how it begins tells what it is
            while is_open and len(body) < _ENOUGH:
                is_open = await has_more()
                body = body.lstrip(_BLANK)
            if not body.startswith(_FIELDS):
                while is_open:
                    is_open = await has_more()
                yield await _read(size, partial(_read_whole, body, wire, request, server))
                return
        while True:
            pieces = list[Piece]()
            for at in range(0, len(body), _PIECE):
                part = bytes(body[at : at + _PIECE])
                held = events.size if b"\n" in part or b"\r" in part else 0
                pieces += await _read(held, partial(added, events.feed(part)))
                await asyncio.sleep(0)
            body.clear()
            if not is_open:
                pieces += await _read(events.size, partial(added, events.rest()))
            if not is_open or reply.is_done:
                break
            for piece in pieces if streaming else ():
                has_said = True
                yield piece
            is_open = await has_more()
    whole = await _read(size, lambda: wire.read(reply.whole(), request))
    for piece in pieces if streaming else ():  # after it: without words, it can be asked again
        yield piece
    yield whole


def _read_whole(body: bytearray, wire: Wire, request: Request, server: Server) -> Reply:
    text = body.decode("utf-8", "replace")
    if not text:
        raise ModelError("the reply is empty: it has no body\n  hint: is the address right?")
    found, problem = json_or_problem(text, server.max_bytes, server.where)
    if problem:
        raise ModelError(f"the reply is not JSON ({problem}): {quoted(text)}")
    return wire.read(found, request)


async def _read(size: int, read: Callable[[], T]) -> T:
    """Read something that has come, in a thread if it is large."""
    return read() if size <= _LARGE else await asyncio.to_thread(read)
