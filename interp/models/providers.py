"""Providers of models: their addresses, keys and properties, and where they are found.

A new OpenAI-compatible provider is a new row of `PROVIDERS`. A project file adds others, see
`added`. A provider without a row can be used if ``<NAME>_BASE_URL`` is set.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, Literal, TypeAlias, get_type_hints
from urllib.parse import urlsplit

from attrs import fields, frozen

from gram.words import did_you_mean
from lenses_ext import Model
from lenses_ext.language import SETTINGS

from ..errors import ConfigurationError
from ..files import is_address

Dialect: TypeAlias = Literal["responses", "tools", "functions"]
"""The Responses API, Chat Completions, and its older form with one call per reply."""

MaxTokens: TypeAlias = Literal["max_completion_tokens", "max_tokens"]

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
STREAMED_TIMES: Final = 10
"""How many times larger it may be if it is streamed: each word comes in an event."""

ADDRESS_RULE: Final = "must start with http:// or https:// and name a host"


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
        max_reply_bytes: The most bytes that a reply may have, counted unpacked.
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

    def variable(self, what: str) -> str:
        """The environment variable that says something of it, such as its ``BASE_URL``."""
        return f"{in_variable_name(self.name)}_{what}"

    @property
    def address(self) -> str:
        """Where requests to it go: the environment may say otherwise than its row."""
        return os.environ.get(self.variable("BASE_URL")) or self.base_url

    @property
    def key_variable(self) -> str:
        """The environment variable that its key is in, if it has one."""
        return self.key or self.variable("API_KEY")

    def is_at(self, url: str) -> bool:
        """Whether an address is its own, or below it.

        >>> openai = Provider("OpenAI", "https://api.openai.com/v1")
        >>> openai.is_at("https://eu.api.openai.com/v1"), openai.is_at("http://localhost:1/v1")
        (True, False)
        """
        if not is_address(url):
            return False
        own, other = (urlsplit(each.lower()).netloc for each in (self.base_url, url))
        host = other.rpartition("@")[2].removesuffix(":443")
        return f".{host}".endswith(f".{own}")

    def has_its_prices(self, url: str) -> bool:
        """Whether the provider's prices hold at an address; servers of a region have others.

        >>> openai = Provider("OpenAI", "https://api.openai.com/v1")
        >>> openai.has_its_prices("https://eu.api.openai.com/v1")
        False
        """
        return urlsplit(url).netloc == urlsplit(self.base_url).netloc


def in_variable_name(name: str) -> str:
    """The name of a provider, as it is written in names of environment variables.

    >>> in_variable_name("my-cloud")
    'MY_CLOUD'
    """
    return "".join(c if c.isalnum() else "_" for c in name.upper())


def is_on_this_machine(url: str) -> bool:
    """Whether the server at an address is on this machine.

    >>> is_on_this_machine("http://127.0.0.1:8080/v1"), is_on_this_machine("https://example.org")
    (True, False)
    """
    host = urlsplit(url).hostname if is_address(url) else None
    return host is not None and (host in ("localhost", "::1") or host.startswith("127."))


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


_COLUMNS = [each.name for each in fields(Provider) if each.name != "name"]
_NAME_OF_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*", re.ASCII)


def provider_of(path: str, name: str, table: Any) -> Provider:
    """The row that a table in a file describes; a ConfigurationError if it is wrong."""
    where = f"{path}: [{name}]"
    if not isinstance(table, dict):
        raise ConfigurationError(f"{path}: {name} is not a table: write [{name}] above its values")
    if "/" in name or not name.strip():
        raise ConfigurationError(
            f"{where} the name of a provider must not be empty or contain a slash"
        )
    if unknown := [column for column in table if column not in _COLUMNS]:
        hint = did_you_mean(unknown[0], _COLUMNS) or f"it may have {', '.join(_COLUMNS)}"
        raise ConfigurationError(f"{where} has no column {unknown[0]}; {hint}")
    if not is_address(str(table.get("base_url", ""))):
        raise ConfigurationError(f"{where} needs a base_url, which {ADDRESS_RULE}")
    if isinstance(table.get("key"), str) and not _NAME_OF_VARIABLE.fullmatch(table["key"]):
        raise ConfigurationError(
            f"{where} key must be the name of an environment variable, such as GROQ_API_KEY; "
            "keys themselves are never stored"
        )
    from pydantic import TypeAdapter, ValidationError  # imported late: few projects have such rows

    types = get_type_hints(Provider)
    for column, value in table.items():
        try:
            TypeAdapter(types[column]).validate_python(value, strict=True)
        except ValidationError as error:
            reason = error.errors(include_url=False)[0]["msg"]
            raise ConfigurationError(f"{where} {column}: {reason}") from None
    if not {*table.get("not_taken", ())} <= {*SETTINGS}:
        known = ", ".join(SETTINGS)
        raise ConfigurationError(f"{where} not_taken must be a list of settings, such as {known}")
    return Provider(name, **table)


_ADDED: dict[str, Provider] = {}


def known_providers() -> Mapping[str, Provider]:
    """All rows by name: the built-in ones, and those that were added."""
    return {**PROVIDERS, **_ADDED}


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
    """
    wanted = model.provider.lower()
    for name, row in known_providers().items():
        if name.lower() == wanted:
            return row
    unlisted = provider_without_row(model.provider)
    return unlisted if unlisted.address else None


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
    variable = provider_without_row(model.provider).variable("BASE_URL")
    return f"{said}. For another server, set {variable} to its address"


CHAT_FIELDS: Final[Mapping[str, str]] = {
    "frequencyPenalty": "frequency_penalty",
    "maxTokens": "max_completion_tokens",
    "parallelToolCalls": "parallel_tool_calls",
    "presencePenalty": "presence_penalty",
    "reasoningEffort": "reasoning_effort",
    "seed": "seed",
    "stop": "stop",
    "temperature": "temperature",
    "topP": "top_p",
    "verbosity": "verbosity",
}
"""The fields of Chat Completions; ``maxTokens`` has another name at some providers."""

RESPONSES_FIELDS: Final[Mapping[str, str]] = {
    "maxTokens": "max_output_tokens",
    "parallelToolCalls": "parallel_tool_calls",
    "reasoningEffort": "reasoning.effort",
    "reasoningSummary": "reasoning.summary",
    "temperature": "temperature",
    "topP": "top_p",
    "verbosity": "text.verbosity",
}
"""The fields of the Responses API; a dot is before a field of a field."""


def not_taken(settings: Iterable[str], dialect: Dialect) -> list[str]:
    """The settings for which a dialect has no field.

    >>> not_taken(["seed", "topP"], "responses"), not_taken(["reasoningSummary"], "tools")
    (['seed'], ['reasoningSummary'])
    """
    fields, others = RESPONSES_FIELDS, CHAT_FIELDS
    if dialect != "responses":
        fields, others = others, fields
    return [name for name in settings if name in others and name not in fields]
