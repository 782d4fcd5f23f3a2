"""Models as a run sees them: anything that answers a request, and its adapter."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol

from lenses_ext import Model

from ..concurrency import call_in_thread, iterate_in_thread
from ..errors import ConfigurationError
from ..json_text import Json
from .chat import ChatCompletions
from .reply_reading import read_reply
from .typed_answers import words_of

if TYPE_CHECKING:
    from ..machine import Request

_CHAT: Final = ChatCompletions()


class LanguageModel(Protocol):
    """Anything that answers a request.

    ``complete`` returns a `Message`, a str, or a completion or message dict in either dialect. A
    model may have more: ``acomplete``, ``stream``, ``astream``, ``prepare``, ``aprepare`` and
    ``body``. `AnyModel` says what happens without.
    """

    def complete(self, request: Request) -> Any:
        """The reply to a request."""
        ...


class AnyModel:
    """Any model, asked without blocking, as runs do: in its own ways, or by a default for each.

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

    async def acomplete(self, request: Request) -> Any:
        """The reply to a request; by default ``complete`` is called in a thread."""
        if self._has("acomplete"):
            return await self._model.acomplete(request)
        return await call_in_thread(lambda: self._model.complete(request))

    def astream(self, request: Request) -> AsyncIterator[Any]:
        """The words of the reply, each a str, and last the reply as ``complete`` would give it.

        `Reasoning` may come between them. Without the reply at the end, it is made of the words.
        By default one thread reads ``stream`` from end to end, or the reply comes whole.
        """
        if self._has("astream"):
            pieces: AsyncIterator[Any] = self._model.astream(request)
            return pieces
        if self._has("stream"):
            return iterate_in_thread(lambda: self._model.stream(request))
        return self._whole(request)

    async def _whole(self, request: Request) -> AsyncIterator[Any]:
        yield read_reply(await self.acomplete(request), request)

    async def prepare(self) -> None:
        """Do what would make the first request slower than others; by default nothing.

        Clocks begin after it: it may import a library.
        """
        if self._has("aprepare"):
            await self._model.aprepare()
        elif self._has("prepare"):
            await call_in_thread(self._model.prepare)

    def body(self, request: Request) -> dict[str, Json]:
        """The JSON that is sent for a request; by default that of Chat Completions."""
        body: dict[str, Json] = (self._model if self._has("body") else _CHAT).body(request)
        return body


class SeveralModels(AnyModel):
    """Several models as one: each request goes to the model that it names.

    Args:
        models: the models by their names.
    """

    def __init__(self, models: Mapping[Model, LanguageModel]) -> None:
        self._models = {name: AnyModel(model) for name, model in models.items()}

    def __repr__(self) -> str:
        return " and ".join(map(repr, self._models.values()))

    @property
    def has_coroutines(self) -> bool:
        """Whether each of them can be asked without blocking."""
        return all(each.has_coroutines for each in self._models.values())

    async def acomplete(self, request: Request) -> Any:
        """The reply of the model that is named."""
        return await self._models[request.model].acomplete(request)

    def astream(self, request: Request) -> AsyncIterator[Any]:
        """The words of its reply, then the reply."""
        return self._models[request.model].astream(request)

    async def prepare(self) -> None:
        """Do what would make the first request of any slower than others."""
        for model in self._models.values():
            await model.prepare()

    def body(self, request: Request) -> dict[str, Json]:
        """What is sent to the model that is named."""
        return self._models[request.model].body(request)


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
