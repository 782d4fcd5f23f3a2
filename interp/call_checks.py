"""What becomes of a call that a model makes: run, asked about, or refused with a reason.

And what becomes of its result: told to the model, or told to be of the wrong type.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from gram import Pattern
from lenses_ext import result_schema, tool_spec_name, tool_spec_schema, view, wire_name
from lenses_ext.memo import Memo

from .arguments import parameters_of, read_arguments
from .effects import Ask, CallTool
from .errors import ValidationError
from .forms import offered_tools
from .json_text import Json, write_json
from .messages import ToolCall, ToolInvocation
from .schemas import check
from .state import State
from .strict_tools import has_strict_form, without_stand_ins

_CUT_OFF = "the reply was cut off at its length limit, so this call may be incomplete: not run"


def checked_call(state: State, index: int, call: ToolCall) -> CallTool | Ask | ToolInvocation:
    """The effect of a call, or the invocation that tells the model what is wrong with it."""
    if state.truncated:
        return ToolInvocation(call.name, call.arguments, error=_CUT_OFF)
    tools = {wire_name(view(tool_spec_name, tool)): tool for tool in offered_tools(state.agent)}
    tool = tools.get(wire_name(call.name))
    if tool is None:
        known = ", ".join(sorted(tools)) or "none"
        error = f'there is no tool "{call.name}"; the tools are: {known}'
        return ToolInvocation(call.name, call.arguments, error=error)
    name = view(tool_spec_name, tool)
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
        return ToolInvocation(name, args, error=denied("the policy of this run forbids it"))
    effect = CallTool if decision == "allow" else Ask
    return effect(state.turn, index, name, write_json(args))


def checked_result(state: State, call: CallTool, result: Json) -> ToolInvocation:
    """The invocation of a call that has returned.

    A result that is not of the type the program declares is told to the model as an error, unless
    the run allows it.
    """
    tools = {view(tool_spec_name, tool): tool for tool in offered_tools(state.agent)}
    if state.check_results:
        try:
            _check_result(tools[call.name])(result)
        except ValidationError as error:
            message = f'the result of "{call.name}" is not what it declares:\n{error}'
            return ToolInvocation(call.name, call.args, error=message)
    return ToolInvocation(call.name, call.args, result)


def _result_check(tool: Pattern) -> Callable[[Json], None]:
    schema = result_schema(tool)
    return partial(check, schema) if schema else lambda _: None


_check_result: Memo[Pattern, Callable[[Json], None]] = Memo(_result_check)


def denied(reason: str) -> str:
    """What the model is told of a call that may not be run."""
    return f"denied, not run: {reason}" if reason else "denied, not run"
