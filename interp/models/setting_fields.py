"""The fields of requests that the settings of a model are written to, in each dialect.

``strictTools`` and ``toolChoice`` change how the tools are sent, and ``extraBody`` has fields with
their own names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from .providers import Dialect

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
