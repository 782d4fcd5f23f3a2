"""The short forms of running an agent: one call each, over `interp.runs`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, TypedDict, Unpack

from gram import Pattern
from gram.faults import errors
from lenses_ext import Match, validate_agent_pattern

from .approval import ApprovalPolicy, allow_all, ask_all
from .errors import ConfigurationError, ValidationError
from .library import ToolLibrary, empty_tool_library
from .limits import Limits
from .machine import start
from .messages import AgentResponse, ConversationContext, empty_context
from .performing import Approver
from .runs import ModelChoice, Observer, Run
from .state import State
from .streaming import Observation


class RunOptions(TypedDict, total=False):
    """The keywords of every way to run an agent; `run` says what they mean."""

    model: ModelChoice
    limits: Limits
    match: Match
    settings: Mapping[str, Any] | None
    base_url: str | None
    check_results: bool
    policy: ApprovalPolicy | None
    approve: Approver | None
    observe: Observer | None


def begin(
    agent: Pattern,
    user_input: str,
    library: ToolLibrary = empty_tool_library,
    context: ConversationContext = empty_context,
    *,
    model: ModelChoice = None,
    limits: Limits = Limits(),
    match: Match = "full",
    settings: Mapping[str, Any] | None = None,
    base_url: str | None = None,
    check_results: bool = True,
    policy: ApprovalPolicy | None = None,
    approve: Approver | None = None,
    observe: Observer | None = None,
) -> Run:
    """A run that can begin, for those who want to hold it and its state; see `run`.

    Raises:
        ValidationError: the input is empty or the program is invalid (with its ``faults``).
        ToolBindingError: the library does not implement the tools as they are written.
        ConfigurationError: the provider is unknown, or its key is missing.
    """
    if isinstance(library, ConversationContext) or isinstance(context, ToolLibrary):
        raise ConfigurationError(
            "the library and the context are swapped: run(agent, user_input, library, context), "
            "execute_agent_with_library(agent, user_input, context, library)"
        )
    _expect(agent, Pattern, "an agent")
    _expect(user_input, str, "what the user says")
    _expect(library, ToolLibrary, "a library", "make one with ToolLibrary.of([…])")
    _expect(context, ConversationContext, "a context", "make one with ConversationContext([…])")
    _expect(limits, Limits, "limits")
    _expect(settings or {}, Mapping, "settings")
    if observe is not None and not callable(observe):
        raise ValidationError(f"observe is called with each effect and event, found {observe!r}")
    if policy is not None:
        _expect(policy, ApprovalPolicy, "a policy", "such as interp.ask_all")
    if faults := errors(validate_agent_pattern(agent)):
        raise ValidationError.of(faults)
    if policy is None:
        policy = allow_all if approve is None else ask_all
    state, _ = start(
        agent,
        user_input,
        context,
        limits=limits,
        policy=policy,
        settings=settings,
        check_results=check_results,
    )
    return Run(
        state,
        library,
        model=model,
        match=match,
        base_url=base_url,
        approve=approve,
        observe=observe,
    )


def _expect(value: object, kind: type, what: str, hint: str | None = None) -> None:
    """Refuse an argument of another type, before anything is done with it."""
    if not isinstance(value, kind):
        found = f"{what} is a {kind.__name__}, found {type(value).__name__}"
        raise ValidationError(f"{found}: {hint}" if hint else found)


def run(
    agent: Pattern,
    user_input: str,
    library: ToolLibrary = empty_tool_library,
    context: ConversationContext = empty_context,
    **options: Unpack[RunOptions],
) -> AgentResponse:
    """Run an agent: say something to it, and get its answer.

    The errors of a run carry the ``state`` it stood in, with which `resume_run` goes on. To keep
    it when a run is interrupted from outside, hold the `Run` that `begin` gives.

    Args:
        agent: the program, a pattern labelled ``Agent`` with its references resolved.
        user_input: what the user says; not empty.
        library: the implementations of the agent's tools.
        context: the conversation before, such as the last response's ``context``.
        **options: ``model``: which model to ask instead of the program's. ``limits``: how much
            the run may do. ``match``: how closely tools have to match, see `bind_tool`.
            ``settings``: settings of the model instead of those that the program has, such as
            ``{"temperature": 0.2}``; None as a value leaves one out. ``base_url``: where to ask
            for the model instead of its provider's own address. ``check_results``: whether a
            tool's result has to be of the type that the program declares; the model is told of
            one that is not. ``policy``: which tools it may run, and which it asks about; with an
            approver alone it asks about all. ``approve``: decides about a call that the policy
            asks about, by True, False or the reason for a no; None leaves it open. ``observe``:
            called with every effect and the event that answered it.

    Raises:
        ValidationError: the input is empty or the program is invalid (with its ``faults``).
        ToolBindingError: the library does not implement the tools as they are written.
        ConfigurationError: the provider is unknown, or its key is missing.
        ModelError: the model did not answer, or twice not in the type that the program declares.
        LimitError: a limit was reached.
        ApprovalNeeded: a call needs approval, and nobody is there to give it.
    """
    return begin(agent, user_input, library, context, **options).finish()


async def arun(
    agent: Pattern,
    user_input: str,
    library: ToolLibrary = empty_tool_library,
    context: ConversationContext = empty_context,
    **options: Unpack[RunOptions],
) -> AgentResponse:
    """Run an agent without blocking, the tools of a turn at once; see `run`."""
    return await begin(agent, user_input, library, context, **options).afinish()


def stream(
    agent: Pattern,
    user_input: str,
    library: ToolLibrary = empty_tool_library,
    context: ConversationContext = empty_context,
    **options: Unpack[RunOptions],
) -> Iterator[Observation]:
    """Run an agent and watch it; the last observation is `Finished`. See `run`."""
    return begin(agent, user_input, library, context, **options).stream()


def astream(
    agent: Pattern,
    user_input: str,
    library: ToolLibrary = empty_tool_library,
    context: ConversationContext = empty_context,
    **options: Unpack[RunOptions],
) -> AsyncIterator[Observation]:
    """Run an agent without blocking and watch it; see `stream`."""
    return begin(agent, user_input, library, context, **options).astream()


def resume_run(
    state: State,
    library: ToolLibrary = empty_tool_library,
    *,
    model: ModelChoice = None,
    limits: Limits | None = None,
    match: Match = "full",
    base_url: str | None = None,
    approve: Approver | None = None,
    observe: Observer | None = None,
) -> AgentResponse:
    """Go on from a state that was kept, to the end; see `Run` for the arguments."""
    return Run(
        state,
        library,
        model=model,
        limits=limits,
        match=match,
        base_url=base_url,
        approve=approve,
        observe=observe,
    ).finish()


def execute_agent(
    agent: Pattern,
    user_input: str,
    context: ConversationContext = empty_context,
    **options: Unpack[RunOptions],
) -> AgentResponse:
    """Run an agent without a tool library; the keywords and errors are those of `run`."""
    return run(agent, user_input, context=context, **options)


def execute_agent_with_library(
    agent: Pattern,
    user_input: str,
    context: ConversationContext,
    library: ToolLibrary,
    **options: Unpack[RunOptions],
) -> AgentResponse:
    """Run an agent with a tool library; the keywords and errors are those of `run`.

    The order of the arguments is the specification's; `run` takes the library first.
    """
    return run(agent, user_input, library, context, **options)
