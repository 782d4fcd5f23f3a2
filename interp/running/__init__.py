"""Functions that run an agent, the `Run` they make, and their keywords."""

from .answer_types import declared_answer, with_value
from .options import (
    BeginOptions as BeginOptions,
    RunOptions as RunOptions,
    TypeOfAnswer,
    V,
    budget_of,
    check_options,
)
from .runs import (
    Run as Run,
    arun as arun,
    astream as astream,
    begin as begin,
    execute_agent as execute_agent,
    execute_agent_with_library as execute_agent_with_library,
    first_state_of,
    run as run,
    stream as stream,
)
