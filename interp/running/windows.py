"""The context windows of models, where conversations are summarised before they are too long."""

from __future__ import annotations

from gram import Pattern, walk
from gram.extras import install
from lenses_ext import agent_models, agent_settings, each_agent, over, put, view
from lenses_ext.weak_cache import memo

from ..errors import ConfigurationError
from ..models import context_window, find_provider


def with_windows(program: Pattern) -> Pattern:
    """A program whose agents that summarise say how long their conversations may be.

    What is not written comes from the row of the model's provider or from the package of prices,
    and is written into the program that is run, so that its record has it.

    Args:
        program: an agent or workflow.

    Raises:
        ConfigurationError: the window of a model is not known.
    """
    return over(each_agent, _with_window, program) if _summarises(program) else program


@memo  # most programs have no such agent, and each run asks
def _summarises(program: Pattern) -> bool:
    """Whether an agent of a program says when to summarise."""
    return any(
        "compactAt" in str(each.value.properties.get("settings")) for _, each in walk(program)
    )


def _with_window(agent: Pattern) -> Pattern:
    settings = view(agent_settings, agent)
    if not settings or "compactAt" not in settings or "contextWindow" in settings:
        return agent
    windows = []
    for model in view(agent_models, agent):
        row = find_provider(model)
        window = (row and row.context_window) or context_window(model)
        if window is None:
            raise ConfigurationError(
                f"compactAt is a share of the context window, and that of {model} is not known\n"
                f"  hint: write contextWindow beside it, or {install('prices')}"
            )
        windows.append(window)
    return put(agent_settings, settings.with_changes({"contextWindow": min(windows)}), agent)
