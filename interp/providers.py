"""Who serves models: one row each. A new OpenAI-compatible provider is a new row.

A user's own rows stand in a file (`interp.provider_file`); a provider that is in no row is found
through the environment. Keys come from the environment, never from a program or a file.
``<NAME>_BASE_URL`` overrides where requests go; an address that is not the provider's own needs no
key.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final, Literal, TypeAlias

from attrs import frozen

from lenses_ext import Model

from .dialects import Dialect
from .errors import ConfigurationError
from .language_model import LanguageModel

MaxTokens: TypeAlias = Literal["max_completion_tokens", "max_tokens"]


@frozen
class Provider:
    """Where a provider's models are found.

    Attributes:
        name: as programs write it before the slash.
        base_url: where requests go.
        key: the environment variable with the key, or None for servers that ask for none.
        dialect: how it is spoken to.
        max_tokens: what it calls the setting ``maxTokens``.
    """

    name: str
    base_url: str
    key: str | None = None
    dialect: Dialect = "tools"
    max_tokens: MaxTokens = "max_tokens"

    @property
    def base_url_variable(self) -> str:
        """The environment variable that overrides ``base_url``."""
        return f"{_upper(self.name)}_BASE_URL"


# fmt: off
_ROWS = (
    Provider("OpenAI", "https://api.openai.com/v1", "OPENAI_API_KEY",
             max_tokens="max_completion_tokens"),
    Provider("Anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
    Provider("Google", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    Provider("Ollama", "http://localhost:11434/v1"),
    Provider("LMStudio", "http://localhost:1234/v1"),
    Provider("vLLM", "http://localhost:8000/v1"),
    Provider("LlamaCpp", "http://localhost:8080/v1"),
)
# fmt: on

PROVIDERS: Final[Mapping[str, Provider]] = {provider.name: provider for provider in _ROWS}
"""The built-in rows by name."""

OFFLINE = Model("Offline", "rehearsal")
"""The built-in stand-in for a model, which needs no key and no network."""

_UNUSED_KEY = "none"


def language_model(model: Model, *, base_url: str | None = None) -> LanguageModel:
    """The model that a program names, ready to answer.

    Args:
        model: its name.
        base_url: where to ask for it instead; the provider need not be in a row then.

    Raises:
        ConfigurationError: the provider is unknown, its key is not set, or the user's file of
            providers cannot be used.
    """
    if model.provider == OFFLINE.provider:
        from .rehearsal import Rehearsal

        if model != OFFLINE:
            raise ConfigurationError(f'there is no model "{model}"; the offline model is {OFFLINE}')
        return Rehearsal()
    provider = find_provider(model) or (_unlisted(model.provider) if base_url else None)
    if provider is None:
        raise ConfigurationError(unknown_provider(model))
    from .openai_model import OpenAIModel

    url = base_url or os.environ.get(provider.base_url_variable) or provider.base_url
    key = _key(provider, needed=url == provider.base_url)
    return OpenAIModel(url, key, provider.dialect, max_tokens=provider.max_tokens)


def known_providers() -> Mapping[str, Provider]:
    """All rows by name: the built-in ones and the user's, which win.

    Raises:
        ConfigurationError: the user's file cannot be used.
    """
    from .provider_file import user_providers

    return {**PROVIDERS, **user_providers()}


def find_provider(model: Model) -> Provider | None:
    """The provider of a model, its name read without regard to case, or None.

    One that is in no row is known when ``<NAME>_BASE_URL`` is set.

    Raises:
        ConfigurationError: the user's file cannot be used.
    """
    wanted = model.provider.lower()
    rows = [row for name, row in known_providers().items() if name.lower() == wanted]
    if rows:
        return rows[-1]
    unlisted = _unlisted(model.provider)
    return unlisted if os.environ.get(unlisted.base_url_variable) else None


def unknown_provider(model: Model) -> str:
    """What to say of a model whose provider is in no row."""
    known = [*known_providers(), OFFLINE.provider]
    near = get_close_matches(model.provider, known, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f'unknown provider "{model.provider}"{hint or "."} Known: {", ".join(known)}'


def key_variables() -> frozenset[str]:
    """The environment variables that hold the keys of the known providers."""
    try:
        rows = known_providers().values()
    except ConfigurationError:  # told wherever a model is asked for; keys are hidden all the same
        rows = PROVIDERS.values()
    return frozenset(row.key for row in rows if row.key)


def _unlisted(name: str) -> Provider:
    """A provider that is in no row: it has no address of its own."""
    return Provider(name, "", f"{_upper(name)}_API_KEY")


def _upper(name: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in name.upper())


def _key(provider: Provider, *, needed: bool) -> str:
    key = os.environ.get(provider.key) if provider.key else None
    if key:
        return key
    if provider.key and needed:
        raise ConfigurationError(
            f"{provider.key} is not set: {provider.name} needs a key. Set it, or use --offline "
            f'(model="{OFFLINE}" in Python) to rehearse without a model'
        )
    return _UNUSED_KEY
