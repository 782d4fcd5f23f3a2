"""The checks of ``gram check``: those of programs, and those of models and providers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import date
from functools import cache
from typing import Final

from gram import Check, Diagnostic, TreePath, pattern_at, walk
from gram.checks import Reading
from gram.words import counted, did_you_mean
from lenses_ext import FocusError, Model, agent_models, agent_settings, is_agent, view
from lenses_ext.names import ProgramLike, diagnose
from lenses_ext.rules import LINT_CHECKS, NAMESAKES, PROGRAM_CHECKS, level_check, level_problems

from ..errors import ConfigurationError, ModelError
from .connect import Offered, offered_models
from .providers import OFFLINE, find_provider, not_taken, unknown_provider

RETIRED: Final = {  # by OpenAI, on a day that has come or will
    "gpt-3.5-turbo": "2026-10-23",
    "gpt-4": "2026-10-23",
    "gpt-4o": "2027-01-14",
    "gpt-4o-mini": "2027-01-14",
}


def check_program(program: ProgramLike, *more: Check) -> tuple[Diagnostic, ...]:
    """The faults of a program and of its agents, in the order of its files and their texts."""
    return diagnose(program, (*PROGRAM_CHECKS, *MODEL_CHECKS, *more))


def lint_program(program: ProgramLike, *, today: date) -> tuple[Diagnostic, ...]:
    """What is doubtful in a program today, in the order of its files and their texts."""
    return diagnose(program, (*LINT_CHECKS, _retiring(today), level_check(every_row())))


def problems_of_levels(levels: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """What is wrong with what a project says of codes: the code, and the problem in words."""
    return level_problems(levels, every_row())


def every_row() -> tuple[Check, ...]:
    """All rows of ``gram check`` and ``gram lint`` that need no network."""
    told = (*PROGRAM_CHECKS, *MODEL_CHECKS, NAMESAKES, *LINT_CHECKS)
    return (*told, _retiring(date.min), level_check(()))


def _retiring(today: date) -> Check:
    def retiring_model(reading: Reading) -> Iterator[Diagnostic]:
        """A model that retires within 90 days."""
        for path, model in reading.once(models_in):
            if day := _retires(model):
                days = (date.fromisoformat(day) - today).days
                if 0 <= days <= 90:
                    said = f"{model} retires in {counted(days, 'day')}, on {day}"
                    yield Diagnostic.found(said, path, "model")

    return Check("retiring-model", "warning", retiring_model)


def unknown_model_provider(reading: Reading) -> Iterator[Diagnostic]:
    """Find models with an unknown provider; the program may be run with another model."""
    for path, model in reading.once(models_in):
        if find_provider(model) is None:
            yield Diagnostic.found(unknown_provider(model), path, "model")


def retired_model(reading: Reading) -> Iterator[Diagnostic]:
    """Find models that OpenAI retires."""
    for path, model in reading.once(models_in):
        if day := _retires(model):
            yield Diagnostic.found(f"{model} retires on {day}", path, "model")


def _retires(model: Model) -> str | None:
    return RETIRED.get(model.name) if model.provider.lower() == "openai" else None


def setting_not_taken(reading: Reading) -> Iterator[Diagnostic]:
    """Find settings that a model's provider does not take, or its dialect has no field for."""
    for path, model in reading.once(models_in):
        with suppress(FocusError):
            provider = find_provider(model)
            settings = view(agent_settings, pattern_at(reading.patterns, path))
            if provider is None or not settings:
                continue
            others = [name for name in provider.not_taken if name in settings]
            for name in (*not_taken(settings, provider.dialect), *others):
                said = f"{model.provider} does not take {name}: the setting is left out"
                yield Diagnostic.found(said, path, "settings", keys=(name,))


def models_in(reading: Reading) -> tuple[tuple[TreePath, Model], ...]:
    """The models of the agents, except the offline model and those that cannot be read."""
    found: list[tuple[TreePath, Model]] = []
    for path, pattern in walk(reading.patterns):
        if is_agent(pattern):
            with suppress(FocusError):  # validation reports it
                found += ((path, model) for model in view(agent_models, pattern))
    return tuple((path, model) for path, model in found if model.provider != OFFLINE.provider)


MODEL_CHECKS: Final = (
    Check("unknown-provider", "warning", unknown_model_provider),
    Check("retired-model", "warning", retired_model),
    Check("setting-not-taken", "warning", setting_not_taken),
)


def offered_check(tell: Callable[[str], None]) -> Check:
    """The check that servers offer the models of programs; each server is asked once.

    ``tell`` is called with the name of each provider before its server is asked.
    """

    @cache
    def offered(provider: str) -> Offered | str:
        tell(provider)
        try:
            return offered_models(provider)
        except (ConfigurationError, ModelError) as error:
            return str(error)

    def model_not_offered(reading: Reading) -> Iterator[Diagnostic]:
        """Find models that their servers do not offer, or of which that cannot be told."""
        for path, model in reading.once(models_in):
            if (provider := find_provider(model)) is None:
                continue  # which is reported already
            found = offered(provider.name)
            if isinstance(found, str):
                reason, _, help_ = found.partition("\n  hint: ")
                said = f"it cannot be told whether {model} is offered: {reason}"
                yield Diagnostic.found(said, path, "model", hint=help_ or None)
            elif not found.has(model.name):
                said = f"{found.where} does not offer {model.name}"
                hint = did_you_mean(model.name, found.names)
                hint = hint or f"gram models --offered {model.provider} lists what it offers"
                yield Diagnostic.found(said, path, "model", hint=hint)

    return Check("model-not-offered", "error", model_not_offered)
