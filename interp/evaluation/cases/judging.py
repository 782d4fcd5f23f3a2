"""Judges a run by its case."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from warnings import warn

from attrs import evolve, frozen

from gram import Diagnostic, Pattern
from gram.errors import expect
from gram.words import did_you_mean

from ...concurrency import waited_for
from ...errors import ConfigurationError, ValidationError
from ...machine import AgentResponse
from ...programs import callable_in
from .case import Case
from .checks import Checks, require_checks
from .findings import FINDERS, Seen
from .rubrics import RubricJudge


@frozen
class Failure:
    """Something in which a run is not what its case expects.

    Attributes:
        part: what was compared: the name of the expectation, such as ``calls``.
        message: what is different.
        check: the name of the check that failed, or None.
    """

    part: str
    message: str
    check: str | None = None

    def __str__(self) -> str:
        return self.message


def judge(
    case: Case,
    response: AgentResponse,
    checks: Checks = {},  # noqa: B006  # it is only read
    *,
    by: RubricJudge | None = None,
    seconds: float | None = None,
    cost: float | None = None,
) -> tuple[Failure, ...]:
    """In what a response is not as its case expects; empty if it passes.

    See `Case` for all that may be expected. What is not known, such as a cost, does not pass.

    - ``expected``: a text is compared character by character. Where the agent declares a type of
      answer, or another JSON value is expected, the answer is compared as data: the order of keys
      does not matter, and 1 is 1.0.
    - ``matches``: searched in linear time, without look-around and back-references.
    - ``json``: a key is one of the answer, or a path such as ``items[0].price``; an object has at
      least these keys, an array these items.
    - ``calls``: all calls, in this order, failed ones too. A name stands for a call with any
      arguments; arguments are compared as data and whole, defaults included.

    Args:
        case: the case.
        response: the response to its input.
        checks: the user's functions by name.
        by: the judge of rubrics.
        seconds: how long the run took, if that is known.
        cost: what it cost in US dollars, if that is known.

    Raises:
        ArgumentError: an argument is of the wrong type.
        ValidationError: there is no check of a name, see `require_checks`.
        ConfigurationError: the case has a rubric, and there is no judge.

    Warns:
        UserWarning: the case expects nothing, so that any answer passes.
    """
    expect(case, Case, "case", by="judge")
    expect(response, AgentResponse, "response", by="judge")
    if case.expects_nothing:
        warn(f"any answer passes case {case.name}: it expects nothing", stacklevel=2)
    require_checks([case], checks)
    seen = Seen(case, response, checks, seconds, cost)
    if case.rubrics:
        if by is None:
            raise ConfigurationError(f"case {case.name} has a rubric: judge(…, by=RubricJudge())")
        seen = evolve(seen, verdicts=waited_for(partial(by.verdicts, case, response)))
    return failures_of(seen)


def failures_of(seen: Seen) -> tuple[Failure, ...]:
    """In what a run is not what its case expects; what cannot be known is a failure."""
    failures = [
        Failure(name, each.said, each.check)
        for name, wanted in seen.case.expectations.items()
        for each in FINDERS[name](wanted, seen)
        if not each.holds
    ]
    return tuple({each.message: each for each in reversed(failures)}.values())[::-1]


def require_tools(cases: Iterable[tuple[Case, Sequence[Pattern]]]) -> None:
    """Make sure that every tool that cases name can be called, before they are run.

    Args:
        cases: the cases, each with the programs that it is run with; one has to have the tool.

    Raises:
        ValidationError: no program has a tool; ``faults`` has all of them, with places.
    """
    faults: list[Diagnostic] = []
    for case, programs in cases:
        known = dict.fromkeys(name for each in programs for name in callable_in(each))
        for column, name in dict.fromkeys((c, each.name) for c, each in case.named("calls")):
            if name not in known:
                tools = f"the tools are {', '.join(known)}" if known else "there are no tools"
                hint = did_you_mean(name, known) or tools
                agents = " or ".join(dict.fromkeys(each.value.identity for each in programs))
                message = f"no tool of {agents} is named {name}"
                faults.append(case.fault("unknown-tool", message, column, hint))
    if faults:
        raise ValidationError.of(faults)
