"""Runs, and the functions that begin one, or run an agent in one call.

A `Run` is a State and a handler, which a driver brings together.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Generator, Iterable, Iterator, Mapping
from contextlib import aclosing, closing
from functools import cache, partial
from typing import Any, Final, Generic, Unpack, cast

from gram import origin
from gram.errors import expect
from lenses_ext import Model, ProgramLike

from .. import machine
from ..concurrency import call_in_thread, read_by_waiting, waited_for
from ..errors import AgentError, ConfigurationError
from ..execution import Driver, Finished, LiveHandler, Observation, named_model
from ..machine import AgentResponse, Resumed, State, limits_of
from ..programs import the_agent, with_fallbacks
from ..shown import NOTEBOOK
from ..tools import LibraryLike, ToolLibrary, answer_type_of, library_of, with_agents
from .answer_types import declared_answer, with_answer, with_value
from .options import BeginOptions, RunOptions, V, budget_of, check_options, with_windows


class Run(Generic[V]):
    """A run of an agent, which begins or goes on from a State.

    When it ends early, by an error, Ctrl-C, a cancellation or a reader who stops, ``state`` is the
    last complete one. `finish` or another Run goes on from there: what had ended is in the state,
    what had not is performed again.

    Args:
        state: where to go on.
        tools: the implementations of the agent's tools.
        answer_type: the Python type of its answer, as where it began.
        **options: see `RunOptions`; what differs from the state changes it.

    Attributes:
        state: the last complete State.

    Raises:
        ToolBindingError: the library does not implement the tools as they are written.
        ConfigurationError: the provider is unknown, or its key is missing.
    """

    def __init__(
        self,
        state: State,
        tools: LibraryLike = None,
        *,
        answer_type: type[V] | Any = None,
        **options: Unpack[RunOptions],
    ) -> None:
        expect(state, State, "state", by="Run")
        check_options(options, by="Run")
        if options.get("conversation") is not None:
            raise ConfigurationError("Run: a turn of a conversation begins with begin or run")
        self._answer = declared_answer(state.agent, answer_type, by="Run")
        self._driver = driver_of(state, library_of(tools, by="Run"), options)

    @property
    def state(self) -> State:
        """The last complete State."""
        return self._driver.state

    def __repr__(self) -> str:
        return repr(self.state).replace("State", "Run", 1)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {**NOTEBOOK["conversation"](self.state.context), "text/plain": repr(self)}

    def finish(self) -> AgentResponse[V]:
        """Go on to the end.

        Raises:
            ModelError: the model did not answer.
            LimitError: a limit was reached.
            ApprovalNeeded: a call needs approval, and nobody is there to give it.
        """
        try:
            return with_value(waited_for(self._driver.finish), self._answer)
        except AgentError as error:
            raise self._with_log(error).with_traceback(None) from error.__cause__

    async def afinish(self) -> AgentResponse[V]:
        """Go on to the end in the event loop that runs; see `finish`."""
        try:
            return with_value(await self._driver.finish(), self._answer)
        except AgentError as error:
            raise self._with_log(error).with_traceback(None) from error.__cause__

    def stream(self, *, words: bool = True) -> Generator[Observation, None, None]:
        """Go on to the end, and show what happens as it happens; see `finish`.

        Args:
            words: whether to show the words of the model; without, its replies come whole.
        """
        try:
            with closing(read_by_waiting(self._driver.drive(words=words))) as seen:
                yield from map(self._seen, seen)
        except AgentError as error:
            self._with_log(error)
            raise

    async def astream(self, *, words: bool = True) -> AsyncGenerator[Observation, None]:
        """Go on in the event loop that runs, and show what happens as it happens; see `stream`."""
        async with aclosing(self._driver.drive(words=words)) as seen:
            try:
                async for each in seen:
                    yield self._seen(each)
            except AgentError as error:
                self._with_log(error)
                raise

    def _seen(self, seen: Observation) -> Observation:
        if isinstance(seen, Finished):
            return Finished(with_value(seen.response, self._answer))
        return seen

    def _with_log(self, error: AgentError) -> AgentError:
        def written() -> str:
            from ..history.records import run_text  # imported late: few runs fail

            return run_text(self.state, tuple(self._driver.tools.values()))

        error.state, error.write_log = self.state, written
        return error


_OF_THE_HANDLER = ("model", "base_url", "dialect", "match", "approve", "on_tool_error")


def driver_of(state: State, library: ToolLibrary, options: RunOptions) -> Driver:
    """What drives a run by its options, from a State on; see `RunOptions`."""
    state = state if state.run_id else state.with_run_id(os.urandom(8).hex())
    handler = options.get("handler")
    tools: Mapping[str, Any] = library

    def given(*names: str) -> dict[str, Any]:
        return {name: options.get(name) for name in names}

    @cache
    def live() -> LiveHandler:
        how = {name: value for name, value in given(*_OF_THE_HANDLER).items() if value is not None}
        return LiveHandler.of(state, library, **how)

    if handler is None:
        handler = live()
        tools = live().tools
    else:
        from ..history.replaying import UntilChanged  # imported late: most runs are live

        if isinstance(handler, UntilChanged):
            handler.goes_on = live
    log = None
    if (record := options.get("record")) is not None:
        from ..history.stores import new_log  # imported late: most runs are not recorded

        log = new_log(record)
    limits, model = limits_of(options.get("limits"), state.limits), options.get("model")
    change = Resumed(limits, named_model(model), **given("policy", "settings", "check_results"))
    return Driver(
        state,
        handler,
        tools=tools,
        log=log,
        change=None if change == Resumed() else change,
        budget=budget_of(state, options),
        **given("observe", "watch", "telemetry", "at_once"),
    )


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
            f"{by}: the tools and the context are swapped: run(agent, user_input, tools, context), "
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
) -> State:
    """The State in which a run begins, see `run`.

    Args:
        library: its agents take the places of tools that they implement.
        run_id: a name for the run, or None for a new one.

    Raises:
        ValidationError: the input is empty or the program is invalid (with its ``faults``).
        ConfigurationError: an option is wrong.
    """
    expect(user_input, (str, Mapping, list, tuple), "user_input", by=by)
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
        limits=limits_of(options.get("limits")) or machine.Limits(),
        policy=options.get("policy")
        or (machine.ask_all if options.get("approve") else machine.allow_all),
        settings=options.get("settings"),
        check_results=options.get("check_results") is not False,
        run_id=run_id or os.urandom(8).hex(),
        once=(each.name for each in library.values() if each.once),
    ).state


def _fallbacks(options: BeginOptions) -> tuple[Model, ...]:
    """The models that are asked where others cannot be."""
    given = options.get("fallbacks") or ()
    if isinstance(given, str) or not all(isinstance(each, str | Model) for each in given):
        raise ConfigurationError('fallbacks are names of models: fallbacks=["Provider/name"]')
    model = options.get("model")
    if given and model is not None and named_model(model) is None:
        raise ConfigurationError("fallbacks are for models given by their names, not for an object")
    return tuple(filter(None, map(named_model, given)))


def run(
    program: ProgramLike,
    user_input: machine.Given,
    tools: LibraryLike = None,
    context: Iterable[machine.Message] | None = None,
    **options: Unpack[BeginOptions[V]],
) -> AgentResponse[V]:
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
) -> AgentResponse[V]:
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
) -> AgentResponse:
    """Run an agent without a tool library; the keywords and errors are those of `run`."""
    return begin_for("execute_agent", program, user_input, None, context, options).finish()


def execute_agent_with_library(
    program: ProgramLike,
    user_input: machine.Given,
    context: Iterable[machine.Message],
    library: LibraryLike,
    **options: Unpack[BeginOptions],
) -> AgentResponse:
    """Run an agent with a tool library; the keywords and errors are those of `run`.

    The order of the arguments is the specification's; `run` takes the library first.
    """
    by = "execute_agent_with_library"
    return begin_for(by, program, user_input, library, context, options).finish()
