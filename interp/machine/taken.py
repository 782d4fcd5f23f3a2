"""What a step of one frame leads to: the types that the functions of agents and workflows share."""

from __future__ import annotations

from typing import TypeAlias, Union

from .effects import Effect
from .frames import AgentFrame, Begin, Frame, WorkflowFrame
from .happened import Happened
from .run_context import RunContext

New: TypeAlias = Union[Effect, Begin, Happened]
"""What a step of a frame is new to do, and what has happened in it, in order."""

AgentTaken: TypeAlias = tuple[RunContext, AgentFrame, tuple[New, ...]]
WorkflowTaken: TypeAlias = tuple[RunContext, WorkflowFrame, tuple[New, ...]]
Taken: TypeAlias = tuple[RunContext, Frame, tuple[New, ...]]
