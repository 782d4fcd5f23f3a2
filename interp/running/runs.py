"""A run: a State and a handler, which a driver brings together."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import aclosing, closing
from functools import cache
from typing import Any, Generic, Unpack

from gram.errors import expect

from ..concurrency import read_by_waiting, waited_for
from ..errors import AgentError, ConfigurationError
from ..execution import Driver, Finished, LiveHandler, Observation, named_model
from ..machine import AgentResponse, Resumed, State, limits_of
from ..shown import NOTEBOOK
from ..tools import AnswerType, LibraryLike, Tool, ToolLibrary, library_of
from .answer_types import declared_answer, with_value
from .options import RunOptions, V, budget_of, check_options


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
        self._answer: AnswerType[V] | None = declared_answer(state.agent, answer_type, by="Run")
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
            return self._read(waited_for(self._driver.finish))
        except AgentError as error:
            raise self._with_log(error).with_traceback(None) from error.__cause__

    async def afinish(self) -> AgentResponse[V]:
        """Go on to the end in the event loop that runs; see `finish`."""
        try:
            return self._read(await self._driver.finish())
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
        return Finished(self._read(seen.response)) if isinstance(seen, Finished) else seen

    def _read(self, response: AgentResponse[Any]) -> AgentResponse[V]:
        try:
            return with_value(response, self._answer)
        except AgentError as error:
            error.state = self.state
            raise

    def _with_log(self, error: AgentError) -> AgentError:
        def written() -> str:
            from ..history.records import run_text  # imported late: few runs fail

            return run_text(self.state, tuple(self._driver.tools.values()))

        error.write_log = written
        return error


_OF_THE_HANDLER = ("model", "base_url", "dialect", "match", "approve", "on_tool_error")


def driver_of(state: State, library: ToolLibrary, options: RunOptions) -> Driver:
    """What drives a run by its options, from a State on; see `RunOptions`."""
    state = state if state.run_id else state.with_run_id(os.urandom(8).hex())
    handler = options.get("handler")
    tools: Mapping[str, Tool] = library

    @cache
    def live() -> LiveHandler:
        given: dict[str, Any] = {name: options.get(name) for name in _OF_THE_HANDLER}
        return LiveHandler.of(state, library, **{k: v for k, v in given.items() if v is not None})

    if handler is None:
        handler = live()
        tools = live().tools
    else:
        from ..history.replaying import UntilChanged  # imported late: most runs are live

        if isinstance(handler, UntilChanged):
            handler.live = live
    log = None
    if (record := options.get("record")) is not None:
        from ..history.stores import new_log  # imported late: most runs are not recorded

        log = new_log(record)
    change = Resumed(
        limits_of(options.get("limits"), state.limits),
        named_model(options.get("model")),
        options.get("policy"),
        options.get("settings"),
        options.get("check_results"),
    )
    return Driver(
        state,
        handler,
        tools=tools,
        log=log,
        change=None if change == Resumed() else change,
        observe=options.get("observe"),
        watch=options.get("watch"),
        telemetry=options.get("telemetry"),
        at_once=options.get("at_once"),
        budget=budget_of(state, options),
    )
