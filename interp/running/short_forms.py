"""How a run begins, and functions that run an agent in one call: they make a `Run` and drive it."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from contextlib import aclosing
from functools import partial
from typing import Any, Final, Unpack, cast

from gram import ArgumentError, Document, Pattern, origin
from gram.errors import expect
from lenses_ext import Model, ProgramLike

from .. import machine
from ..concurrency import call_in_thread
from ..errors import ConfigurationError
from ..execution import Observation, named_model
from ..programs import the_agent, with_fallbacks
from ..tools import LibraryLike, ToolLibrary, answer_type_of, library_of, with_agents
from .answer_types import with_answer
from .options import BeginOptions, RunOptions, V, check_options, with_windows
from .runs import Run


def begin(
    program: ProgramLike,
    user_input: machine.Given,
    tools: LibraryLike = None,
    context: Iterable[machine.Message] | None = None,
    **options: Unpack[BeginOptions[V]],
) -> Run[V]:
    """Begin a run and return it, so that its state can be kept; see `run`.

    Raises:
        ValidationError: the input is empty or the program is invalid (with its ``faults``).
        ToolBindingError: the library does not implement the tools as they are written.
        ConfigurationError: the provider is unknown, or its key is missing.
    """
    return begin_for("begin", program, user_input, tools, context, options)


def begin_for(
    by: str,
    program: ProgramLike,
    user_input: machine.Given,
    tools: LibraryLike,
    context: Iterable[machine.Message] | None,
    options: BeginOptions,
) -> Run:
    """The same for a function named ``by``, which its errors name."""
    if isinstance(tools, machine.ConversationContext) or isinstance(context, ToolLibrary):
        raise ConfigurationError(
            "the tools and the context are swapped: run(agent, user_input, tools, context), "
            "execute_agent_with_library(agent, user_input, context, library)"
        )
    check_options(options, by=by)
    library = library_of(tools, by=by)
    context = machine.empty_context if context is None else machine.conversation_of(context, by=by)
    kept_in = None
    record, conversation = options.get("record"), options.get("conversation")
    if conversation and record is not None:
        from ..history.stores import open_conversation  # imported late: most are not recorded

        if context:
            raise ConfigurationError(f"{by}: the context is that of the conversation: give one")
        read = origin(the_agent(program, options.get("agent"), by=by))
        kept_in = open_conversation(record, conversation, read.source.filename if read else None)
        context = kept_in.context
    state = first_state_of(program, user_input, library, context, options, by=by)
    others = {name: value for name, value in options.items() if name not in _OF_THE_STATE}
    if state.model or options.get("fallbacks"):
        others.pop("model", None)
    if kept_in is not None:
        others["conversation"], others["record"] = None, kept_in.log()
    wanted = options.get("answer_type")
    return Run(state, library, answer_type=wanted, **cast(RunOptions, others))


_OF_THE_STATE: Final = {
    "agent", "answer_type", "fallbacks", "limits", "policy", "settings", "check_results",
}  # fmt: skip
"""The options that the State of a run has from its beginning on."""


def first_state_of(
    program: ProgramLike,
    user_input: machine.Given,
    library: ToolLibrary,
    context: machine.ConversationContext,
    options: BeginOptions,
    *,
    by: str,
    run_id: str | None = None,
) -> machine.State:
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
    if isinstance(program, str) and isinstance(user_input, Document | Pattern):
        raise ArgumentError(f"{by}: the program comes first: {by}(program, user_input)")
    expect(user_input, (str, Mapping, list, tuple), "user_input", by=by)
    check_options(options, by=by)
    chosen = the_agent(program, options.get("agent"), by=by)
    agent = with_agents(chosen, library, match=options.get("match", "full"))
    if (wanted := options.get("answer_type")) is not None:
        agent = with_answer(agent, answer_type_of(wanted, by=by))
    model = named_model(options.get("model"))
    if fallbacks := _fallbacks(options):
        agent, model = with_fallbacks(agent, fallbacks, model), None
    agent = with_windows(agent)
    return machine.start(
        agent,
        user_input,
        context,
        model=model,
        limits=machine.limits_of(options.get("limits")) or machine.Limits(),
        policy=options.get("policy")
        or (machine.ask_all if options.get("approve") else machine.allow_all),
        settings=options.get("settings"),
        check_results=options.get("check_results") is not False,
        run_id=run_id or os.urandom(8).hex(),
        once=(each.name for each in library.values() if each.once),
    ).state


def _fallbacks(options: BeginOptions) -> tuple[Model, ...]:
    """The models that are asked where others cannot be.

    Raises:
        ConfigurationError: one is not the name of a model, or there is a model that is an object.
    """
    given = options.get("fallbacks") or ()
    if isinstance(given, str) or not all(isinstance(each, str | Model) for each in given):
        raise ConfigurationError('fallbacks are names of models: fallbacks=["Provider/name"]')
    model = options.get("model")
    if given and model is not None and named_model(model) is None:
        raise ConfigurationError("fallbacks are for models given by their names, not for an object")
    named = (named_model(each) for each in given)
    return tuple(each for each in named if each is not None)


def run(
    program: ProgramLike,
    user_input: machine.Given,
    tools: LibraryLike = None,
    context: Iterable[machine.Message] | None = None,
    **options: Unpack[BeginOptions[V]],
) -> machine.AgentResponse[V]:
    """Run an agent or a workflow: say something to it, or call it, and get its answer.

    Errors have the last ``state`` of the run, from which `resume_run` goes on. To have it also
    when the run is interrupted from outside, keep the `Run` that `begin` returns.

    Args:
        program: the program: a document, its patterns, or the pattern of an agent.
        user_input: what the user says, not empty, such as ``"hello"`` or, with files,
            ``["What is this?", File("chart.png")]``; or the arguments by name, where the agent or
            workflow has a signature.
        tools: the implementations of the agent's tools, if it has some: a `ToolLibrary`, or a
            list of tools and functions.
        context: the conversation before, such as the last response's ``context``, or a list of
            messages, if there is one.
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
    return begin_for("run", program, user_input, tools, context, options).finish()


async def arun(
    program: ProgramLike,
    user_input: machine.Given,
    tools: LibraryLike = None,
    context: Iterable[machine.Message] | None = None,
    **options: Unpack[BeginOptions[V]],
) -> machine.AgentResponse[V]:
    """Run an agent in the event loop that runs; see `run`."""
    return await (await _begun("arun", program, user_input, tools, context, options)).afinish()


def stream(
    program: ProgramLike,
    user_input: machine.Given,
    tools: LibraryLike = None,
    context: Iterable[machine.Message] | None = None,
    **options: Unpack[BeginOptions],
) -> Iterator[Observation]:
    """Run an agent and watch it; the last observation is `Finished`. See `run`."""
    return begin_for("stream", program, user_input, tools, context, options).stream()


def astream(
    program: ProgramLike,
    user_input: machine.Given,
    tools: LibraryLike = None,
    context: Iterable[machine.Message] | None = None,
    **options: Unpack[BeginOptions],
) -> AsyncGenerator[Observation, None]:
    """Watch an agent in the event loop that runs; see `stream`.

    Nothing new begins until what was seen has been read. What models say meanwhile waits: at most
    the replies that are under way.
    """
    check_options(options, by="astream")

    async def seen() -> AsyncGenerator[Observation, None]:
        begun = await _begun("astream", program, user_input, tools, context, options)
        async with aclosing(begun.astream()) as found:
            async for each in found:
                yield each

    return seen()


async def _begun(by: str, *given: Any) -> Run:
    """Begin a run; a store or a file is opened in a worker thread, since that may take a while."""
    begins = partial(begin_for, by, *given)
    *_, options = given
    return begins() if options.get("record") is None else await call_in_thread(begins)


def execute_agent(
    program: ProgramLike,
    user_input: machine.Given,
    context: Iterable[machine.Message] | None = None,
    **options: Unpack[BeginOptions],
) -> machine.AgentResponse:
    """Run an agent without a tool library; the keywords and errors are those of `run`."""
    return begin_for("execute_agent", program, user_input, None, context, options).finish()


def execute_agent_with_library(
    program: ProgramLike,
    user_input: machine.Given,
    context: Iterable[machine.Message],
    library: LibraryLike,
    **options: Unpack[BeginOptions],
) -> machine.AgentResponse:
    """Run an agent with a tool library; the keywords and errors are those of `run`.

    The order of the arguments is the specification's; `run` takes the library first.
    """
    by = "execute_agent_with_library"
    return begin_for(by, program, user_input, library, context, options).finish()
