"""The checks of ``gram check``: those of programs, and those of models and providers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from gram import Check, Document, Fault, Finding, Reading, TreePath, check, walk
from lenses_ext import (
    FocusError,
    Model,
    agent_model,
    is_agent,
    program_checks,
    program_scopes,
    view,
)

from ..errors import ConfigurationError
from .providers import OFFLINE, Provider, find_provider, unknown_provider

RETIRED: Final = {
    "gpt-3.5-turbo": "2026-10-23",
    "gpt-4": "2026-10-23",
    "gpt-4o": "2027-01-14",
    "gpt-4o-mini": "2027-01-14",
}
"""Models that OpenAI no longer serves, or will stop serving, with the date."""


def check_program(document: Document) -> tuple[Fault, ...]:
    """The faults of a document and of its agents, in the order of the text."""
    return check(document, checks=_checks, scopes=program_scopes)


def _checks(reading: Reading) -> tuple[Check, ...]:
    return (*program_checks(reading), *MODEL_CHECKS)


def unknown_model_provider(reading: Reading) -> Iterator[Finding]:
    """Find models with an unknown provider; the program may be run with another model."""
    with suppress(ConfigurationError):  # `unusable_providers_file` reports it
        known: dict[str, Provider | None] = {}
        for path, model in reading.once(_models):
            if model.provider not in known:
                known[model.provider] = find_provider(model)
            if known[model.provider] is None:
                yield Finding(unknown_provider(model), path, "model")


def retired_model(reading: Reading) -> Iterator[Finding]:
    """Find models that OpenAI retires."""
    for path, model in reading.once(_models):
        if model.provider.lower() == "openai" and model.name in RETIRED:
            yield Finding(f"{model} retires on {RETIRED[model.name]}", path, "model")


def unusable_providers_file(reading: Reading) -> Iterator[Finding]:
    """Report a providers file that cannot be read; the program itself may be valid."""
    for path, model in reading.once(_models)[:1]:
        try:
            find_provider(model)
        except ConfigurationError as error:
            yield Finding(str(error), path, "model")


def _models(reading: Reading) -> tuple[tuple[TreePath, Model], ...]:
    """The models of the agents, except the offline model and those that cannot be read."""
    return tuple(_all_models(reading))


def _all_models(reading: Reading) -> Iterator[tuple[TreePath, Model]]:
    for path, pattern in walk(reading.patterns):
        if is_agent(pattern):
            try:
                model = view(agent_model, pattern)
            except FocusError:
                continue  # validation reports it
            if model.provider != OFFLINE.provider:
                yield path, model


MODEL_CHECKS: Final = (
    Check("unknown-provider", "warning", unknown_model_provider),
    Check("providers-file", "warning", unusable_providers_file),
    Check("retired-model", "warning", retired_model),
)
"""The checks of models and their providers."""
