"""Connect to a model by its name: its provider's address and key are looked up."""

from __future__ import annotations

import os
from typing import Final, get_args

from gram import GramEncodeError
from gram.errors import expect
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
    provider_without_row,
    unknown_provider,
)

NO_KEY: Final = "none"
"""Sent where no key is needed; the ``openai`` package refuses an empty one."""


def connect_model(
    model: Model | str, *, base_url: str | None = None, dialect: Dialect | None = None
) -> LanguageModel:
    """The model with a given name, ready to answer requests.

    Keys come from the environment, never from a program or a file. ``<NAME>_BASE_URL`` changes the
    address of a provider. An address other than the provider's own needs no key, and is spoken to
    as most servers understand it: in Chat Completions. ``<NAME>_DIALECT`` says otherwise.

    Args:
        model: The name, ``"Provider/model"`` or a `Model`.
        base_url: An address to ask instead of the provider's; the provider may be unknown then.
        dialect: The dialect to speak instead of the provider's, see `OpenAIModel`.

    Raises:
        ArgumentError: An argument has the wrong type.
        ConfigurationError: The name has no provider, the provider is unknown, its key is not set,
            the dialect is unknown, or the user's file of providers cannot be used.
    """
    expect(model, (str, Model), "model", by="connect_model")
    expect(base_url, (str, type(None)), "base_url", by="connect_model")
    expect(dialect, (str, type(None)), "dialect", by="connect_model")
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

    url, key = address_and_key(provider, base_url)
    if not provider.is_at(url) and PROVIDERS.get(provider.name) == provider:
        provider = Provider(provider.name, url)  # the rest of a row is about its own server
    return OpenAIModel(
        url,
        key,
        dialect or _dialect(provider),
        max_tokens=provider.max_tokens,
        answers=provider.answers,
        answers_as=provider.answers_as,
        max_reply_bytes=provider.max_reply_bytes,
        not_taken=provider.not_taken,
    )


def address_and_key(provider: Provider, base_url: str | None = None) -> tuple[str, str]:
    """Where requests to a provider go, and the key that is sent along.

    Args:
        provider: The row of the provider.
        base_url: An address to ask instead of the provider's.

    Raises:
        ConfigurationError: The key that the provider needs is not set.
    """
    url = base_url or os.environ.get(provider.base_url_variable) or provider.base_url
    return url, _key(provider, needed=url == provider.base_url)


def _dialect(provider: Provider) -> Dialect:
    """The dialect that the environment says, or else the provider's row."""
    variable = provider.dialect_variable
    named = os.environ.get(variable) or provider.dialect
    known: tuple[Dialect, ...] = get_args(Dialect)
    for each in known:
        if named == each:
            return each
    raise ConfigurationError(f"{variable} must be one of {', '.join(known)}; found {named!r}")


def _key(provider: Provider, *, needed: bool) -> str:
    key = os.environ.get(provider.key or f"{in_variable_name(provider.name)}_API_KEY")
    if key:
        return key
    if provider.key and needed:
        raise ConfigurationError(
            f"{provider.key} is not set: {provider.name} needs a key. Set it, or use --offline "
            f'(model="{OFFLINE}" in Python) to rehearse without a model'
        )
    return NO_KEY
