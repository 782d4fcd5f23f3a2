"""Checks the calls that a model makes, and the results of its tools.

A call is run, asked about, or refused with a reason. A result of the wrong type is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from gram import Pattern
from lenses_ext import Memo, result_schema, tool_spec_name, tool_spec_schema, view, wire_name

from ..contracts import (
    check_against,
    has_strict_form,
    parameters_of,
    read_arguments,
    without_stand_ins,
)
from ..errors import ValidationError
from ..json_text import JsonText, write_json
from ..messages import ToolCall, ToolInvocation
from .effects import Ask, CallTool
from .forms import offered_tools
from .state import State

FORBIDDEN = "the policy of this run forbids it"
"""The reason for not running a call that the policy denies."""

INTERRUPTED = "interrupted: the run ended before this call was answered; it may have run"
"""What the model is told of a call that a run left unanswered."""

_CUT_OFF = "the reply was cut off at its length limit, so this call may be incomplete: not run"


def checked_call(state: State, index: int, call: ToolCall) -> CallTool | Ask | ToolInvocation:
    """The effect of a call, or the invocation that tells the model what is wrong with it."""
    if state.truncated:
        return ToolInvocation(call.name, call.arguments, error=_CUT_OFF)
    tools = _by_wire_name(state.agent)
    tool = tools.get(wire_name(call.name))
    if tool is None:
        known = ", ".join(sorted(tools)) or "none"
        error = f'there is no tool "{call.name}"; the tools are: {known}'
        return ToolInvocation(call.name, call.arguments, error=error)
    name = _name(tool)
    try:
        given = read_arguments(name, call.arguments)
    except ValidationError as error:
        return ToolInvocation(name, call.arguments, error=str(error))
    if state.model_settings.get("strictTools", "off") != "off" and has_strict_form(tool):
        given = without_stand_ins(view(tool_spec_schema, tool), given)
    try:
        args = parameters_of(tool).checked(given)
    except ValidationError as error:
        return ToolInvocation(name, given, error=f'arguments of "{name}" are refused:\n{error}')
    decision = state.policy.decide(name, args)
    if decision == "deny":
        return ToolInvocation(name, args, error=denied(FORBIDDEN))
    effect = CallTool if decision == "allow" else Ask
    return effect((*state.at, index), name, write_json(args))


def checked_result(state: State, call: CallTool, result: JsonText) -> ToolInvocation:
    """The invocation of a call that has returned.

    A result that is not of the type the program declares is told to the model as an error, unless
    the run allows it.
    """
    if state.check_results:
        try:
            _check_result(_by_wire_name(state.agent)[wire_name(call.name)])(result)
        except ValidationError as error:
            message = f'the result of "{call.name}" is not what it declares:\n{error}'
            return ToolInvocation.of_texts(call.name, call.arguments, error=message)
    return ToolInvocation.of_texts(call.name, call.arguments, result)


_name = Memo(partial(view, tool_spec_name))
_by_wire_name: Memo[Pattern, Mapping[str, Pattern]] = Memo(
    lambda agent: {wire_name(_name(tool)): tool for tool in offered_tools(agent)}
)
"""The tools of an agent by the names that a model knows; a valid agent has one of each name."""


def _result_check(tool: Pattern) -> Callable[[JsonText], None]:
    """The check of a tool's results; one that declares no type has nothing to parse them for."""
    schema = result_schema(tool)
    if not schema:
        return lambda _: None
    text = write_json(schema)
    return lambda result: check_against(text, result.value)


_check_result: Memo[Pattern, Callable[[JsonText], None]] = Memo(_result_check)


def denied(reason: str) -> str:
    """What the model is told of a call that may not be run."""
    return f"denied, not run: {reason}" if reason else "denied, not run"


def not_run_again(reason: str) -> str:
    """What the model is told of a call that may have run, and may not be run again."""
    return f"{INTERRUPTED}; not run again: {reason}" if reason else f"{INTERRUPTED}; not run again"
