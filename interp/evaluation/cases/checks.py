"""Checks: the user's functions that judge a response."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from gram import ArgumentError, Diagnostic
from gram.errors import expect
from gram.words import did_you_mean

from ...errors import ValidationError, said_by
from ...machine import AgentResponse
from ...tools import is_from_outside, returned_unfinished
from .case import Case

Check: TypeAlias = Callable[..., Any]
"""A user's function that judges a response: ``check(response)`` or ``check(response, case)``.

What it returns counts as True or False; a text that is not empty says why the answer is no, and so
does an AssertionError. None is no answer: a check that forgets to return passes nothing."""

Checks: TypeAlias = Mapping[str, Check]


def require_checks(cases: Iterable[Case], checks: Checks) -> None:
    """Make sure that there is a function for every check that cases name, before they are run.

    Raises:
        ArgumentError: a check is no function, or a coroutine or generator function.
        ValidationError: there is no check of a name; ``faults`` has all of them, with places.
    """
    expect(checks, Mapping, "checks", by="judge")
    for name, check in checks.items():
        kind = returned_unfinished(check) if callable(check) else type(check).__name__
        if kind is not None:
            raise ArgumentError(f"check {name} must be a plain function, got {kind}")
    faults: list[Diagnostic] = []
    for case in cases:
        for column, name in case.named("checks"):
            if name not in checks:
                known = f"the checks are {', '.join(sorted(checks)) or 'none'}"
                hint = did_you_mean(name, checks) or known
                message = f"there is no check {name}"
                faults.append(case.fault("unknown-check", message, column, hint))
    if faults:
        raise ValidationError.of(faults)


def answer_of(
    name: str, check: Check, response: AgentResponse, case: Case
) -> tuple[bool | None, str]:
    """Whether a check says yes, and what is to be said of it; None where it does not answer."""
    try:
        given = (response, case) if takes_case(check) else (response,)
        answer = check(*given)
        is_yes = not isinstance(answer, str) and bool(answer)
    except AssertionError as error:
        return False, f"check {name} fails" + (f": {error}" if str(error) else "")
    except BaseException as error:  # user code may raise anything
        if is_from_outside(error):
            raise
        return None, f"check {name} raised {said_by(error)}"
    if answer is None:
        return None, f"check {name} returned None: return True or False"
    if isinstance(answer, str) and answer:
        return False, f"check {name} fails: {answer}"
    return is_yes, f"check {name} {'passes' if is_yes else 'fails'}"


def takes_case(function: Callable[..., Any]) -> bool:
    """Whether a check or a metric takes the case, too: in a second parameter."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [
        each.default is each.empty or each.name == "case"
        for each in parameters
        if each.kind in positional
    ]
    return any(needed[1:])
