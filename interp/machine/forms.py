"""What a label means to the interpreter: one table.

The machine looks a pattern's label up here when it begins it, so a new kind of pattern is a new
row. A tool has no frame: calling it is an effect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import frozen

from gram import Pattern
from lenses_ext.labels import AGENT, LOOP, WORKFLOW

from .agent_frame import agent_outcome, begin_agent, inner_ended as agent_ended
from .effects import At
from .frames import AgentFrame, Begin, Frame, Outcome, WorkflowFrame
from .happened import Taken
from .run_context import RunContext
from .workflow_frame import begin_workflow, inner_ended as workflow_ended, workflow_outcome


@frozen
class Form:
    """How a pattern of some label is run.

    Attributes:
        begin: begins a frame of it.
        inner_ended: takes how a frame inside it has ended.
        outcome: how it has ended, or None.
    """

    begin: Callable[[RunContext, Begin], Taken]
    inner_ended: Callable[[RunContext, Any, At, Outcome], Taken]
    outcome: Callable[[Any], Outcome | None]


_AN_AGENT: Final = Form(begin_agent, agent_ended, agent_outcome)
_A_WORKFLOW: Final = Form(begin_workflow, workflow_ended, workflow_outcome)

FORMS: Final[Mapping[str, Form]] = {AGENT: _AN_AGENT, WORKFLOW: _A_WORKFLOW, LOOP: _A_WORKFLOW}
"""How what carries a label is run."""

_OF_FRAMES: Final[Mapping[type[Frame], Form]] = {AgentFrame: _AN_AGENT, WorkflowFrame: _A_WORKFLOW}


def form_of(pattern: Pattern) -> Form:
    """The form of a pattern, by the first of its labels that has one."""
    return next(FORMS[label] for label in sorted(pattern.value.labels) if label in FORMS)


def form_of_frame(frame: Frame) -> Form:
    """The form of what a frame runs."""
    return _OF_FRAMES[type(frame)]
