"""All that can be said of a program from its file alone: the checks behind ``gram check``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gram import Document, Fault, Pattern, check
from gram.checks.reading import Scope
from gram.faults import fault
from lenses_ext import (
    FocusError,
    Model,
    agent_model,
    find_agents,
    validate_program,
    view,
)
from lenses_ext.labels import is_answer, is_tool
from lenses_ext.program import UNDEFINED_REFERENCE
from lenses_ext.signatures.type_names import RESERVED

from .providers import OFFLINE, find_provider, unknown_provider

RETIRED: Final = {
    "gpt-3.5-turbo": "2026-10-23",
    "gpt-4": "2026-10-23",
    "gpt-4o": "2027-01-14",
    "gpt-4o-mini": "2027-01-14",
}
"""OpenAI's models that are gone or going, and the day of it."""


def check_program(document: Document) -> tuple[Fault, ...]:
    """The faults of a document and of its agents, in the order of the text.

    A provider or model that cannot be asked is a warning: the program may be run with another.
    """
    language = list(validate_program(document.patterns))
    for agent in find_agents(document.patterns):
        language.extend(_model_faults(agent))
    told = {each.span for each in language if each.code == UNDEFINED_REFERENCE}
    notation = [
        each
        for each in check(document, scopes=_scope_of)
        if each.code != "dangling-reference" or each.span not in told
    ]
    return tuple(sorted([*notation, *language], key=lambda each: each.span or (0, 0)))


def _scope_of(pattern: Pattern) -> Scope:
    """The names of a tool's parameters and types are its own; those of a type's fields private."""
    if is_tool(pattern):
        return "own"
    is_type = is_answer(pattern) or pattern.value.labels & RESERVED
    return "private" if is_type else "around"


def _model_faults(agent: Pattern) -> Iterator[Fault]:
    try:
        model: Model = view(agent_model, agent)
    except FocusError:
        return  # validation has said so
    if model.provider == OFFLINE.provider:
        return
    provider = find_provider(model)
    if provider is None:
        message = unknown_provider(model)
        yield fault("unknown-provider", message, agent, "model", severity="warning")
    elif provider.name == "OpenAI" and model.name in RETIRED:
        message = f"{model} retires on {RETIRED[model.name]}"
        yield fault("retired-model", message, agent, "model", severity="warning")
