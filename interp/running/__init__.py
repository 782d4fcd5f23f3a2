"""The short forms: functions that run an agent, the `Run` they make, and their keywords."""

from .beginning import begin, first_state_of
from .options import BeginOptions, RunOptions, check_options
from .runs import Run
from .short_forms import (
    arun,
    astream,
    execute_agent,
    execute_agent_with_library,
    run,
    stream,
)

__all__ = [
    "BeginOptions",
    "Run",
    "RunOptions",
    "arun",
    "astream",
    "begin",
    "check_options",
    "execute_agent",
    "execute_agent_with_library",
    "first_state_of",
    "run",
    "stream",
]
