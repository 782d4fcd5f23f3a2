"""Connect to a model by its name: its provider's address and key are looked up."""

from __future__ import annotations

import os
from typing import Final
from urllib.parse import urlsplit

from gram import GramEncodeError, expect
from lenses_ext import Model

from ..errors import ConfigurationError
from .language_model import LanguageModel
from .providers import (
    OFFLINE,
    PROVIDERS,
    Dialect,
    Provider,
    find_provider,
    in_variable_name,
    is_address,
    provider_without_row,
    unknown_provider,
)

_NO_KEY: Final = "none"
"""Sent where no key is needed; the ``openai`` package refuses an empty one."""


def connect_model(
    model: Model | str, *, base_url: str | None = None, dialect: Dialect | None = None
) -> LanguageModel:
    """The model with a given name, ready to answer requests.

    Keys come from the environment, never from a program or a file. ``<NAME>_BASE_URL`` changes the
    address of a provider. An address other than the provider's own needs no key, and is spoken to
    as most servers understand it.

    Args:
        model: The name, ``"Provider/model"`` or a `Model`.
        base_url: An address to ask instead of the provider's; the provider may be unknown then.
        dialect: The dialect to speak instead of the provider's.

    Raises:
        ArgumentError: An argument has the wrong type.
        ConfigurationError: The name has no provider, the provider is unknown, its key is not set,
            or the user's file of providers cannot be used.
    """
    expect(model, (str, Model), "model", by="connect_model")
    expect(base_url, (str, type(None)), "base_url", by="connect_model")
    if isinstance(model, str):
        try:
            model = Model.parse(model)
        except GramEncodeError as error:
            raise ConfigurationError(str(error)) from None
    if model.provider == OFFLINE.provider:
        from .rehearsal import Rehearsal

        if model != OFFLINE:
            raise ConfigurationError(f'there is no model "{model}"; the offline model is {OFFLINE}')
        return Rehearsal()
    provider = find_provider(model)
    if provider is None:
        if not base_url:
            raise ConfigurationError(unknown_provider(model))
        provider = provider_without_row(model.provider)
    from .openai_model import OpenAIModel

    url = base_url or os.environ.get(provider.base_url_variable) or provider.base_url
    key = _key(provider, needed=url == provider.base_url)
    is_elsewhere = url != provider.base_url and _host(url) != _host(provider.base_url)
    if is_elsewhere and PROVIDERS.get(provider.name) == provider:
        provider = Provider(provider.name, url)  # the rest of a row is about its own server
    return OpenAIModel(
        url,
        key,
        dialect or provider.dialect,
        max_tokens=provider.max_tokens,
        answers=provider.answers,
        answers_as=provider.answers_as,
        max_reply_bytes=provider.max_reply_bytes,
    )


def _host(url: str) -> str | None:
    return urlsplit(url).hostname if is_address(url) else None


def _key(provider: Provider, *, needed: bool) -> str:
    key = os.environ.get(provider.key or f"{in_variable_name(provider.name)}_API_KEY")
    if key:
        return key
    if provider.key and needed:
        raise ConfigurationError(
            f"{provider.key} is not set: {provider.name} needs a key. Set it, or use --offline "
            f'(model="{OFFLINE}" in Python) to rehearse without a model'
        )
    return _NO_KEY
