"""Functions that run an agent in one call; they make a `Run` and drive it to its end."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Unpack

from gram import expect
from lenses_ext import ProgramLike

from ..concurrency import call_in_thread
from ..errors import ConfigurationError
from ..execution import Observation, RunLog
from ..machine import (
    AgentResponse,
    ConversationContext,
    Given,
    State,
    Status,
    response,
)
from ..records import RunFile, read_run
from ..stores import StoreLike, run_of
from ..tools import LibraryLike, library_of
from .beginning import begin_for
from .options import BeginOptions, RunOptions, check_options
from .runs import Run


def run(
    program: ProgramLike,
    user_input: Given,
    library: LibraryLike = None,
    context: ConversationContext | None = None,
    **options: Unpack[BeginOptions],
) -> AgentResponse:
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
    return begin_for("run", program, user_input, library, context, options).finish()


async def arun(
    program: ProgramLike,
    user_input: Given,
    library: LibraryLike = None,
    context: ConversationContext | None = None,
    **options: Unpack[BeginOptions],
) -> AgentResponse:
    """Run an agent in the event loop that runs; see `run`."""
    begun = await _begun("arun", program, user_input, library, context, options)
    return await begun.afinish()


def stream(
    program: ProgramLike,
    user_input: Given,
    library: LibraryLike = None,
    context: ConversationContext | None = None,
    **options: Unpack[BeginOptions],
) -> Iterator[Observation]:
    """Run an agent and watch it; the last observation is `Finished`. See `run`."""
    return begin_for("stream", program, user_input, library, context, options).stream()


def astream(
    program: ProgramLike,
    user_input: Given,
    library: LibraryLike = None,
    context: ConversationContext | None = None,
    **options: Unpack[BeginOptions],
) -> AsyncGenerator[Observation, None]:
    """Run an agent in the event loop that runs, and watch it; see `stream`."""
    check_options(options, by="astream")

    async def seen() -> AsyncGenerator[Observation, None]:
        begun = await _begun("astream", program, user_input, library, context, options)
        async with aclosing(begun.astream()) as found:
            async for each in found:
                yield each

    return seen()


async def _begun(
    by: str,
    program: ProgramLike,
    user_input: Given,
    library: LibraryLike,
    context: ConversationContext | None,
    options: BeginOptions,
) -> Run:
    """Begin a run; a store or a file is opened in a worker thread, since that may take a while."""
    if options.get("store") is None and options.get("record") is None:
        return begin_for(by, program, user_input, library, context, options)
    return await call_in_thread(
        lambda: begin_for(by, program, user_input, library, context, options)
    )


def resume_run(
    state: State | str | os.PathLike[str],
    library: LibraryLike = None,
    **options: Unpack[RunOptions],
) -> AgentResponse:
    """Go on with a run that was kept, to the end.

    Args:
        state: the State; or the run as gram, such as the ``log`` of the error that stopped it; or
            the file that it is recorded in; or, with ``store=``, its id in the store. It goes on
            where it was, and nothing that is recorded is asked or run again.
        library: the implementations of the agent's tools, if it has some: a `ToolLibrary`, or a
            list of tools and functions.
        **options: see `RunOptions`; what differs from the state changes it. ``record`` writes the
            whole of the run to a new file.

    Raises:
        ReplayError: the record has an event that does not fit the run.
        StoreError: there is no such run in the store, or somebody else has claimed it.
        AgentError: see `run`.
    """
    library = library_of(library, by="resume_run")
    expect(state, (State, str, os.PathLike), "state", by="resume_run")
    check_options(options, by="resume_run")
    if options.get("conversation"):
        raise ConfigurationError("a run that is resumed is a turn of the conversation it began in")
    store, log = options.pop("store", None), None
    if isinstance(state, str) and store is None and state.lstrip().startswith(("[:Run", "(:Run")):
        state = read_run(state).state
    if not isinstance(state, State):
        log, state = _kept(state, store)
        if options.get("record"):
            raise ConfigurationError("a run that is resumed from its file is recorded there")
        options["record"] = log
    if state.status is Status.DONE:
        return response(state)
    return Run(state, library, **options).finish()


def _kept(run: str | os.PathLike[str], store: StoreLike | None) -> tuple[RunLog, State]:
    """What a run is recorded in, and the State that it is in."""
    if store is None:
        log, kept = RunFile.of(run)
        return log, kept.state
    expect(run, str, "state", by="resume_run")
    stored, kept = run_of(store, str(run))
    return stored, kept.state


def execute_agent(
    program: ProgramLike,
    user_input: Given,
    context: ConversationContext | None = None,
    **options: Unpack[BeginOptions],
) -> AgentResponse:
    """Run an agent without a tool library; the keywords and errors are those of `run`."""
    return begin_for("execute_agent", program, user_input, None, context, options).finish()


def execute_agent_with_library(
    program: ProgramLike,
    user_input: Given,
    context: ConversationContext,
    library: LibraryLike,
    **options: Unpack[BeginOptions],
) -> AgentResponse:
    """Run an agent with a tool library; the keywords and errors are those of `run`.

    The order of the arguments is the specification's; `run` takes the library first.
    """
    by = "execute_agent_with_library"
    return begin_for(by, program, user_input, library, context, options).finish()
