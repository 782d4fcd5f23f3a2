"""Reading a program: the agent of a file, ready to run."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from gram import Fault, Pattern
from gram.faults import fault
from gram.files import PathOrFile, load as load_patterns
from gram.near import did_you_mean
from lenses_ext import find_agents, resolve_references

from .errors import ValidationError


def load(file: PathOrFile, agent: str | None = None) -> Pattern:
    """The agent of a file, with the tools and agents it names by reference put in their place.

    Args:
        file: a path, or an open file (text or binary).
        agent: the name of the agent; without it, the only one.

    Raises:
        OSError: the file cannot be read.
        GramDecodeError: it is not gram.
        ValidationError: it has no agent, or a reference in it names nothing (with ``faults``);
            or it has several agents and none is named, or none of this name (without).
    """
    return choose_agent(load_patterns(file), agent)


def choose_agent(patterns: Iterable[Pattern], agent: str | None = None) -> Pattern:
    """The agent of a document's patterns; see `load`."""
    patterns = tuple(patterns)
    agents = find_agents(patterns)
    if not agents:
        raise ValidationError.of([_no_agent(patterns)])
    names = [each.value.identity for each in agents]
    if agent is None and len(agents) > 1:
        raise ValidationError(
            f"the program has {len(agents)} agents, name one of them: {', '.join(names)}"
        )
    if agent is not None and agent not in names:
        hint = did_you_mean(agent, names) or f"it has {', '.join(names)}"
        raise ValidationError(f'the program has no agent "{agent}"; {hint}')
    chosen = agents[0] if agent is None else agents[names.index(agent)]
    resolved, faults = resolve_references(chosen, patterns)
    if faults:
        raise ValidationError.of(faults)
    return resolved


def _no_agent(patterns: tuple[Pattern, ...]) -> Fault:
    message = "there is no agent here: none of the patterns has the label Agent"
    for pattern in patterns:
        for label in sorted(pattern.value.labels):
            if get_close_matches(label, ["Agent"], n=1, cutoff=0.5):
                hint = f"did you mean Agent instead of {label}?"
                return fault("no-agent", message, pattern, "labels", hint=hint)
    if patterns:
        return fault("no-agent", message, patterns[0], hint="write [name:Agent {…}]")
    return Fault("no-agent", "error", "the program is empty", hint="write [name:Agent {…}]")
