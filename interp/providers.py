"""Who serves models: one row each. A new OpenAI-compatible provider is a new row.

Keys come from the environment, never from a program. ``<NAME>_BASE_URL`` overrides where requests
go; an address that is not the provider's own needs no key.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Final, Protocol

from attrs import frozen

from lenses_ext import Model

from .effects import Request
from .errors import ConfigurationError
from .wire import Dialect


class LanguageModel(Protocol):
    """Anything that answers a request.

    ``complete`` returns a `Message`, a str, or a completion or message dict in either dialect. A
    model may also have

    - ``acomplete``, the same as a coroutine; without it, ``arun`` calls ``complete`` in a thread;
    - ``stream``, an iterator of the words of the reply, each a str, and at the end of the reply as
      ``complete`` would give it (without it, the words are the reply); and ``astream``, the same
      as an asynchronous iterator. Without them, what is streamed comes whole.
    """

    def complete(self, request: Request) -> Any:
        """The reply to a request."""
        ...


@frozen
class Provider:
    """Where a provider's models are found.

    Attributes:
        name: as programs write it before the slash.
        base_url: where requests go.
        key: the environment variable with the key, or None for servers that ask for none.
        dialect: how it is spoken to.
    """

    name: str
    base_url: str
    key: str | None = None
    dialect: Dialect = "tools"

    @property
    def base_url_variable(self) -> str:
        """The environment variable that overrides ``base_url``."""
        return "".join(c if c.isalnum() else "_" for c in self.name.upper()) + "_BASE_URL"


PROVIDERS: Final[Mapping[str, Provider]] = {
    provider.name: provider
    for provider in (
        Provider("OpenAI", "https://api.openai.com/v1", "OPENAI_API_KEY"),
        Provider("Anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
        Provider(
            "Google",
            "https://generativelanguage.googleapis.com/v1beta/openai",
            "GEMINI_API_KEY",
        ),
        Provider("Ollama", "http://localhost:11434/v1"),
        Provider("LMStudio", "http://localhost:1234/v1"),
        Provider("vLLM", "http://localhost:8000/v1"),
        Provider("LlamaCpp", "http://localhost:8080/v1"),
    )
}

OFFLINE = Model("Offline", "rehearsal")
"""The built-in stand-in for a model, which needs no key and no network."""

_UNUSED_KEY = "none"


def language_model(model: Model) -> LanguageModel:
    """The model that a program names, ready to answer.

    Raises:
        ConfigurationError: the provider is unknown, or its key is not set.
    """
    if model.provider == OFFLINE.provider:
        from .rehearsal import Rehearsal

        if model != OFFLINE:
            raise ConfigurationError(f'there is no model "{model}"; the offline model is {OFFLINE}')
        return Rehearsal()
    provider = find_provider(model)
    if provider is None:
        raise ConfigurationError(unknown_provider(model))
    base_url = os.environ.get(provider.base_url_variable) or provider.base_url
    from .openai_model import OpenAIModel

    return OpenAIModel(base_url, _key(provider, base_url), provider.dialect)


def find_provider(model: Model) -> Provider | None:
    """The provider of a model, its name read without regard to case, or None."""
    for name, provider in PROVIDERS.items():
        if name.lower() == model.provider.lower():
            return provider
    return None


def unknown_provider(model: Model) -> str:
    """What to say of a model whose provider is in no row."""
    known = [*PROVIDERS, OFFLINE.provider]
    near = get_close_matches(model.provider, known, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f'unknown provider "{model.provider}"{hint} Known: {", ".join(known)}'


def _key(provider: Provider, base_url: str) -> str:
    key = os.environ.get(provider.key) if provider.key else None
    if key:
        return key
    if provider.key and base_url == provider.base_url:
        raise ConfigurationError(
            f"{provider.key} is not set: {provider.name} needs a key. Set it, or use --offline "
            f'(model="{OFFLINE}" in Python) to rehearse without a model'
        )
    return _UNUSED_KEY
