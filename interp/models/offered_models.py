"""Which models a server offers: it is asked for its list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from attrs import frozen

from gram.display import visible
from lenses_ext import Model

from ..concurrency import waited_for
from ..errors import ConfigurationError, ModelError
from ..secrets import hide, without_keys, without_userinfo
from .connect import NO_KEY, address_and_key
from .failures import awith_retries, quoted, reported_in, too_large
from .providers import (
    ADDRESS_RULE,
    MAX_REPLY_BYTES,
    OFFLINE,
    Provider,
    find_provider,
    is_address,
    unknown_provider,
)
from .server_events import is_crowded, json_or_text

if TYPE_CHECKING:
    from .server import Server

_PATH: Final = "/models"
_TIMEOUT: Final = 30.0  # seconds of silence
_CONNECT_TIMEOUT: Final = 10.0  # seconds
_ATTEMPTS: Final = 2
_UNKNOWN_PATH: Final = (404, 405, 501)

_ANTHROPIC: Final = "api.anthropic.com"
"""Its list is that of its own API: it wants the key under another name, and gives 20 a page."""


@frozen
class Offered:
    """What a server offers.

    Attributes:
        where: The address of the server, without user and password.
        names: The names of its models, in the order of the alphabet.
    """

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
    if asked.lower() == OFFLINE.provider.lower():
        return Offered("built in", (OFFLINE.name,))
    if is_address(asked):
        try:
            return _ask(asked, NO_KEY)
        except ConfigurationError as error:
            hint = "an address gets no key, a provider does: name it, such as OpenAI"
            raise ConfigurationError(f"{error.message}\n  hint: {hint}") from None
    return _ask(*address_and_key(_provider_named(asked)))


def _provider_named(name: str) -> Provider:
    if not name.strip():
        raise ConfigurationError("name a provider, or give the address of a server")
    if ":" in name:
        shown = without_userinfo(name)
        raise ConfigurationError(f"{shown!r} is not a server address: it {ADDRESS_RULE}")
    provider, slash, _ = name.partition("/")
    model = Model(provider.strip() or name, "any")
    if slash and find_provider(model):
        raise ConfigurationError(f'"{name}" names a model: give its provider alone, {provider}')
    if (found := find_provider(model)) is None:
        raise ConfigurationError(unknown_provider(model))
    return found


def _ask(url: str, key: str) -> Offered:
    from .server import Server  # imported late: most programs have asked already, or never do

    server = Server.at(
        url, key, timeout=_TIMEOUT, connect_timeout=_CONNECT_TIMEOUT, max_bytes=MAX_REPLY_BYTES
    )
    hidden = hide(*server.secrets)
    text = waited_for(lambda: _fetched(server, key))
    names = tuple(sorted({*_names_in(text, server.where)}))
    del hidden  # what is kept here has no keys any more
    return Offered(server.where, names)


async def _fetched(server: Server, key: str) -> str:
    """The text of a server's list."""
    of_anthropic = urlsplit(server.where).hostname == _ANTHROPIC
    headers = {"x-api-key": key, "anthropic-version": "2023-06-01"} if of_anthropic else {}
    query = {"limit": 1000} if of_anthropic else {}

    async def ask() -> str:
        response = await server.ask(client, _PATH, headers=headers, query=query)
        body = bytearray()
        async with aclosing(response), aclosing(response.aiter_bytes()) as pieces:
            while (piece := await server.piece(pieces)) is not None:
                body += piece
                if len(body) > MAX_REPLY_BYTES:  # unpacked, or what claims to be a stream
                    raise too_large(server.where, MAX_REPLY_BYTES)
        return body.decode("utf-8-sig", "replace")

    try:
        async with server.client() as client:
            text = await awith_retries(ask, _ATTEMPTS)
    except ModelError as error:
        if error.status not in _UNKNOWN_PATH:
            raise
        said = error.message.partition("\n")[0]
    else:
        if is_crowded(text, MAX_REPLY_BYTES):
            raise too_large(server.where, MAX_REPLY_BYTES)
        return text
    raise ModelError(f"{said}\n  hint: {_NO_LIST}")


_NO_LIST: Final = "does the server list its models? Is the address right, which mostly ends in /v1?"


def _names_in(text: str, where: str) -> Iterator[str]:
    """The names in a list of models.

    Raises:
        ModelError: It is no such list, or reports an error.
    """
    found, problem = json_or_text(text)
    if problem:
        what = f"is not JSON: {quoted(text)}" if text.strip() else "is empty"
        said = f"what {where} gave as its list of models {what}"
        raise ModelError(f"{without_keys(said)}\n  hint: {_NO_LIST}")
    if isinstance(found, Mapping) and (reported := reported_in(found)):
        raise reported
    listed = found.get("data", found.get("models")) if isinstance(found, Mapping) else found
    if not isinstance(listed, list):
        said = f"{where} gave no list of models: {quoted(found)}"
        raise ModelError(f"{without_keys(said)}\n  hint: {_NO_LIST}")
    for each in listed:
        if isinstance(each, Mapping):
            each = next((each[key] for key in _NAMES if each.get(key)), None)
        if isinstance(each, str) and each.strip():
            yield visible(without_keys(each.removeprefix("models/")))


_NAMES: Final = ("id", "name", "model")
"""Where a list has the names, the best first; Google writes ``models/`` before each."""
