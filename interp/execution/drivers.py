"""Functions that run an agent in one call; they make a `Run` and drive it to its end."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import TYPE_CHECKING, Unpack, cast

from gram import ArgumentError, Document, Pattern, expect
from lenses_ext import ProgramLike

from ..errors import ConfigurationError
from ..machine import Given, Limits, State, Status, allow_all, ask_all, first_state, response
from ..messages import AgentResponse, ConversationContext, empty_context
from ..programs import the_agent
from ..tools import ToolLibrary, empty_tool_library, with_agents
from .observations import Observation
from .options import BeginOptions, RunOptions, check_options, named_model
from .runs import Run

if TYPE_CHECKING:
    from ..records import RecordedRun, RunFile
    from ..stores import StoredRun, StoreLike


def begin(
    program: ProgramLike,
    user_input: Given,
    library: ToolLibrary = empty_tool_library,
    context: ConversationContext = empty_context,
    **options: Unpack[BeginOptions],
) -> Run:
    """Begin a run and return it, so that its state can be kept; see `run`.

    Raises:
        ValidationError: the input is empty or the program is invalid (with its ``faults``).
        ToolBindingError: the library does not implement the tools as they are written.
        ConfigurationError: the provider is unknown, or its key is missing.
    """
    return _begin("begin", program, user_input, library, context, options)


def _begin(
    by: str,
    program: ProgramLike,
    user_input: Given,
    library: ToolLibrary,
    context: ConversationContext,
    options: BeginOptions,
) -> Run:
    """The same for a function named ``by``, which its errors name."""
    state = first_state_of(program, user_input, library, context, options, by=by)
    kept = {"agent", "limits", "policy", "settings", "check_results"}
    if state.model:
        kept.add("model")
    others = {name: value for name, value in options.items() if name not in kept}
    conversation, store = others.pop("conversation", None), options.get("store")
    if conversation is not None and store is not None:
        from ..stores import new_run  # imported late: most runs are in no store

        del others["store"]
        others["record"] = new_run(store, state.run_id, conversation=str(conversation))
    return Run(state, library, **cast(RunOptions, others))


def first_state_of(
    program: ProgramLike,
    user_input: Given,
    library: ToolLibrary,
    context: ConversationContext,
    options: BeginOptions,
    *,
    by: str,
    run_id: str | None = None,
) -> State:
    """The State in which a run begins, see `run`.

    Args:
        program: the program.
        user_input: what the user says.
        library: its agents take the places of tools that they implement.
        context: the conversation before.
        options: how to run it.
        by: the function that was called with these, for errors.
        run_id: a name for the run, or None for a new one.

    Raises:
        ValidationError: the input is empty or the program is invalid (with its ``faults``).
        ConfigurationError: an option is wrong.
    """
    if isinstance(library, ConversationContext) or isinstance(context, ToolLibrary):
        raise ConfigurationError(
            "the library and the context are swapped: run(agent, user_input, library, context), "
            "execute_agent_with_library(agent, user_input, context, library)"
        )
    if isinstance(program, str) and isinstance(user_input, Document | Pattern):
        raise ArgumentError(f"{by}: the program comes first: {by}(program, user_input)")
    expect(user_input, (str, Mapping), "user_input", by=by)
    expect(library, ToolLibrary, "library", by=by)
    expect(context, ConversationContext, "context", by=by)
    check_options(options, by=by)
    chosen = the_agent(program, options.get("agent"), by=by)
    conversation, store = options.get("conversation"), options.get("store")
    if conversation is not None and store is not None:
        if context:
            raise ConfigurationError(f"{by}: the context is that of the conversation: give one")
        from ..stores import context_of  # imported late: most runs are in no store

        context = context_of(store, conversation)
    agent = with_agents(chosen, library, match=options.get("match", "full"))
    return first_state(
        agent,
        user_input,
        context,
        model=named_model(options.get("model")),
        limits=options.get("limits") or Limits(),
        policy=options.get("policy") or (ask_all if options.get("approve") else allow_all),
        settings=options.get("settings"),
        check_results=options.get("check_results") is not False,
        run_id=run_id or os.urandom(8).hex(),
    )


def run(
    program: ProgramLike,
    user_input: Given,
    library: ToolLibrary = empty_tool_library,
    context: ConversationContext = empty_context,
    **options: Unpack[BeginOptions],
) -> AgentResponse:
    """Run an agent or a workflow: say something to it, or call it, and get its answer.

    Errors have the last ``state`` of the run, from which `resume_run` goes on. To have it also
    when the run is interrupted from outside, keep the `Run` that `begin` returns.

    Args:
        program: the program: a document, its patterns, or the pattern of an agent.
        user_input: what the user says, not empty; or the arguments by name, where the agent or
            workflow has a signature.
        library: the implementations of the agent's tools.
        context: the conversation before, such as the last response's ``context``.
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
    program: ProgramLike,
    user_input: Given,
    library: ToolLibrary = empty_tool_library,
    context: ConversationContext = empty_context,
    **options: Unpack[BeginOptions],
) -> AgentResponse:
    """Run an agent without blocking, the tools of a turn at once; see `run`."""
    return await _begin("arun", program, user_input, library, context, options).afinish()


def stream(
    program: ProgramLike,
    user_input: Given,
    library: ToolLibrary = empty_tool_library,
    context: ConversationContext = empty_context,
    **options: Unpack[BeginOptions],
) -> Iterator[Observation]:
    """Run an agent and watch it; the last observation is `Finished`. See `run`."""
    return _begin("stream", program, user_input, library, context, options).stream()


def astream(
    program: ProgramLike,
    user_input: Given,
    library: ToolLibrary = empty_tool_library,
    context: ConversationContext = empty_context,
    **options: Unpack[BeginOptions],
) -> AsyncIterator[Observation]:
    """Run an agent without blocking and watch it; see `stream`."""
    return _begin("astream", program, user_input, library, context, options).astream()


def resume_run(
    state: State | str | os.PathLike[str],
    library: ToolLibrary = empty_tool_library,
    **options: Unpack[RunOptions],
) -> AgentResponse:
    """Go on with a run that was kept, to the end.

    Args:
        state: the State; or the file that the run was recorded in; or, with ``store=``, its id in
            the store. It goes on where it was recorded, and nothing that is recorded there is
            asked or run again.
        library: the implementations of the agent's tools.
        **options: see `RunOptions`; what differs from the state changes it.

    Raises:
        ReplayError: the record has an event that does not fit the run.
        StoreError: there is no such run in the store, or somebody else has claimed it.
        AgentError: see `run`.
    """
    expect(state, (State, str, os.PathLike), "state", by="resume_run")
    check_options(options, by="resume_run")
    if isinstance(state, State):
        return Run(state, library, **options).finish()
    if options.get("record"):
        raise ConfigurationError("a run that is resumed from its file is recorded there")
    if options.get("conversation"):
        raise ConfigurationError("a run that is resumed is a turn of the conversation it began in")
    log, kept = _kept(state, options.pop("store", None))
    if kept.state.status is Status.DONE:
        return response(kept.state)
    options["record"] = log
    return Run(kept.state, library, **options).finish()


def _kept(
    run: str | os.PathLike[str], store: StoreLike | None
) -> tuple[RunFile | StoredRun, RecordedRun]:
    """What a run is recorded in, and what is recorded of it."""
    if store is None:
        from ..records import RunFile  # imported late: most runs are not recorded

        log, kept = RunFile.of(run)
        kept.check_requests()
        return log, kept
    from ..stores import run_of

    expect(run, str, "state", by="resume_run")
    return run_of(store, str(run))


def execute_agent(
    program: ProgramLike,
    user_input: Given,
    context: ConversationContext = empty_context,
    **options: Unpack[BeginOptions],
) -> AgentResponse:
    """Run an agent without a tool library; the keywords and errors are those of `run`."""
    begun = _begin("execute_agent", program, user_input, empty_tool_library, context, options)
    return begun.finish()


def execute_agent_with_library(
    program: ProgramLike,
    user_input: Given,
    context: ConversationContext,
    library: ToolLibrary,
    **options: Unpack[BeginOptions],
) -> AgentResponse:
    """Run an agent with a tool library; the keywords and errors are those of `run`.

    The order of the arguments is the specification's; `run` takes the library first.
    """
    by = "execute_agent_with_library"
    return _begin(by, program, user_input, library, context, options).finish()
