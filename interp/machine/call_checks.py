"""Checks the calls that a model makes, and the results of its tools.

A call is run, asked about, or refused with a reason. A result of the wrong type is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gram import Pattern
from lenses_ext import result_schema, tool_spec_schema, view
from lenses_ext.language import tool_spec_of
from lenses_ext.weak_cache import memo

from ..errors import ValidationError
from ..json_text import Json, JsonText, json_or_text, write_json
from .approval import Decision
from .contracts import (
    check_against,
    has_strict_form,
    parameters_of,
    read_arguments,
    without_stand_ins,
)
from .effects import Ask, CallTool
from .frames import AgentFrame
from .messages import ToolCall, ToolInvocation
from .offers import Offers
from .requests import settings_of
from .run_context import RunContext

FORBIDDEN = "the policy of this run forbids it"
"""The reason for not running a call that the policy denies."""

INTERRUPTED = "interrupted: the run ended before this call was answered; it may have run"
"""What the model is told of a call that a run left unanswered."""

_CUT_OFF = "the reply was cut off at its length limit, so this call may be incomplete: not run"


DEEPEST = 32
"""How many parts the place of a frame has at most: 16 agents that call each other."""

_TOO_DEEP = "agents call each other more than 16 deep: not run"


def checked_call(
    run: RunContext, frame: AgentFrame, offers: Offers, index: int, call: ToolCall
) -> CallTool | Ask | ToolInvocation:
    """The effect of a call, or the invocation that tells the model what is wrong with it.

    The call of a skill has its answer in the program: nobody is asked, and nothing is run.

    Args:
        run: what the frames of the run share.
        frame: the frame of the agent.
        offers: what it offers to its model.
        index: which call of the reply it is.
        call: the call.
    """
    if frame.truncated:
        return ToolInvocation(call.name, json_or_text(call.arguments), error=_CUT_OFF)
    offer = offers.named(call.name)
    if offer is None:
        known = ", ".join(sorted(offers.by_wire_name)) or "none"
        error = f'there is no tool "{call.name}"; the tools are: {known}'
        return ToolInvocation(call.name, json_or_text(call.arguments), error=error)
    name, tool = offer.name, offer.spec
    try:
        given = read_arguments(name, call.arguments)
    except ValidationError as error:
        return ToolInvocation(name, call.arguments, error=error.message)
    settings = settings_of(run, frame.agent)
    if settings and settings.get("strictTools", "off") != "off" and has_strict_form(tool):
        given = without_stand_ins(view(tool_spec_schema, tool), given)
    try:
        args = parameters_of(tool).checked(given)
    except ValidationError as error:
        return ToolInvocation(name, given, error=refused(name, error))
    if offer.use == "skill":
        return ToolInvocation(name, args, write_json(offer.pattern.value.properties["text"]))
    if offer.use == "inside" and len(frame.place) > DEEPEST:
        return ToolInvocation(name, args, error=_TOO_DEEP)
    decision = decision_about(run, name, args, frame.agent, tool)
    if decision == "deny":
        return ToolInvocation(name, args, error=denied(FORBIDDEN))
    effect = CallTool if decision == "allow" else Ask
    return effect((*frame.at, index), name, write_json(args))


def refused(name: str, error: ValidationError) -> str:
    """What is said of arguments that are not of the declared types."""
    return f'arguments of "{name}" are refused:\n{error.message}'


def result_problem(run: RunContext, tool: Pattern, result: JsonText) -> str | None:
    """Why what a tool, an agent or a workflow gave is not of the type it declares, or None.

    Nothing is wrong with any result where the run allows all.

    Args:
        run: what the frames of the run share.
        tool: what gave the result.
        result: the result.
    """
    if not run.check_results:
        return None
    try:
        _check_result(tool)(result)
    except ValidationError as error:
        return f'the result of "{tool.value.identity}" is not what it declares:\n{error.message}'
    return None


def _result_check(tool: Pattern) -> Callable[[JsonText], None]:
    """The check of a tool's results; one that declares no type has nothing to parse them for."""
    schema = result_schema(tool_spec_of(tool))
    if not schema:
        return lambda _: None
    text = write_json(schema)
    return lambda result: check_against(text, result.value)


_check_result = memo(_result_check)


def decision_about(
    run: RunContext, name: str, args: Mapping[str, Json], by: Pattern, tool: Pattern
) -> Decision:
    """What the policy decides of a call of a tool by an agent or workflow."""
    schema = parameters_of(tool).schema
    return run.policy.decide(name, args, by=by.value.identity, schema=schema)


def denied(reason: str) -> str:
    """What the model is told of a call that may not be run."""
    return f"denied, not run: {reason}" if reason else "denied, not run"


def not_run_again(reason: str) -> str:
    """What the model is told of a call that may have run, and may not be run again."""
    return f"{INTERRUPTED}; not run again: {reason}" if reason else f"{INTERRUPTED}; not run again"
