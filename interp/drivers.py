"""Drivers: they perform the effects that the machine asks for, and feed the answers back.

``run`` does so one after another, ``arun`` the tools of a turn at once. Both go through the same
states, since results enter in the order of the calls.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, ExitStack
from typing import Any, TypeAlias, Union

from attrs import frozen

from gram import GramEncodeError, Pattern
from gram.faults import errors
from lenses_ext import Match, Model, agent_model, agent_name, validate_agent_pattern, view

from .binding import bind_agent_tools
from .effects import CallFailed, CallModel, CallTool, Effect, Event, ModelReplied, ToolReturned
from .errors import ConfigurationError, LimitError, ModelError, ToolError, ValidationError
from .invocation import ainvoke_tool, invoke_tool
from .json_text import write_json
from .library import ToolLibrary, empty_tool_library
from .limits import Limits
from .logs import alogged, logged
from .machine import Step, response, start, step
from .messages import AgentResponse, ConversationContext, empty_context
from .providers import LanguageModel, language_model
from .state import State, Status
from .tool import Tool
from .tool_context import ToolContext, providing
from .wire import Reply, read_reply

ModelChoice: TypeAlias = Union[str, Model, LanguageModel, None]
"""Which model to ask: ``"Provider/name"``, a `Model`, anything with ``complete``, or None for the
one that the program names."""

Observer: TypeAlias = Callable[[Effect, Event], None]
"""Called with every effect and the event that answered it."""


def run(
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
    observe: Observer | None = None,
) -> AgentResponse:
    """Run an agent: say something to it, and get its answer.

    Args:
        agent: the program, a pattern labelled ``Agent`` with its references resolved.
        user_input: what the user says; not empty.
        library: the implementations of the agent's tools.
        context: the conversation before, such as the last response's ``context``.
        model: which model to ask instead of the program's.
        limits: how much the run may do.
        match: how closely tools have to match, see `bind_tool`.
        settings: settings of the model instead of those that the program has, such as
            ``{"temperature": 0.2}``; None as a value leaves one out.
        base_url: where to ask for the model instead of its provider's own address.
        observe: called with every effect and the event that answered it.

    Raises:
        ValidationError: the input is empty or the program is invalid (with its ``faults``).
        ToolBindingError: the library does not implement the tools as they are written.
        ConfigurationError: the provider is unknown, or its key is missing.
        ModelError: the model did not answer, or twice not in the type that the program declares.
        LimitError: a limit was reached; the error keeps the state.
    """
    ready = _prepare(agent, user_input, library, context, model, limits, match, settings, base_url)
    with ExitStack() as cleanup:
        if ready.is_ours and hasattr(ready.model, "close"):
            cleanup.callback(ready.model.close)
        state, effects = ready.first
        queue = deque(effects)
        while queue:
            effect = queue.popleft()
            event = _perform(effect, ready, state)
            if observe:
                observe(effect, event)
            state, effects = step(state, event)
            queue.extend(effects)
    return _finished(state)


async def arun(
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
    observe: Observer | None = None,
) -> AgentResponse:
    """Run an agent without blocking, the tools of a turn at once; see `run`."""
    import asyncio  # imported where it is used: it takes longer than a short program

    ready = _prepare(agent, user_input, library, context, model, limits, match, settings, base_url)
    async with AsyncExitStack() as cleanup:
        if ready.is_ours and hasattr(ready.model, "aclose"):
            cleanup.push_async_callback(ready.model.aclose)
        state, effects = ready.first
        while effects:
            events = await asyncio.gather(*(_aperform(effect, ready, state) for effect in effects))
            asked = effects
            for effect, event in zip(asked, events, strict=True):
                if observe:
                    observe(effect, event)
                state, effects = step(state, event)
    return _finished(state)


def execute_agent(
    agent: Pattern,
    user_input: str,
    context: ConversationContext = empty_context,
    **options: Any,
) -> AgentResponse:
    """Run an agent without a tool library; the keywords and errors are those of `run`."""
    return run(agent, user_input, context=context, **options)


def execute_agent_with_library(
    agent: Pattern,
    user_input: str,
    context: ConversationContext,
    library: ToolLibrary,
    **options: Any,
) -> AgentResponse:
    """Run an agent with a tool library; the keywords and errors are those of `run`.

    The order of the arguments is the specification's; `run` takes the library first.
    """
    return run(agent, user_input, library, context, **options)


# --- what both drivers share


@frozen
class _Ready:
    """A run that can begin: its tools bound, its model chosen, its first step taken."""

    tools: dict[str, Tool]
    model: LanguageModel
    is_ours: bool
    """Whether the model was made for this run, to be closed after it."""
    first: Step


def _prepare(
    agent: Pattern,
    user_input: str,
    library: ToolLibrary,
    context: ConversationContext,
    model: ModelChoice,
    limits: Limits,
    match: Match,
    settings: Mapping[str, Any] | None,
    base_url: str | None,
) -> _Ready:
    if isinstance(library, ConversationContext) or isinstance(context, ToolLibrary):
        raise ConfigurationError(
            "the library and the context are swapped: run(agent, user_input, library, context), "
            "execute_agent_with_library(agent, user_input, context, library)"
        )
    if not isinstance(agent, Pattern):
        raise ValidationError(f"an agent is a Pattern, found {type(agent).__name__}")
    if faults := errors(validate_agent_pattern(agent)):
        raise ValidationError.of(faults)
    override = _named(model)
    first = start(agent, user_input, context, model=override, limits=limits, settings=settings)
    tools = bind_agent_tools(agent, library, match=match)
    is_ours = model is None or override is not None
    if base_url and not is_ours:
        raise ConfigurationError("a base_url is for a model that is named; this one has its own")
    named = override or view(agent_model, agent)
    return _Ready(
        tools={tool.name: tool for tool in tools},
        model=language_model(named, base_url=base_url) if is_ours else _given(model),
        is_ours=is_ours,
        first=first,
    )


def _named(model: ModelChoice) -> Model | None:
    """The model that a choice names, or None when it names none."""
    if not isinstance(model, str):
        return model if isinstance(model, Model) else None
    try:
        return Model.parse(model)
    except GramEncodeError as error:
        raise ConfigurationError(str(error)) from None


def _given(model: Any) -> LanguageModel:
    if not callable(getattr(model, "complete", None)):
        raise ConfigurationError(f"{model!r} is no model: it has no complete(request)")
    found: LanguageModel = model
    return found


@logged
def _perform(effect: Effect, ready: _Ready, state: State) -> Event:
    if isinstance(effect, CallModel):
        return _replied(effect, read_reply(ready.model.complete(effect.request)))
    try:
        with providing(_tool_context(effect, state)):
            return _returned(effect, invoke_tool(ready.tools[effect.name], effect.args))
    except ToolError as error:
        return CallFailed(effect.turn, effect.index, str(error))


@alogged
async def _aperform(effect: Effect, ready: _Ready, state: State) -> Event:
    if isinstance(effect, CallModel):
        acomplete = getattr(ready.model, "acomplete", None)
        if acomplete is None:
            import asyncio

            reply = await asyncio.to_thread(ready.model.complete, effect.request)
        else:
            reply = await acomplete(effect.request)
        return _replied(effect, read_reply(reply))
    try:
        with providing(_tool_context(effect, state)):
            return _returned(effect, await ainvoke_tool(ready.tools[effect.name], effect.args))
    except ToolError as error:
        return CallFailed(effect.turn, effect.index, str(error))


def _tool_context(call: CallTool, state: State) -> ToolContext:
    return ToolContext(view(agent_name, state.agent), call.name, state.context)


def _replied(effect: CallModel, reply: Reply) -> ModelReplied:
    return ModelReplied(effect.turn, reply.message, reply.usage, reply.truncated)


def _returned(effect: CallTool, result: object) -> ToolReturned:
    return ToolReturned(effect.turn, effect.index, write_json(result))


def _finished(state: State) -> AgentResponse:
    if state.status is Status.LIMITED:
        raise LimitError(f"the run stopped after {state.stopped}", state)
    if state.status is Status.UNUSABLE:
        raise ModelError(f"the model's answer is not what the program declares: {state.stopped}")
    return response(state)
