"""Functions that run an agent in one call; they make a `Run` and drive it to its end.

What they do is imported when one is called first, for it is half of what there is: a program that
only builds agents, or edits them, does without. Types of it are named as `interp` offers them: they
are loaded where somebody reads the hints.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from typing import Unpack

import interp
import lenses_ext


def run(
    program: lenses_ext.ProgramLike,
    user_input: interp.Given,
    library: interp.LibraryLike = None,
    context: interp.ConversationContext | None = None,
    **options: Unpack[interp.BeginOptions],
) -> interp.AgentResponse:
    """Run an agent or a workflow: say something to it, or call it, and get its answer.

    Errors have the last ``state`` of the run, from which `resume_run` goes on. To have it also
    when the run is interrupted from outside, keep the `Run` that `begin` returns.

    Args:
        program: the program: a document, its patterns, or the pattern of an agent.
        user_input: what the user says, not empty; or the arguments by name, where the agent or
            workflow has a signature.
        library: the implementations of the agent's tools, if it has some: a `ToolLibrary`, or a
            list of tools and functions.
        context: the conversation before, such as the last response's ``context``, if there is one.
        **options: how to run it, see `RunOptions`.

    Raises:
        ValidationError: the input is empty or the program is invalid (with its ``faults``).
        ToolBindingError: the library does not implement the tools as they are written.
        ConfigurationError: the provider is unknown, or its key is missing.
        ModelError: the model did not answer, or twice not in the type that the program declares.
        LimitError: a limit was reached.
        ApprovalNeeded: a call needs approval, and nobody is there to give it.
        WorkflowError: a step of a workflow failed.
        AgentError: an approver or an observer raised; what it raised is the cause.
    """
    return _begin("run", program, user_input, library, context, options).finish()


async def arun(
    program: lenses_ext.ProgramLike,
    user_input: interp.Given,
    library: interp.LibraryLike = None,
    context: interp.ConversationContext | None = None,
    **options: Unpack[interp.BeginOptions],
) -> interp.AgentResponse:
    """Run an agent without blocking, the tools of a turn at once; see `run`."""
    return await _begin("arun", program, user_input, library, context, options).afinish()


def stream(
    program: lenses_ext.ProgramLike,
    user_input: interp.Given,
    library: interp.LibraryLike = None,
    context: interp.ConversationContext | None = None,
    **options: Unpack[interp.BeginOptions],
) -> Iterator[interp.Observation]:
    """Run an agent and watch it; the last observation is `Finished`. See `run`."""
    return _begin("stream", program, user_input, library, context, options).stream()


def astream(
    program: lenses_ext.ProgramLike,
    user_input: interp.Given,
    library: interp.LibraryLike = None,
    context: interp.ConversationContext | None = None,
    **options: Unpack[interp.BeginOptions],
) -> AsyncIterator[interp.Observation]:
    """Run an agent without blocking and watch it; see `stream`."""
    return _begin("astream", program, user_input, library, context, options).astream()


def resume_run(
    state: interp.State | str | os.PathLike[str],
    library: interp.LibraryLike = None,
    **options: Unpack[interp.RunOptions],
) -> interp.AgentResponse:
    """Go on with a run that was kept, to the end.

    Args:
        state: the State; or the file that the run was recorded in; or, with ``store=``, its id in
            the store. It goes on where it was recorded, and nothing that is recorded there is
            asked or run again.
        library: the implementations of the agent's tools, if it has some: a `ToolLibrary`, or a
            list of tools and functions.
        **options: see `RunOptions`; what differs from the state changes it.

    Raises:
        ReplayError: the record has an event that does not fit the run.
        StoreError: there is no such run in the store, or somebody else has claimed it.
        AgentError: see `run`.
    """
    from .execution import resumed

    store = options.get("store")
    response = resumed(state, library, options)
    if store is not None and isinstance(state, str):
        from .workers import tell_workers  # imported late: most runs are in no store

        tell_workers(store, state)
    return response


def execute_agent(
    program: lenses_ext.ProgramLike,
    user_input: interp.Given,
    context: interp.ConversationContext | None = None,
    **options: Unpack[interp.BeginOptions],
) -> interp.AgentResponse:
    """Run an agent without a tool library; the keywords and errors are those of `run`."""
    return _begin("execute_agent", program, user_input, None, context, options).finish()


def execute_agent_with_library(
    program: lenses_ext.ProgramLike,
    user_input: interp.Given,
    context: interp.ConversationContext,
    library: interp.LibraryLike,
    **options: Unpack[interp.BeginOptions],
) -> interp.AgentResponse:
    """Run an agent with a tool library; the keywords and errors are those of `run`.

    The order of the arguments is the specification's; `run` takes the library first.
    """
    by = "execute_agent_with_library"
    return _begin(by, program, user_input, library, context, options).finish()


def _begin(
    by: str,
    program: lenses_ext.ProgramLike,
    user_input: interp.Given,
    library: interp.LibraryLike,
    context: interp.ConversationContext | None,
    options: interp.BeginOptions,
) -> interp.Run:
    """Begin a run for a function named ``by``, which its errors name."""
    from .execution import begin_for

    return begin_for(by, program, user_input, library, context, options)
