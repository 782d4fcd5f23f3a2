"""What all agents and workflows of one run share: the program, what they may do, what they used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, Literal, TypeAlias, Union

from attrs import evolve, field, fields, frozen
from pyrsistent import PMap, pmap

from gram import ArgumentError, Pattern, Value
from gram.words import counted, did_you_mean
from lenses_ext import Model
from lenses_ext.language import wire_name

from ..errors import ValidationError
from ..files import File
from ..json_text import JsonText
from ..shown import short_repr
from .approval import ApprovalPolicy, allow_all
from .messages import Usage


def _limit(expected: str, fits: Callable[[Any], bool]) -> Any:
    def check(_: Limits, attribute: Any, value: object) -> None:
        if not fits(value):
            try:
                found = repr(value)
            except ValueError:  # Python does not write integers of thousands of digits
                found = "a number that is too long"
            raise ValidationError(f"the limit {attribute.name} is {expected}, found {found}")

    return check


def _count(least: int) -> Any:
    expected = f"an integer of at least {least}"
    return _limit(expected, lambda value: type(value) is int and value >= least)


def _amount(what: str) -> Any:
    def fits(value: Any) -> bool:
        is_number = type(value) in (int, float)
        return value is None or (is_number and 0 < value <= sys.float_info.max)

    return _limit(f"{what} above 0, or None", fits)


_choice = _limit('"raise" or "answer"', lambda value: value in ("raise", "answer"))


@frozen
class Limits:
    """The limits of one run. Reaching one raises LimitError, which keeps the state.

    Tokens are counted as the model reports them, and looked at before more tools are run: an
    answer that has come is never thrown away. The seconds of a run count from the call that begins
    or resumes it, without the time that people take to approve.

    Attributes:
        iterations: rounds of tool calls of each agent; one more reply that calls tools is over
            the limit.
        tool_calls: calls of tools in all, by all agents and workflows of the run.
        calls_per_tool: calls of any one tool.
        tokens: tokens in all, input and output together.
        input_tokens: tokens of the requests.
        output_tokens: tokens of the replies.
        tool_seconds: how long one tool may take; its call fails then, which the model is told. A
            function that is not a coroutine runs in a thread, which is left behind; waiting for
            a thread does not count. None is no limit, and `run` calls tools in its own thread.
        run_seconds: how long a run may take; None is no limit.
        cost: how many US dollars replies may cost, of all models of the run; None is no limit.
        on_limit: ``raise`` LimitError, or ask once more without tools and give that ``answer``.
            When the time of the run is up, it always raises: no time is left to ask.

    Raises:
        ValidationError: a limit is not what it should be.
    """

    iterations: int = field(default=10, validator=_count(0))
    tool_calls: int = field(default=100, validator=_count(0))
    calls_per_tool: int = field(default=100, validator=_count(0))
    tokens: int = field(default=1_000_000, validator=_count(1))
    input_tokens: int = field(default=1_000_000, validator=_count(1))
    output_tokens: int = field(default=1_000_000, validator=_count(1))
    tool_seconds: float | None = field(default=30, validator=_amount("a number of seconds"))
    run_seconds: float | None = field(default=600, validator=_amount("a number of seconds"))
    on_limit: Literal["raise", "answer"] = field(default="raise", validator=_choice)
    cost: float | None = field(default=None, validator=_amount("an amount of US dollars"))


LimitsLike: TypeAlias = Union[Limits, Mapping[str, Any]]
"""Limits, or some of them by name: ``{"iterations": 3}``."""


def limits_of(given: LimitsLike | None, others: Limits = Limits()) -> Limits | None:
    """The limits that a function was given; those that a mapping does not name are others.

    Raises:
        ArgumentError: there is no limit of a name.
        ValidationError: a limit is not what it should be.

    >>> limits_of({"iterations": 3}) == Limits(iterations=3)
    True
    """
    if given is None or isinstance(given, Limits):
        return given
    names = [each.name for each in fields(Limits)]
    if unknown := [name for name in given if name not in names]:
        hint = did_you_mean(str(unknown[0]), names) or f"the limits are {', '.join(names)}"
        raise ArgumentError(f"limits: there is no limit {unknown[0]!r}; {hint}")
    return evolve(others, **given)


def dollars(amount: object) -> Decimal:
    """An amount as an exact decimal, so that sums do not depend on their order.

    >>> dollars(0.1) + dollars("0.2")
    Decimal('0.3')
    """
    return amount if isinstance(amount, Decimal) else Decimal(str(amount))


def shown_price(price: Decimal) -> str:
    """A price in dollars, in cents or, when it is small, with two digits that count.

    >>> shown_price(Decimal("1.2345")), shown_price(Decimal("0.000080123")), shown_price(Decimal(0))
    ('1.23', '0.00008', '0.00')
    >>> shown_price(Decimal("0.6"))
    '0.60'
    """
    if not price or price >= Decimal("0.1"):
        return f"{price:.2f}"
    return f"{price.quantize(Decimal(10) ** (price.adjusted() - 1)):f}".rstrip("0")


NOTHING_USED: Final = Usage(0, 0)


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
    usage: Usage = NOTHING_USED
    counted: Usage = NOTHING_USED
    cost: Decimal = Decimal(0)
    calls: int = 0
    called: tuple[tuple[str, int], ...] = ()
    passed: frozenset[Model] = frozenset()
    limit: str | None = None
    run_id: str = field(default="", eq=False)
    given: JsonText = field(default=JsonText('""'), eq=False, repr=short_repr)
    attachments: tuple[File, ...] = field(default=(), eq=False)
    once: frozenset[str] = field(default=frozenset(), eq=False)

    def spent(self, usage: Usage, names: Sequence[str]) -> RunContext:
        """The same with more used: the tokens of a reply, and the tools that are called."""
        known = Usage(usage.input_tokens or 0, usage.output_tokens or 0)
        called = dict(self.called)
        for name in map(wire_name, names):
            called[name] = called.get(name, 0) + 1
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
        for used, allowed, limit in (
            (self.counted.total_tokens, limits.tokens, "tokens"),
            (self.counted.input_tokens, limits.input_tokens, "input_tokens"),
            (self.counted.output_tokens, limits.output_tokens, "output_tokens"),
        ):
            if (used or 0) >= allowed:
                return f"{used} of {counted(allowed, 'token')} (limit: {limit})"
        is_spent = limits.cost is not None and self.cost >= dollars(limits.cost)
        return self.cost_is_reached(None) if is_spent else None

    def cost_is_reached(self, expected: Decimal | None) -> str:
        """What to say of a run that has no money for another request."""
        spent, limit = shown_price(self.cost), shown_price(dollars(self.limits.cost or 0))
        more = f", and the next request may cost ${shown_price(expected)}" if expected else ""
        return f"${spent} of ${limit}{more} (limit: cost)"
