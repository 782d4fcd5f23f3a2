"""Several models as one: each request goes to the model that it names."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from lenses_ext import Model

from ..json_text import Json
from ..machine import Request
from .language_model import AnyModel, LanguageModel


def one_of(models: Mapping[Model, LanguageModel]) -> LanguageModel:
    """The only one of some models, or a model that asks the one that a request names."""
    return next(iter(models.values())) if len(models) == 1 else SeveralModels(models)


class SeveralModels(LanguageModel):
    """Asks of several models the one that a request names.

    Args:
        models: the models by their names.
    """

    def __init__(self, models: Mapping[Model, LanguageModel]) -> None:
        self._models = {name: AnyModel(model) for name, model in models.items()}

    def __repr__(self) -> str:
        return f"SeveralModels({', '.join(map(str, self._models))})"

    def _named(self, request: Request) -> AnyModel:
        return self._models[request.model]

    def complete(self, request: Request) -> Any:
        """The reply of the model that is named."""
        return self._named(request).complete(request)

    async def acomplete(self, request: Request) -> Any:
        """The same without blocking."""
        return await self._named(request).acomplete(request)

    def stream(self, request: Request) -> Iterator[Any]:
        """The words of its reply, then the reply."""
        return self._named(request).stream(request)

    def astream(self, request: Request) -> AsyncIterator[Any]:
        """The same without blocking."""
        return self._named(request).astream(request)

    def body(self, request: Request) -> dict[str, Json]:
        """What is sent to it."""
        return self._named(request).body(request)

    def prepare(self) -> None:
        """Import what their requests need."""
        for model in self._models.values():
            model.prepare()

    def close(self) -> None:
        """Close what each of them keeps open."""
        for model in self._models.values():
            model.close()

    async def aclose(self) -> None:
        """The same without blocking."""
        for model in self._models.values():
            await model.aclose()
