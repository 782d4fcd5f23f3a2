"""How much a run may do."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Literal, TypeAlias, Union

from attrs import evolve, field, fields, frozen

from gram import ArgumentError
from gram.words import did_you_mean

from ..errors import ValidationError


def _count(least: int) -> Any:
    def check(_: Limits, attribute: Any, value: object) -> None:
        if type(value) is not int or value < least:
            _refuse(attribute.name, f"an integer of at least {least}", value)

    return check


def _amount(what: str) -> Any:
    def check(_: Limits, attribute: Any, value: Any) -> None:
        if value is not None and (type(value) not in (int, float) or not _is_positive(value)):
            _refuse(attribute.name, f"{what} above 0, or None", value)

    return check


def _is_positive(value: float) -> bool:
    try:
        return 0 < float(value) < float("inf")
    except OverflowError:  # an integer beyond all floats
        return False


def _choice(_: Limits, attribute: Any, value: object) -> None:
    if value not in ("raise", "answer"):
        _refuse(attribute.name, '"raise" or "answer"', value)


def _refuse(name: str, expected: str, value: object) -> None:
    try:
        found = repr(value)
    except ValueError:  # Python does not write integers of thousands of digits
        found = "a number that is too long"
    raise ValidationError(f"the limit {name} is {expected}, found {found}")


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
