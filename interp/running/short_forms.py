"""Functions that run an agent in one call; they make a `Run` and drive it to its end."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing
from typing import Any, TypeVar, Unpack, overload

from lenses_ext import ProgramLike

from ..concurrency import call_in_thread
from ..execution import Observation
from ..machine import AgentResponse, Given, Message
from ..tools import LibraryLike
from .beginning import begin_for
from .options import BeginOptions, RunOptions, check_options
from .runs import Run

V = TypeVar("V")


@overload
def run(
    program: ProgramLike,
    user_input: Given,
    tools: LibraryLike = None,
    context: Iterable[Message] | None = None,
    *,
    answer_type: type[V],
    agent: str | None = None,
    **options: Unpack[RunOptions],
) -> AgentResponse[V]: ...
@overload
def run(
    program: ProgramLike,
    user_input: Given,
    tools: LibraryLike = None,
    context: Iterable[Message] | None = None,
    **options: Unpack[BeginOptions],
) -> AgentResponse[Any]: ...
def run(
    program: ProgramLike,
    user_input: Given,
    tools: LibraryLike = None,
    context: Iterable[Message] | None = None,
    **options: Unpack[BeginOptions],
) -> AgentResponse:
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


@overload
async def arun(
    program: ProgramLike,
    user_input: Given,
    tools: LibraryLike = None,
    context: Iterable[Message] | None = None,
    *,
    answer_type: type[V],
    agent: str | None = None,
    **options: Unpack[RunOptions],
) -> AgentResponse[V]: ...
@overload
async def arun(
    program: ProgramLike,
    user_input: Given,
    tools: LibraryLike = None,
    context: Iterable[Message] | None = None,
    **options: Unpack[BeginOptions],
) -> AgentResponse[Any]: ...
async def arun(
    program: ProgramLike,
    user_input: Given,
    tools: LibraryLike = None,
    context: Iterable[Message] | None = None,
    **options: Unpack[BeginOptions],
) -> AgentResponse:
    """Run an agent in the event loop that runs; see `run`."""
    return await (await _begun("arun", program, user_input, tools, context, options)).afinish()


def stream(
    program: ProgramLike,
    user_input: Given,
    tools: LibraryLike = None,
    context: Iterable[Message] | None = None,
    **options: Unpack[BeginOptions],
) -> Iterator[Observation]:
    """Run an agent and watch it; the last observation is `Finished`. See `run`."""
    return begin_for("stream", program, user_input, tools, context, options).stream()


def astream(
    program: ProgramLike,
    user_input: Given,
    tools: LibraryLike = None,
    context: Iterable[Message] | None = None,
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


async def _begun(
    by: str,
    program: ProgramLike,
    user_input: Given,
    tools: LibraryLike,
    context: Iterable[Message] | None,
    options: BeginOptions,
) -> Run:
    """Begin a run; a store or a file is opened in a worker thread, since that may take a while."""
    if options.get("record") is None:
        return begin_for(by, program, user_input, tools, context, options)
    return await call_in_thread(lambda: begin_for(by, program, user_input, tools, context, options))


def execute_agent(
    program: ProgramLike,
    user_input: Given,
    context: Iterable[Message] | None = None,
    **options: Unpack[BeginOptions],
) -> AgentResponse:
    """Run an agent without a tool library; the keywords and errors are those of `run`."""
    return begin_for("execute_agent", program, user_input, None, context, options).finish()


def execute_agent_with_library(
    program: ProgramLike,
    user_input: Given,
    context: Iterable[Message],
    library: LibraryLike,
    **options: Unpack[BeginOptions],
) -> AgentResponse:
    """Run an agent with a tool library; the keywords and errors are those of `run`.

    The order of the arguments is the specification's; `run` takes the library first.
    """
    by = "execute_agent_with_library"
    return begin_for(by, program, user_input, library, context, options).finish()
