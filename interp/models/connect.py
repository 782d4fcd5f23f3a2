"""Connect to a model by its name, or ask a server which models it offers.

The address and key of its provider are looked up.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import aclosing
from typing import Final, cast, get_args
from urllib.parse import urlsplit

from attrs import frozen

from gram import GramEncodeError
from gram.errors import expect
from lenses_ext import Model

from ..concurrency import waited_for
from ..errors import ConfigurationError, ModelError
from ..files import is_address
from ..secrets import hide, without_keys, without_userinfo
from . import providers
from .connections import Server
from .failures import awith_retries, quoted, reported_in, too_large
from .language_model import LanguageModel
from .providers import MAX_REPLY_BYTES, OFFLINE, Dialect, Provider, find_provider
from .server_events import json_or_problem

NO_KEY: Final = "none"  # sent where none is needed: the ``openai`` package refuses an empty one


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
        from .without_network import Rehearsal

        if model != OFFLINE:
            raise ConfigurationError(f'there is no model "{model}"; the offline model is {OFFLINE}')
        return Rehearsal()
    provider = find_provider(model)
    if provider is None:
        if not base_url:
            raise ConfigurationError(providers.unknown_provider(model))
        provider = providers.provider_without_row(model.provider)
    from .openai_model import OpenAIModel

    url, key = address_and_key(provider, base_url)
    if not provider.is_at(url) and providers.PROVIDERS.get(provider.name) == provider:
        provider = Provider(provider.name, url)  # the rest of a row is about its own server
    variable, known = provider.variable("DIALECT"), get_args(Dialect)
    named = dialect or os.environ.get(variable) or provider.dialect
    if named not in known and not dialect:
        raise ConfigurationError(f"{variable} must be one of {', '.join(known)}; found {named!r}")
    return OpenAIModel(
        url,
        key,
        cast(Dialect, named),
        max_tokens=provider.max_tokens,
        answers=provider.answers,
        answers_as=provider.answers_as,
        max_reply_bytes=provider.max_reply_bytes,
        not_taken=provider.not_taken,
    )


def address_and_key(provider: Provider, base_url: str | None = None) -> tuple[str, str]:
    """Where requests to a provider go, by default to its own address, and the key for it."""
    url, key = base_url or provider.address, os.environ.get(provider.key_variable)
    if provider.key and not key and url == provider.base_url:
        raise ConfigurationError(
            f"{provider.key} is not set: {provider.name} needs a key. Set it, or use --offline "
            f'(model="{OFFLINE}" in Python) to rehearse without a model'
        )
    return url, key or NO_KEY


_ANTHROPIC: Final = "api.anthropic.com"
"""Its list is that of its own API: it wants the key under another name, and gives 20 a page."""


@frozen
class Offered:
    """What a server offers: its address without a password, and the sorted names of its models."""

    where: str
    names: tuple[str, ...]

    def has(self, name: str) -> bool:
        """Whether a name is that of one of its models; Ollama's ``:latest`` may be left out.

        >>> Offered("", ("llama3.2:latest",)).has("llama3.2")
        True
        """
        return any(each in self.names for each in (name, f"{name}:latest"))


def offered_models(asked: str) -> Offered:
    """The models that a provider or the server at an address offers.

    A provider is asked at its address, or that in ``<NAME>_BASE_URL``, with its key; an address
    that is given gets none.

    Args:
        asked: The name of a provider, or an address such as ``http://localhost:8080/v1``.

    Raises:
        ConfigurationError: The provider is unknown, or the key is missing or refused.
        ModelError: The server cannot be reached, or gives no list.
    """
    if asked.partition("/")[0].strip().lower() == OFFLINE.provider.lower():
        return Offered("built in", (OFFLINE.name,))
    if is_address(asked):
        try:
            return _ask(asked, NO_KEY)
        except ConfigurationError as error:
            hint = "an address gets no key, a provider does: name it, such as OpenAI"
            raise ConfigurationError(f"{error.message}\n  hint: {hint}") from None
    return _ask(*address_and_key(_provider_named(asked)))


def _provider_named(name: str) -> Provider:
    provider = name.partition("/")[0].strip()  # of a model, too
    if not provider or ":" in name:
        said = f"{without_userinfo(name)!r} is no provider, and not a server address"
        raise ConfigurationError(f"{said}: it {providers.ADDRESS_RULE}")
    if (found := find_provider(model := Model(provider, "any"))) is None:
        raise ConfigurationError(providers.unknown_provider(model))
    return found


def _ask(url: str, key: str) -> Offered:
    waits = {"timeout": 30.0, "connect_timeout": 10.0}  # seconds
    server = Server(base_url=url, key=key, max_bytes=MAX_REPLY_BYTES, **waits)
    hidden = hide(*server.secrets)
    text = waited_for(lambda: _fetched(server, key))
    names = tuple(sorted({*_names_in(text, server.where)}))
    del hidden  # what is kept here has no keys any more
    return Offered(server.where, names)


async def _fetched(server: Server, key: str) -> str:
    of_anthropic = urlsplit(server.where).hostname == _ANTHROPIC
    headers = {"x-api-key": key, "anthropic-version": "2023-06-01"} if of_anthropic else {}
    query = {"limit": 1000} if of_anthropic else {}

    async def listed() -> str:
        from .http_client import ask, next_piece

        response = await ask(server, client, "/models", headers=headers, query=query)
        body = bytearray()
        async with aclosing(response), aclosing(response.aiter_bytes()) as pieces:
            while (piece := await next_piece(server, pieces)) is not None:
                body += piece
                if len(body) > MAX_REPLY_BYTES:  # unpacked, or what claims to be a stream
                    raise too_large(server.where, MAX_REPLY_BYTES)
        return body.decode("utf-8-sig", "replace")

    try:
        async with server.client() as client:
            return await awith_retries(listed, 2)
    except ModelError as error:
        if error.status not in (404, 405, 501):
            raise
        said = error.message.partition("\n")[0]
        raise ModelError(f"{said}\n  hint: {_NO_LIST}") from None


_NO_LIST: Final = "does the server list its models? Is the address right, which mostly ends in /v1?"


def _names_in(text: str, where: str) -> Iterator[str]:
    """The names in a list of models; what is no such list is refused."""
    found, _ = json_or_problem(text, MAX_REPLY_BYTES, where)
    if isinstance(found, Mapping) and (reported := reported_in(found)):
        raise reported
    listed = found.get("data", found.get("models")) if isinstance(found, Mapping) else found
    if not isinstance(listed, list):
        said = f"{where} gave no list of models: {quoted(text) if text.strip() else 'nothing'}"
        raise ModelError(f"{said}\n  hint: {_NO_LIST}")
    from gram.display import visible  # imported late: requests show nothing

    for each in listed:
        if isinstance(each, Mapping):
            keys = ("id", "name", "model")  # the best first
            each = next((each[key] for key in keys if each.get(key)), None)
        if isinstance(each, str) and each.strip():
            yield visible(without_keys(each.removeprefix("models/")))  # which Google writes
