"""Models as a run sees them: anything that answers a request, and its adapter."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any, Protocol

from ..concurrency import call_in_thread, iterate_in_thread
from ..errors import ConfigurationError
from ..json_text import Json
from .reply_reading import read_reply
from .request_json import request_body
from .typed_answers import words_of

if TYPE_CHECKING:
    from ..machine import Request


class LanguageModel(Protocol):
    """Anything that answers a request.

    ``complete`` returns a `Message`, a str, or a completion or message dict in either dialect. A
    model may have more; `AnyModel` lists it and says what happens without.
    """

    def complete(self, request: Request) -> Any:
        """The reply to a request."""
        ...


class AnyModel:
    """Any model with all the methods that a model may have: its own, or a default for each.

    Args:
        model: anything with ``complete(request)``.

    Raises:
        ConfigurationError: it has no ``complete``.
    """

    def __init__(self, model: LanguageModel) -> None:
        if not callable(getattr(model, "complete", None)):
            raise ConfigurationError(f"{model!r} is not a model: it has no complete(request)")
        self._model: Any = model

    def __repr__(self) -> str:
        return repr(self._model)

    @property
    def has_coroutines(self) -> bool:
        """Whether the model itself can be asked without blocking."""
        return self._has("acomplete") or self._has("astream")

    def _has(self, name: str) -> bool:
        return callable(getattr(self._model, name, None))

    def complete(self, request: Request) -> Any:
        """The reply to a request."""
        return self._model.complete(request)

    async def acomplete(self, request: Request) -> Any:
        """The reply, without blocking; by default ``complete`` is called in a thread."""
        if self._has("acomplete"):
            return await self._model.acomplete(request)
        return await call_in_thread(lambda: self.complete(request))

    def stream(self, request: Request) -> Iterator[Any]:
        """The words of the reply, each a str, and last the reply as ``complete`` would give it.

        `Reasoning` may come between them. Without the reply at the end, it is made of the words.
        By default it comes whole.
        """
        if not self._has("stream"):
            return iter([read_reply(self.complete(request), request)])
        pieces: Iterator[Any] = self._model.stream(request)
        return pieces

    def astream(self, request: Request) -> AsyncIterator[Any]:
        """The same without blocking; by default one thread reads ``stream`` from end to end."""
        if self._has("astream"):
            pieces: AsyncIterator[Any] = self._model.astream(request)
            return pieces
        if self._has("stream"):
            return iterate_in_thread(lambda: self.stream(request))
        return self._whole(request)

    async def _whole(self, request: Request) -> AsyncIterator[Any]:
        yield read_reply(await self.acomplete(request), request)

    def prepare(self) -> None:
        """Do what would make the first request slower than others; by default nothing.

        Clocks begin after it: it may import a library.
        """
        if self._has("prepare"):
            self._model.prepare()

    def close(self) -> None:
        """Close what ``complete`` and ``stream`` keep open; by default nothing."""
        if self._has("close"):
            self._model.close()

    async def aclose(self) -> None:
        """Close what ``acomplete`` and ``astream`` keep open; by default nothing."""
        if self._has("aclose"):
            await self._model.aclose()

    def body(self, request: Request) -> dict[str, Json]:
        """The JSON that is sent for a request; by default that of Chat Completions."""
        body: dict[str, Json] = (self._model.body if self._has("body") else request_body)(request)
        return body


class ModelWithoutNetwork(LanguageModel):
    """A base for models whose ``complete`` never waits: it adds the other ways to ask."""

    async def acomplete(self, request: Request) -> Any:
        """The reply; see `complete`."""
        return self.complete(request)

    def stream(self, request: Request) -> Iterator[Any]:
        """The words of the reply, then the reply itself unless it is a plain str."""
        reply = self.complete(request)
        yield from re.findall(r"\s*\S+\s*|\s+", words_of(request, read_reply(reply).message))
        if not isinstance(reply, str):
            yield reply

    async def astream(self, request: Request) -> AsyncIterator[Any]:
        """The same; see `stream`."""
        for piece in self.stream(request):
            yield piece
