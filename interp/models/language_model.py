"""Models as a run sees them: anything that answers a request, and its adapter."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Final, Protocol

from lenses_ext import Model

from ..concurrency import call_in_thread, iterate_in_thread
from ..errors import ConfigurationError
from ..json_text import Json
from ..machine import Request
from .chat import ChatCompletions
from .reply_reading import read_reply

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

    Of several by their names, each request goes to the one that it names, or to that under None.
    """

    def __init__(self, model: LanguageModel | Mapping[Any, LanguageModel]) -> None:
        self._models: dict[Model | None, Any] = (
            dict(model.items()) if isinstance(model, Mapping) else {None: model}
        )
        for each in self._models.values():
            if isinstance(each, type):
                raise ConfigurationError(f"{each.__name__} is a class: give a model that it makes")
            if not _has(each, "complete"):
                raise ConfigurationError(f"{each!r} is not a model: it has no complete(request)")

    def __repr__(self) -> str:
        return " and ".join(map(repr, self._models.values()))

    @property
    def is_users_coroutine(self) -> bool:
        """Whether it is a model of the user's own that can be asked without blocking."""
        model = self._models.get(None)
        return _has(model, "acomplete") or _has(model, "astream")

    def asked_for(self, request: Request) -> tuple[Model, ...]:
        """Those that may answer a request, in turn; a model of the user's answers all by itself."""
        models = (request.model, *request.fallbacks)
        if None in self._models:
            return models[:1]
        return tuple(each for each in models if each in self._models) or models[:1]

    def _named_in(self, request: Request) -> Any:
        return self._models[None if None in self._models else request.model]

    async def acomplete(self, request: Request) -> Any:
        """The reply to a request; by default ``complete`` is called in a thread."""
        model = self._named_in(request)
        if _has(model, "acomplete"):
            return await model.acomplete(request)
        return await call_in_thread(lambda: model.complete(request))

    def astream(self, request: Request) -> AsyncIterator[Any]:
        """The words of the reply, each a str, and last the reply as ``complete`` would give it.

        `Reasoning` may come between them. Without the reply at the end, it is made of the words.
        By default one thread reads ``stream`` from end to end, or the reply comes whole.
        """
        model = self._named_in(request)
        if _has(model, "astream"):
            pieces: AsyncIterator[Any] = model.astream(request)
            return pieces
        if _has(model, "stream"):
            return iterate_in_thread(lambda: model.stream(request))
        return self._whole(request)

    async def _whole(self, request: Request) -> AsyncIterator[Any]:
        yield read_reply(await self.acomplete(request), request)

    async def prepare(self) -> None:
        """Do what would make the first request slower than others; by default nothing.

        Clocks begin after it: it may import a library.
        """
        for model in self._models.values():
            if _has(model, "aprepare"):
                await model.aprepare()
            elif _has(model, "prepare"):
                await call_in_thread(model.prepare)

    def body(self, request: Request) -> dict[str, Json]:
        """The JSON that is sent for a request; by default that of Chat Completions."""
        model = self._named_in(request)
        body: dict[str, Json] = (model if _has(model, "body") else _CHAT).body(request)
        return body


def _has(model: object, name: str) -> bool:
    return callable(getattr(model, name, None))
