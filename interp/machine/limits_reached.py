"""Which limit a run has reached, and how it is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from attrs import evolve

from gram import counted
from lenses_ext import wire_name

from .limits import Limits
from .messages import Usage

if TYPE_CHECKING:
    from .effects import At
    from .frames import AgentFrame
    from .run_context import RunContext


def limit_reached(run: RunContext) -> str | None:
    """The limit, shared by all of a run, that keeps more from being begun, or None."""
    limits, used_so_far = run.limits, run.counted
    if run.calls > limits.tool_calls:
        return f"{counted(limits.tool_calls, 'tool call')} (limit: tool_calls)"
    if run.calls > limits.calls_per_tool:
        most, tool = max((count, name) for name, count in run.called)
        if most > limits.calls_per_tool:
            return f'{counted(limits.calls_per_tool, "call")} of "{tool}" (limit: calls_per_tool)'
    for name, used in (
        ("tokens", used_so_far.total_tokens),
        ("input_tokens", used_so_far.input_tokens),
        ("output_tokens", used_so_far.output_tokens),
    ):
        if used is not None and used >= getattr(limits, name):
            return f"{used} of {counted(getattr(limits, name), 'token')} (limit: {name})"
    return None


def rounds_reached(limits: Limits, frame: AgentFrame) -> str | None:
    """The limit of an agent's own rounds, if it has been reached."""
    rounds = frame.turn - frame.corrected  # a turn without calls, which asked for another answer
    if rounds < limits.iterations:
        return None
    return f"{counted(limits.iterations, 'round')} of tool calls (limit: iterations)"


def spent(run: RunContext, usage: Usage, names: Sequence[str]) -> RunContext:
    """The same with more used: the tokens of a reply, and the tools that are called."""
    used, counted_so_far = _with_tokens(run, usage)
    if not names:
        is_same = used is run.usage and counted_so_far is run.counted
        return run if is_same else evolve(run, usage=used, counted=counted_so_far)
    called = dict(run.called)
    for name in map(wire_name, names):
        called[name] = called.get(name, 0) + 1
    return evolve(
        run,
        usage=used,
        counted=counted_so_far,
        calls=run.calls + len(names),
        called=tuple(sorted(called.items())),
    )


def _with_tokens(run: RunContext, usage: Usage) -> tuple[Usage, Usage]:
    """The tokens so far with those of a reply, and what the limits are about."""
    if usage.input_tokens is None and usage.output_tokens is None:
        return _UNKNOWN, run.counted
    used = run.usage + usage
    if usage.total_tokens is None:
        usage = Usage(usage.input_tokens or 0, usage.output_tokens or 0)
    elif run.counted is run.usage:
        return used, used
    return used, run.counted + usage


_UNKNOWN: Final = Usage()


def is_under_an_agent(place: At) -> bool:
    """Whether the outermost frame of a place is an agent's: a turn, and the index of a call."""
    return all(isinstance(part, int) for part in place[:2])


def time_is_up(limits: Limits) -> str:
    """What to say of a run whose time is up."""
    return f"{counted(limits.run_seconds or 0, 'second')} (limit: run_seconds)"
