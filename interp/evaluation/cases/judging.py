"""Judges a run by its case: the answer, the calls, the user's checks."""

from __future__ import annotations

import inspect
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import unified_diff
from itertools import zip_longest
from typing import Any, Literal, TypeAlias
from warnings import warn

from attrs import frozen

from gram import ArgumentError, Diagnostic, Pattern
from gram.errors import expect
from gram.suggestions import did_you_mean
from lenses_ext.schemas import same_json

from ...errors import ValidationError, said_by
from ...json_text import Json, read_json, write_json
from ...machine import AgentResponse, ToolInvocation, call_text
from ...programs import callable_in
from ...tools import is_from_outside, returned_unfinished
from .case import Case, ExpectedCall

Check: TypeAlias = Callable[..., Any]
"""A user's function that judges a response: ``check(response)`` or ``check(response, case)``.

What it returns counts as True or False; a text that is not empty says why the answer is no, and so
does an AssertionError. None is no answer: a check that forgets to return passes nothing."""

Checks: TypeAlias = Mapping[str, Check]


@frozen
class Failure:
    """Something in which a run is not what its case expects.

    Attributes:
        part: what was compared: ``expected``, ``calls`` or ``checks``.
        message: what is different.
        check: the name of the check that failed, or None.
    """

    part: Literal["expected", "calls", "checks"]
    message: str
    check: str | None = None

    def __str__(self) -> str:
        return self.message


def judge(
    case: Case,
    response: AgentResponse,
    checks: Checks = {},  # noqa: B006  # it is only read
) -> tuple[Failure, ...]:
    """What a response has otherwise than its case expects; empty if it passes.

    - ``expected``: a text is the answer, character by character. Where the agent declares a type
      of answer, or another JSON value is expected, the answer is compared as data: the order of
      keys does not matter, and 1 is 1.0.
    - ``calls``: these are all calls, in this order, those that failed included. A name stands for
      a call with any arguments; arguments are compared as data and whole, defaults included.
    - ``checks``: see `Check`.

    Args:
        case: the case.
        response: the response to its input.
        checks: the user's functions by name.

    Raises:
        ArgumentError: an argument is of the wrong type.
        ValidationError: there is no check of a name, see `require_checks`.

    Warns:
        UserWarning: the case expects nothing, so that any answer passes.
    """
    expect(case, Case, "case", by="judge")
    expect(response, AgentResponse, "response", by="judge")
    if case.expects_nothing:
        warn(f"any answer passes case {case.name}: it expects nothing", stacklevel=2)
    return failures_of(case, response, checks)


def failures_of(case: Case, response: AgentResponse, checks: Checks) -> tuple[Failure, ...]:
    """The same for a case of which it has been told if any answer passes it."""
    require_checks([case], checks)
    found = [*_expected(case, response), *_calls(case, response)]
    for name in case.checks:
        if (message := _checked(name, checks[name], response, case)) is not None:
            found.append(Failure("checks", message, name))
    return tuple(found)


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
        for name in case.checks:
            if name not in checks:
                known = f"the checks are {', '.join(sorted(checks))}" if checks else None
                hint = did_you_mean(name, checks) or known or "no checks were given"
                message = f"there is no check {name}"
                faults.append(case.fault("unknown-check", message, "checks", hint))
    if faults:
        raise ValidationError.of(faults)


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
        for name in dict.fromkeys(call.name for call in case.calls or ()):
            if name not in known:
                tools = f"the tools are {', '.join(known)}" if known else "there are no tools"
                hint = did_you_mean(name, known) or tools
                agents = " or ".join(dict.fromkeys(each.value.identity for each in programs))
                message = f"no tool of {agents} is named {name}"
                faults.append(case.fault("unknown-tool", message, "calls", hint))
    if faults:
        raise ValidationError.of(faults)


def _expected(case: Case, response: AgentResponse) -> Iterator[Failure]:
    if not case.has_expected:
        return
    wanted, content = case.expected, response.content
    if isinstance(wanted, str) and (response.is_text or not response.is_typed):
        if content != wanted:
            yield _unlike("expected", wanted, content, _likeness(wanted, content))
        return
    try:
        value = read_json(content)
    except ValueError:
        yield Failure("expected", f"the answer is not JSON: {content}")
        return
    if not same_json(value, wanted) and not _is_text_of(wanted, value):
        yield _unlike("expected", write_json(wanted), write_json(value))


def _is_text_of(wanted: Json, value: Json) -> bool:
    """Whether a text is the JSON of a value that is no text, as a cell of CSV is."""
    if not isinstance(wanted, str) or isinstance(value, str):
        return False
    try:
        return same_json(read_json(wanted), value)
    except ValueError:
        return False


def _calls(case: Case, response: AgentResponse) -> Iterator[Failure]:
    if case.calls is None:
        return
    made = response.tools_used
    same = len(made) == len(case.calls) and all(map(_is_call, case.calls, made))
    if not same:
        pairs = zip_longest(case.calls, made)
        # A call with any arguments is shown as it was made where it fits, so that nothing differs.
        wanted = [
            _shown(call) if call and each and _is_call(each, call) else str(each)
            for each, call in pairs
            if each
        ]
        found = "\n".join(map(_shown, made))
        yield _unlike("calls", "\n".join(wanted) or _NO_CALLS, found or _NO_CALLS)


_NO_CALLS = "(no calls)"


def _is_call(wanted: ExpectedCall, made: ToolInvocation) -> bool:
    if wanted.name != made.tool_name:
        return False
    return wanted.arguments is None or same_json(made.args_text.value, wanted.arguments)


def _shown(call: ToolInvocation) -> str:
    return call_text(call.tool_name, call.args_text)


def _checked(name: str, check: Check, response: AgentResponse, case: Case) -> str | None:
    """Why a check says no; None if it says yes."""
    try:
        given = (response, case) if takes_case(check) else (response,)
        answer = check(*given)
        is_yes = not isinstance(answer, str) and bool(answer)
    except AssertionError as error:
        return f"check {name} fails" + (f": {error}" if str(error) else "")
    except BaseException as error:  # user code may raise anything
        if is_from_outside(error):
            raise
        return f"check {name} raised {said_by(error)}"
    if answer is None:
        return f"check {name} returned None: return True or False"
    if isinstance(answer, str) and answer:
        return f"check {name} fails: {answer}"
    return None if is_yes else f"check {name} fails"


def takes_case(function: Callable[..., Any]) -> bool:
    """Whether a check or a metric takes the case, too: as what it needs, or under that name."""
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


def _unlike(part: Literal["expected", "calls"], wanted: str, found: str, how: str = "") -> Failure:
    """A failure that shows both sides, ``-`` what was expected and ``+`` what came."""
    lines = list(unified_diff(wanted.split("\n"), found.split("\n"), n=3, lineterm=""))[2:]
    sides = [each for each in lines if not each.startswith("@@")]
    what = "answer is" if part == "expected" else "calls are"
    return Failure(part, "\n".join([f"the {what} not the expected{how}:", *sides]))


def _likeness(wanted: str, found: str) -> str:
    """In what alone two texts differ, if one does not see it."""
    if wanted.split() == found.split():
        return " (only blanks or line breaks differ)"
    if unicodedata.normalize("NFC", wanted) == unicodedata.normalize("NFC", found):
        return " (the characters look alike: their Unicode forms differ)"
    if wanted.casefold() == found.casefold():
        return " (only capitals differ)"
    return ""
