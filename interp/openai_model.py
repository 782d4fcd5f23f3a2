"""The one way to the network: models behind an OpenAI-compatible address, through ``openai``.

The package takes about a second to import, so that happens when the first request leaves. Bodies
are built by `interp.wire` and replies read by `interp.replies`; its client carries the bytes. It
does not retry; we do, by `interp.retries` and nowhere else.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from attrs import evolve

from gram import GramError

from .addresses import ADDRESS_RULE, is_address
from .chunks import Chunks, cut_off
from .dialects import Dialect
from .effects import Request
from .errors import AgentError, ConfigurationError, ModelError
from .json_text import Json, parse_json
from .model_failures import failed
from .redaction import redact
from .replies import Reply, read_reply, reported_error
from .response_format import unwrapped
from .retries import awith_retries, with_retries
from .wire import SETTING_NAMES, request_body

if TYPE_CHECKING:
    import openai

_ATTEMPTS = 3
_TIMEOUT = 600.0  # seconds
_LONGEST_QUOTE = 200  # characters
_PATH = "/chat/completions"


class OpenAIModel:
    """A model behind an address that speaks Chat Completions.

    Connections are kept between requests until `close` or `aclose`.

    Args:
        base_url: the address, such as ``https://api.openai.com/v1``.
        key: what to authenticate with.
        dialect: how it is spoken to.
        max_tokens: what it calls the setting ``maxTokens``.
        timeout: how many seconds of silence are taken for a failure.
        attempts: how often a request is sent at most, where sending it again can help.

    Raises:
        ConfigurationError: the address is none, or the key cannot be sent.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        dialect: Dialect = "tools",
        *,
        max_tokens: str = SETTING_NAMES["maxTokens"],
        timeout: float = _TIMEOUT,
        attempts: int = _ATTEMPTS,
    ) -> None:
        if not is_address(base_url):
            raise ConfigurationError(f"{base_url!r} is no address: it {ADDRESS_RULE}")
        if not (key.isascii() and key.isprintable() and key.strip()):
            raise ConfigurationError(f"the key for {base_url} is none: it has odd characters")
        self._base_url = base_url
        self._key = key
        self._dialect = dialect
        self._max_tokens = max_tokens
        self._is_openai = urlsplit(base_url).hostname == "api.openai.com"
        self._timeout = timeout
        self._attempts = attempts
        self._client: openai.OpenAI | None = None
        self._async_client: openai.AsyncOpenAI | None = None

    def __repr__(self) -> str:
        return f"OpenAIModel({self._base_url!r})"

    def body(self, request: Request) -> dict[str, Json]:
        """The JSON that is sent for a request."""
        wanted = request.settings.get("strictTools")
        strict = wanted == "on" or (wanted == "auto" and self._is_openai)
        return request_body(request, self._dialect, self._max_tokens, strict=strict)

    def complete(self, request: Request) -> Reply:
        """The reply to a request.

        Raises:
            ModelError: no answer came, or none that can be used; after retries where these can
                help.
            ConfigurationError: the key was refused.
        """
        client, body = self._sync(), self.body(request)

        def ask() -> Reply:
            with self._reporting():
                return _meant(request, _read(client.post(_PATH, body=body, cast_to=str)))

        return with_retries(ask, self._attempts, lambda: not client.is_closed())

    async def acomplete(self, request: Request) -> Reply:
        """The reply to a request, without blocking; see `complete`."""
        client, body = self._async(), self.body(request)

        async def ask() -> Reply:
            with self._reporting():
                return _meant(request, _read(await client.post(_PATH, body=body, cast_to=str)))

        return await awith_retries(ask, self._attempts, lambda: not client.is_closed())

    def stream(self, request: Request) -> Iterator[str | Reply]:
        """The words of the reply as they come, and the whole of it at the end.

        A request is sent again only as long as nothing of its reply has come.

        Raises:
            ModelError: as for `complete`, or the stream was cut off: nothing of it counts then.
            ConfigurationError: the key was refused.
        """
        import openai

        client, body = self._sync(), self._streamed(request)

        def ask() -> tuple[openai.Stream[object], tuple[Chunks, str] | None]:
            with self._reporting():
                stream = client.post(
                    _PATH, body=body, cast_to=object, stream=True, stream_cls=openai.Stream[object]
                )
                with ExitStack() as failing:
                    failing.callback(stream.close)
                    begun = None if _came_whole(stream) else _begun(next(stream, None))
                    failing.pop_all()
                return stream, begun

        stream, begun = with_retries(ask, self._attempts, lambda: not client.is_closed())
        try:
            if begun is None:  # a server that does not stream
                yield self.complete(request)
                return
            chunks, words = begun
            yield words
            with self._reporting():
                for chunk in stream:
                    yield chunks.add(chunk)
            yield _meant(request, read_reply(chunks.completion()))
        finally:
            stream.close()

    async def astream(self, request: Request) -> AsyncIterator[str | Reply]:
        """The words of the reply as they come, without blocking; see `stream`."""
        import openai

        client, body = self._async(), self._streamed(request)

        async def ask() -> tuple[openai.AsyncStream[object], tuple[Chunks, str] | None]:
            with self._reporting():
                stream = await client.post(
                    _PATH,
                    body=body,
                    cast_to=object,
                    stream=True,
                    stream_cls=openai.AsyncStream[object],
                )
                async with AsyncExitStack() as failing:
                    failing.push_async_callback(stream.close)
                    begun = None if _came_whole(stream) else _begun(await anext(stream, None))
                    failing.pop_all()
                return stream, begun

        stream, begun = await awith_retries(ask, self._attempts, lambda: not client.is_closed())
        try:
            if begun is None:  # a server that does not stream
                yield await self.acomplete(request)
                return
            chunks, words = begun
            yield words
            with self._reporting():
                async for chunk in stream:
                    yield chunks.add(chunk)
            yield _meant(request, read_reply(chunks.completion()))
        finally:
            await stream.close()

    def close(self) -> None:
        """Close the connections of `complete` and `stream`."""
        if self._client is not None:
            self._client.close()
            self._client = None

    async def aclose(self) -> None:
        """Close those of `acomplete` and `astream`; call it in the event loop that used them."""
        if self._async_client is not None:
            await self._async_client.close()
            self._async_client = None

    def _sync(self) -> openai.OpenAI:
        import openai

        if self._client is None:
            self._client = openai.OpenAI(**self._options())
        return self._client

    def _async(self) -> openai.AsyncOpenAI:
        import openai

        if self._async_client is None:
            self._async_client = openai.AsyncOpenAI(**self._options())
        return self._async_client

    def _options(self) -> dict[str, Any]:
        return {
            "base_url": self._base_url,
            "api_key": self._key,
            "max_retries": 0,
            "timeout": self._timeout,
        }

    def _streamed(self, request: Request) -> dict[str, Json]:
        body = self.body(request)
        return {**body, "stream": True, "stream_options": {"include_usage": True}}

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """What the SDK raises inside is one of our errors outside."""
        import openai

        try:
            yield
        except openai.OpenAIError as error:
            raise self._reported(error) from None
        except ValueError as error:  # the SDK lets a chunk that is not JSON through as this
            if isinstance(error, GramError):
                raise
            raise ModelError(f"{self._base_url} sent what is not JSON: {error}") from None
        except RecursionError:  # nor does it look how deep a chunk nests
            raise ModelError(f"{self._base_url} sent what is nested too deep") from None

    def _reported(self, error: openai.OpenAIError) -> AgentError:
        import openai

        if isinstance(error, openai.APITimeoutError):
            return ModelError(
                f"{self._base_url} did not answer within {self._timeout:g} s", retriable=True
            )
        if isinstance(error, openai.APIConnectionError):
            return ModelError(
                f"cannot reach {self._base_url}: {error.__cause__ or error}\n"
                "  hint: is the address right, and is a server running there?",
                retriable=True,
            )
        if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
            return ConfigurationError(
                f"{self._base_url} refused the key ({error.status_code}): {_said(error)}"
            )
        if isinstance(error, openai.APIStatusError):
            return failed(
                f"{self._base_url} answered {error.status_code}: {_said(error)}",
                status=error.status_code,
                code=None if error.code is None else str(error.code),
                request_id=error.request_id,
                headers=error.response.headers,
            )
        if isinstance(error, openai.APIError) and error.body:  # in the middle of a stream
            return reported_error(error.body)
        return ModelError(f"{self._base_url}: {error}")


def _said(error: openai.APIStatusError) -> str:
    """What the provider says went wrong, without the SDK's words around it."""
    body = error.body
    if isinstance(body, dict) and isinstance(body.get("message"), str):
        return redact(str(body["message"]))
    said = error.message if body is None or isinstance(body, bytes) else body
    return redact(" ".join(str(said).split())[:_LONGEST_QUOTE])


def _meant(request: Request, reply: Reply) -> Reply:
    """The reply with its answer as the program declares it."""
    if request.answer is None:
        return reply
    return evolve(reply, message=unwrapped(request.answer, reply.message))


def _read(text: str) -> Reply:
    try:
        data = parse_json(text)
    except ValueError as error:
        start = " ".join(text[:_LONGEST_QUOTE].split())
        raise ModelError(f"the answer is not JSON ({error}): {start}…") from None
    return read_reply(data)


def _came_whole(stream: openai.Stream[object] | openai.AsyncStream[object]) -> bool:
    """Whether the server has answered with something else where it was asked for a stream."""
    kind = str(stream.response.headers.get("content-type", ""))
    return kind.startswith(("application/json", "text/html"))


def _begun(chunk: object) -> tuple[Chunks, str]:
    """A reply begun with its first chunk, and the words that this brings.

    Raises:
        ModelError: there is none, or it reports an error.
    """
    if chunk is None:
        raise cut_off()
    chunks = Chunks()
    return chunks, chunks.add(chunk)
