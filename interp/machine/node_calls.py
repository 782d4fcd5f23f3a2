"""What a node of a workflow does with its input: call a tool, ask first, or begin a frame."""

from __future__ import annotations

from collections.abc import Mapping

from gram import Pattern
from lenses_ext import is_tool, tool_spec_of, workflow_of, written_signature

from ..contracts import parameters_of
from ..errors import ValidationError
from ..json_text import Json, write_json
from ..messages import empty_context
from .approval import Decision
from .call_checks import FORBIDDEN, denied, refused
from .effects import Ask, At, CallTool
from .frames import Begin, WorkflowFrame
from .requests import arguments_of, input_of
from .shared import Shared


def pattern_of(frame: WorkflowFrame, name: str) -> Pattern:
    """The agent, tool or workflow that a node uses."""
    used = workflow_of(frame.workflow).nodes[name].pattern
    assert used is not None, "a program is checked before it runs"
    return used


def begun_use(
    shared: Shared, frame: WorkflowFrame, name: str, place: At, given: Json
) -> CallTool | Ask | Begin:
    """What is to be done for a use of a node.

    Raises:
        ValidationError: it may not be used, or not with what it is given.
    """
    used = pattern_of(frame, name)
    if not is_tool(used):
        kept = frame.kept.get(name, empty_context)
        if not kept and written_signature(used) is not None:
            given = input_of(used, _checked(used, given))
        return Begin(place, used, given, kept)
    args = _checked(used, given)
    tool = used.value.identity
    decision = decision_on(shared, frame, tool, args)
    if decision == "deny":
        raise ValidationError(denied(FORBIDDEN))
    return (CallTool if decision == "allow" else Ask)(place, tool, write_json(args))


def _checked(used: Pattern, given: Json) -> dict[str, Json]:
    """The arguments of what is used, with defaults."""
    args = arguments_of(used, given)
    name = used.value.identity
    if not isinstance(args, dict):
        raise ValidationError(f'"{name}" takes a record, found {write_json(args)[:80]}')
    try:
        return parameters_of(tool_spec_of(used)).checked(args)
    except ValidationError as error:
        raise ValidationError(refused(name, error)) from None


def decision_on(
    shared: Shared, frame: WorkflowFrame, tool: str, args: Mapping[str, Json]
) -> Decision:
    """Whether a tool that is a node may be called with these arguments, by the policy."""
    return shared.policy.decide(tool, args, by=frame.workflow.value.identity)
