"""What all agents and workflows of one run share: the program, what they may do, what they used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from attrs import evolve, field, frozen
from pyrsistent import PMap, pmap

from gram import Pattern, Value
from gram.words import counted
from lenses_ext import Model
from lenses_ext.language import wire_name

from ..files import File
from ..json_text import JsonText, write_json
from ..shown import short_repr
from .approval import ApprovalPolicy, allow_all
from .limits import Limits, dollars, shown_price
from .messages import Usage

_NOTHING: Final = Usage(0, 0)
_NO_TEXT: Final = write_json("")


@frozen
class RunContext:
    """What is the same for all frames of a run.

    Attributes:
        program: the agent or workflow that is run, with the agents that are handed over to.
        model: the model to ask; None for those that the program names.
        limits: how much the run may do.
        policy: which tools it may run, and which it asks about.
        settings: settings of the models instead of those that the program has; None leaves out.
        check_results: whether results have to be of the types that the program declares.
        usage: the tokens so far, unknown once a reply did not say.
        counted: the tokens that replies have reported, which the limits are about.
        cost: what replies have cost, in US dollars, as their events say.
        calls: how many tools have been called.
        called: how often each of them, by the name that models know, in the order of the names.
        passed: models that could not be asked, where another of their agent was: those come first.
        limit: the limit at which the whole run has stopped, or None.
        run_id: a name for the run, drawn by whoever begins it; it makes the keys of tool calls
            differ between runs. It is not compared: two runs may end in equal States.
        given: what `start` was given, as JSON text; not compared.
        attachments: the files that `start` was given with it; not compared.
        once: the names of the tools whose calls are never repeated by themselves; not compared.
    """

    program: Pattern
    model: Model | None
    limits: Limits
    policy: ApprovalPolicy = allow_all
    settings: PMap[str, Value | None] = pmap()
    check_results: bool = True
    usage: Usage = _NOTHING
    counted: Usage = _NOTHING
    cost: Decimal = Decimal(0)
    calls: int = 0
    called: tuple[tuple[str, int], ...] = ()
    passed: frozenset[Model] = frozenset()
    limit: str | None = None
    run_id: str = field(default="", eq=False)
    given: JsonText = field(default=_NO_TEXT, eq=False, repr=short_repr)
    attachments: tuple[File, ...] = field(default=(), eq=False)
    once: frozenset[str] = field(default=frozenset(), eq=False)

    def spent(self, usage: Usage, names: Sequence[str]) -> RunContext:
        """The same with more used: the tokens of a reply, and the tools that are called."""
        known = evolve(
            usage, input_tokens=usage.input_tokens or 0, output_tokens=usage.output_tokens or 0
        )
        called = Counter(dict(self.called))
        called.update(map(wire_name, names))
        return evolve(
            self,
            usage=self.usage + usage,
            counted=self.counted + known,
            calls=self.calls + len(names),
            called=tuple(sorted(called.items())),
        )

    def limit_reached(self) -> str | None:
        """The limit, shared by all of the run, that keeps more from being begun, or None."""
        limits = self.limits
        if self.calls > limits.tool_calls:
            return f"{counted(limits.tool_calls, 'tool call')} (limit: tool_calls)"
        most, tool = max(((count, name) for name, count in self.called), default=(0, ""))
        if most > limits.calls_per_tool:
            return f'{counted(limits.calls_per_tool, "call")} of "{tool}" (limit: calls_per_tool)'
        for name in ("total_tokens", "input_tokens", "output_tokens"):
            limit = name.removeprefix("total_")
            used, allowed = getattr(self.counted, name), getattr(limits, limit)
            if used >= allowed:
                return f"{used} of {counted(allowed, 'token')} (limit: {limit})"
        is_spent = limits.cost is not None and self.cost >= dollars(limits.cost)
        return self.cost_is_reached(None) if is_spent else None

    def cost_is_reached(self, expected: Decimal | None) -> str:
        """What to say of a run that has no money for another request."""
        spent, limit = shown_price(self.cost), shown_price(dollars(self.limits.cost or 0))
        more = f", and the next request may cost ${shown_price(expected)}" if expected else ""
        return f"${spent} of ${limit}{more} (limit: cost)"
