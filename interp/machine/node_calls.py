"""What a node of a workflow does with its input: call a tool, ask first, or begin a frame."""

from __future__ import annotations

from gram import Pattern
from lenses_ext import Workflow, is_agent, is_tool, workflow_of
from lenses_ext.language import tool_spec_of, written_signature

from ..errors import ValidationError
from ..json_text import Json, write_json
from .calls import FORBIDDEN, decision_about, denied, refused
from .contracts import parameters_of
from .effects import Ask, At, CallTool
from .frames import Begin, WorkflowFrame
from .messages import empty_context
from .requests import arguments_of, input_of
from .run_context import RunContext


def pattern_of(frame: WorkflowFrame, name: str) -> Pattern:
    """The agent, tool or workflow that a node uses."""
    used = workflow_of(frame.workflow).nodes[name].pattern
    assert used is not None, "a program is checked before it runs"
    return used


def has_files(flow: Workflow, name: str) -> bool:
    """Whether what is attached to the input of a workflow goes to a node, too.

    It does where ``()`` leads to the node, and where a choice carries on what such a node has.
    """
    return any(
        arrow.source is None or (arrow.is_choice and has_files(flow, arrow.source))
        for arrow in flow.nodes[name].input.arrows
    )


def expect_readers(pattern: Pattern) -> None:
    """Check that what files are attached to goes to agents alone.

    Raises:
        ValidationError: it goes to a tool of a workflow.
    """
    if is_agent(pattern):
        return
    flow = workflow_of(pattern)
    for name, node in flow.nodes.items():
        if node.pattern is None or not has_files(flow, name):
            continue
        if is_tool(node.pattern):
            workflow = pattern.value.identity
            raise ValidationError(
                f'"{name}", a tool, gets the input of "{workflow}": files are for agents alone'
            )
        expect_readers(node.pattern)


def begun_use(
    run: RunContext, frame: WorkflowFrame, name: str, place: At, given: Json
) -> CallTool | Ask | Begin:
    """What is to be done for a use of a node.

    Raises:
        ValidationError: it may not be used, or not with what it is given.
    """
    used = pattern_of(frame, name)
    if not is_tool(used):
        kept = frame.kept.get(name, empty_context)
        if not kept and written_signature(used) is not None:
            given = input_of(used, _arguments(used, given))
        flow = workflow_of(frame.workflow)
        files = frame.attachments if not frame.round and has_files(flow, name) else ()
        return Begin(place, used, given, kept, files)
    args = _arguments(used, given)
    tool = used.value.identity
    decision = decision_about(run, tool, args, frame.workflow, tool_spec_of(used))
    if decision == "deny":
        raise ValidationError(denied(FORBIDDEN))
    effect = CallTool if decision == "allow" else Ask
    return effect(place, tool, write_json(args))


def _arguments(used: Pattern, given: Json) -> dict[str, Json]:
    """The arguments of what is used, with defaults."""
    args = arguments_of(used, given)
    name = used.value.identity
    if not isinstance(args, dict):
        raise ValidationError(f'"{name}" takes a record, found {write_json(args)[:80]}')
    try:
        return parameters_of(tool_spec_of(used)).checked(args)
    except ValidationError as error:
        raise ValidationError(refused(name, error)) from None
