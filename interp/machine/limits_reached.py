"""Which limit a run has reached, and how it is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from attrs import evolve

from gram.words import counted
from lenses_ext.language import wire_name

from .limits import Limits, dollars, shown_price
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
    if limits.cost is not None and run.cost >= dollars(limits.cost):
        return cost_is_reached(run, None)
    return None


def cost_is_reached(run: RunContext, expected: Decimal | None) -> str:
    """What to say of a run that has no money for another request."""
    spent, limit = shown_price(run.cost), shown_price(dollars(run.limits.cost or 0))
    more = f", and the next request may cost ${shown_price(expected)}" if expected else ""
    return f"${spent} of ${limit}{more} (limit: cost)"


def rounds_reached(limits: Limits, frame: AgentFrame) -> str | None:
    """The limit of an agent's own rounds, if it has been reached."""
    # turns that asked for another answer, or for summaries, have no calls
    rounds = frame.turn - frame.corrected - frame.summaries
    if rounds < limits.iterations:
        return None
    return f"{counted(limits.iterations, 'round')} of tool calls (limit: iterations)"


def spent(run: RunContext, usage: Usage, names: Sequence[str]) -> RunContext:
    """The same with more used: the tokens of a reply, and the tools that are called."""
    known = evolve(
        usage, input_tokens=usage.input_tokens or 0, output_tokens=usage.output_tokens or 0
    )
    called = Counter(dict(run.called))
    called.update(map(wire_name, names))
    return evolve(
        run,
        usage=run.usage + usage,
        counted=run.counted + known,
        calls=run.calls + len(names),
        called=tuple(sorted(called.items())),
    )


def is_under_an_agent(place: At) -> bool:
    """Whether the outermost frame of a place is an agent's: a turn, and the index of a call."""
    return all(isinstance(part, int) for part in place[:2])


def time_is_up(limits: Limits) -> str:
    """What to say of a run whose time is up."""
    return f"{counted(limits.run_seconds or 0, 'second')} (limit: run_seconds)"
