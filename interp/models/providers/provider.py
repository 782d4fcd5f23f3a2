"""Defines the row of a provider of models, and the rule for server addresses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit

from attrs import frozen

Dialect: TypeAlias = Literal["responses", "tools", "functions"]
"""The Responses API, Chat Completions, and its older form with one call per reply."""

MaxTokens: TypeAlias = Literal["max_completion_tokens", "max_tokens"]
"""The names that providers use for the setting ``maxTokens``."""

AnswerMode: TypeAlias = Literal["with_tools", "after_tools", "as_tool"]
"""How an agent with tools asks a provider for a typed answer.

- ``with_tools``: one request has the tools and the schema of the answer.
- ``after_tools``: a request has only the tools; when the model calls no tool, it is asked again
  with the schema.
- ``as_tool``: the request has an additional tool, which the model calls with its answer.
"""

AnswerFormat: TypeAlias = Literal["json_schema", "json_object"]
"""Whether a provider accepts a schema, or only JSON mode with the schema in the instruction."""

MAX_REPLY_BYTES: Final = 4_000_000
"""How large a reply may be; a streamed one ten times as large, since each word is an event."""

ADDRESS_RULE: Final = "must start with http:// or https:// and name a host"
"""The rule for server addresses, for error messages."""


@frozen
class Provider:
    """A provider: the address of its models, and how to send requests to them.

    Attributes:
        name: The name that programs write before the slash.
        base_url: The address that requests go to.
        key: The environment variable that holds the key. None if no key is needed; a key in
            ``<NAME>_API_KEY`` is still sent.
        dialect: The dialect of its requests.
        max_tokens: Its name for the setting ``maxTokens``.
        answers: How an agent with tools asks for a typed answer.
        answers_as: Whether it accepts a schema for the answer.
        max_reply_bytes: The most bytes that a reply may have, counted decompressed.
        context_window: How many tokens its models read at most, where that is known of all.
        not_taken: The settings that it does not take; they are left out.
    """

    name: str
    base_url: str
    key: str | None = None
    dialect: Dialect = "tools"
    max_tokens: MaxTokens = "max_tokens"
    answers: AnswerMode = "after_tools"
    answers_as: AnswerFormat = "json_schema"
    max_reply_bytes: int = MAX_REPLY_BYTES
    context_window: int | None = None
    not_taken: Sequence[str] = ()

    @property
    def base_url_variable(self) -> str:
        """The environment variable that overrides ``base_url``."""
        return f"{in_variable_name(self.name)}_BASE_URL"

    @property
    def dialect_variable(self) -> str:
        """The environment variable that overrides ``dialect``."""
        return f"{in_variable_name(self.name)}_DIALECT"

    def is_at(self, url: str) -> bool:
        """Whether an address is its own, or below it.

        >>> openai = Provider("OpenAI", "https://api.openai.com/v1")
        >>> openai.is_at("https://eu.api.openai.com/v1"), openai.is_at("http://localhost:1/v1")
        (True, False)
        """
        own, other = _host(self.base_url), _host(url)
        return other is not None and own is not None and f".{other}".endswith(f".{own}")


def _host(url: str) -> str | None:
    return urlsplit(url).hostname if is_address(url) else None


def in_variable_name(name: str) -> str:
    """The name of a provider, as it is written in names of environment variables.

    >>> in_variable_name("my-cloud")
    'MY_CLOUD'
    """
    return "".join(c if c.isalnum() else "_" for c in name.upper())


def is_address(text: str) -> bool:
    """Whether a text is a server address that requests can be sent to.

    >>> is_address("http://localhost:8000/v1"), is_address("localhost:8000")
    (True, False)
    """
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:  # unclosed brackets, or a port that is not a number
        return False
    if " " in text or not text.isprintable():  # `urlsplit` drops some of these characters
        return False
    return parts.scheme in ("http", "https") and host != "" and host.isascii() and port != 0


def is_on_this_machine(url: str) -> bool:
    """Whether the server at an address is on this machine.

    >>> is_on_this_machine("http://127.0.0.1:8080/v1"), is_on_this_machine("https://example.org")
    (True, False)
    """
    host = _host(url) or ""
    return host in ("localhost", "::1") or host.startswith("127.")
