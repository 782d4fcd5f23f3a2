"""What becomes of a call that a model makes: run, asked about, or refused with a reason."""

from __future__ import annotations

from lenses_ext import tool_spec_name, view, wire_name
from lenses_ext.json_values import NotJson, check_json

from .arguments import parameters_of, read_arguments
from .effects import Ask, CallTool
from .errors import ValidationError
from .forms import offered_tools
from .json_text import write_json
from .messages import ToolCall, ToolInvocation
from .state import State

_CUT_OFF = "the reply was cut off at its length limit, so this call may be incomplete: not run"
_AGAIN = "Call the tool again with one JSON object."


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
        check_json(given)  # 1e999 and half a character can be read, but neither checked nor sent
    except ValidationError as error:
        return ToolInvocation(name, call.arguments, error=str(error))
    except NotJson as error:
        message = f'arguments of "{name}" are not valid JSON: {error}. {_AGAIN}'
        return ToolInvocation(name, call.arguments, error=message)
    try:
        args = parameters_of(tool).checked(given)
    except ValidationError as error:
        return ToolInvocation(name, given, error=f'arguments of "{name}" are refused:\n{error}')
    decision = state.policy.decide(name, args)
    if decision == "deny":
        return ToolInvocation(name, args, error=denied("the policy of this run forbids it"))
    effect = CallTool if decision == "allow" else Ask
    return effect(state.turn, index, name, write_json(args))


def denied(reason: str) -> str:
    """What the model is told of a call that may not be run."""
    return f"denied, not run: {reason}" if reason else "denied, not run"
