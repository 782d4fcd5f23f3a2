"""Finds providers: in the built-in rows, in the user's file and in the environment.

A new OpenAI-compatible provider is a new row of `PROVIDERS`. A user's own rows are in a file (see
`interp.models.providers.provider_file`). A provider without a row can be used if
``<NAME>_BASE_URL`` is set.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final
from urllib.parse import urlsplit

from gram.suggestions import did_you_mean
from lenses_ext import Model

from .provider import Provider, in_variable_name
from .provider_file import user_providers

# fmt: off
_ROWS = (
    Provider("OpenAI", "https://api.openai.com/v1", "OPENAI_API_KEY", dialect="responses",
             max_tokens="max_completion_tokens", answers="with_tools"),
    Provider("Anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY",
             answers="as_tool", answers_as="json_object",
             not_taken=("frequencyPenalty", "presencePenalty", "seed")),  # by its own list
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
"""The built-in model for rehearsals, which needs no key and no network."""


_ADDED: dict[str, Provider] = {}


def known_providers() -> Mapping[str, Provider]:
    """All rows by name: the built-in ones, the user's and those that were added.

    The user's take precedence over the built-in ones; added rows replace none of either.

    Raises:
        ConfigurationError: The user's file cannot be used.
    """
    return {**_ADDED, **PROVIDERS, **user_providers()}


def is_known(name: str) -> bool:
    """Whether there is a provider of a name, or one that reads the same variables.

    >>> is_known("openai"), is_known("offline"), is_known("Groq")
    (True, True, False)
    """
    known = (*known_providers(), OFFLINE.provider)
    return in_variable_name(name) in map(in_variable_name, known)


@contextmanager
def added(providers: Iterable[Provider]) -> Iterator[None]:
    """Inside, new providers are known to this process; see `is_known`."""
    rows = {each.name: each for each in providers}
    _ADDED.update(rows)
    try:
        yield
    finally:
        for name in rows:
            _ADDED.pop(name, None)


def find_provider(model: Model) -> Provider | None:
    """Find the provider of a model, or None; upper and lower case are not distinguished.

    A provider without a row is found if ``<NAME>_BASE_URL`` is set.

    Raises:
        ConfigurationError: The user's file cannot be used.
    """
    wanted = model.provider.lower()
    rows = [row for name, row in known_providers().items() if name.lower() == wanted]
    if rows:
        return rows[-1]
    unlisted = provider_without_row(model.provider)
    return unlisted if os.environ.get(unlisted.base_url_variable) else None


def is_own_server(model: Model, url: str) -> bool:
    """Whether an address is that of a built-in row: the provider's own server, at its prices.

    >>> is_own_server(Model("OpenAI", "m"), "https://api.openai.com/v1/")
    True
    >>> is_own_server(Model("OpenAI", "m"), "http://localhost:8000/v1")
    False
    """
    wanted = model.provider.lower()
    rows = [row for name, row in PROVIDERS.items() if name.lower() == wanted]
    return bool(rows) and urlsplit(url).netloc == urlsplit(rows[0].base_url).netloc


def provider_without_row(name: str) -> Provider:
    """A provider without a row in the table; its address is given separately."""
    return Provider(name, "", f"{in_variable_name(name)}_API_KEY")


def unknown_provider(model: Model) -> str:
    """The error message for a model with an unknown provider."""
    known = [*known_providers(), OFFLINE.provider]
    hint = did_you_mean(model.provider, known)
    said = f'unknown provider "{model.provider}"' + (f"; {hint}" if hint else ".")
    said += f" Known: {', '.join(known)}"
    if hint:
        return said
    variable = provider_without_row(model.provider).base_url_variable
    return f"{said}. For another server, set {variable} to its address"
