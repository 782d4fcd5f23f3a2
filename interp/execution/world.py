"""The world: what performs effects. A run is a State and a world.

A world is anything with `World`'s two methods, so one can be put around another: to time it, to
repeat what failed, to rehearse. `LiveWorld` is the one that asks models, runs tools and asks for
approval. What goes wrong in a tool becomes an event; what goes wrong in a model or an approver is
an error of the run, which stays where it was.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from typing import Any, Final, Protocol, TypeAlias

from attrs import field, frozen

from gram import expect
from lenses_ext import Model

from ..concurrency import LoopThread, call_in_thread
from ..errors import (
    AgentError,
    ApprovalNeeded,
    ConfigurationError,
    ModelError,
    ToolError,
    said_by,
)
from ..machine import (
    Ask,
    CallFailed,
    CallModel,
    CallTool,
    Decided,
    Effect,
    Event,
    ModelReplied,
    State,
    ToolReturned,
    call_text,
)
from ..models import AnyModel, connect_model, one_of, read_reply
from ..programs import models_of
from ..tools import LibraryLike, Tool, acall_tool, bind_agent_tools, call_tool
from .door import DeltasWithoutKeys, event_without_keys
from .logs import log_effect
from .observations import TextDelta
from .options import Answer, Approver, OnToolError, RunOptions

Report: TypeAlias = Callable[[TextDelta], None]
"""Takes the words of a model while it speaks; it waits while nobody reads them."""

AsyncReport: TypeAlias = Callable[[TextDelta], Awaitable[None]]
"""The same for those that do not block."""


class World(Protocol):
    """What performs effects.

    ``report`` takes the words of a model while it speaks; it is None when nobody watches.

    Raises:
        ApprovalNeeded: a question stays open. The run goes on with what it can do without it.
    """

    def perform(self, effect: Effect, report: Report | None) -> Event:
        """Perform an effect, and return the event that answers it."""
        ...

    async def aperform(self, effect: Effect, report: AsyncReport | None) -> Event:
        """The same without blocking."""
        ...


@frozen
class LiveWorld:
    """The world of models, tools and people.

    Attributes:
        tools: the implementations, by name.
        model: the model that is asked.
        approve: decides about calls that need approval, or None when nobody can.
        on_tool_error: whether the model is told of a tool that raised, or the run stops.
    """

    tools: Mapping[str, Tool]
    model: AnyModel
    approve: Approver | None = None
    on_tool_error: OnToolError = "tell"
    _loop: LoopThread = field(factory=LoopThread, init=False, eq=False)

    @classmethod
    def of(cls, state: State, library: LibraryLike, options: RunOptions) -> LiveWorld:
        """The world that a run's options name; without a library it runs no tools.

        Raises:
            ToolBindingError: the library does not implement the tools as they are written.
            ConfigurationError: the provider is unknown, or its key is missing.
        """
        expect(state, State, "state", by="LiveWorld.of")
        expect(options, dict, "options", by="LiveWorld.of")
        tools: tuple[Tool, ...] = ()
        if library is not None:
            tools = bind_agent_tools(state.agent, library, match=options.get("match", "full"))
        chosen, base_url = options.get("model"), options.get("base_url")
        if chosen is None or isinstance(chosen, str | Model):
            names = (state.model,) if state.model else models_of(state.agent)
            connected = {name: connect_model(name, base_url=base_url) for name in names}
            model = one_of(connected)
        elif base_url:
            raise ConfigurationError("base_url is for a model given by its name, not for an object")
        else:
            model = chosen
        return cls(
            {tool.name: tool for tool in tools},
            AnyModel(model),
            options.get("approve"),
            options.get("on_tool_error", "tell"),
        )

    def __repr__(self) -> str:
        return f"<LiveWorld of {self.model!r}: {', '.join(self.tools) or 'no tools'}>"

    def perform(self, effect: Effect, report: Report | None) -> Event:
        """Perform an effect; a tool that is a coroutine runs in one event loop for the run."""
        log_effect(effect, self.model)
        return event_without_keys(self._performed(effect, report))

    def _performed(self, effect: Effect, report: Report | None) -> Event:
        match effect:
            case CallModel():
                with _model_failing:
                    if report is None:
                        return _replied(effect, self.model.complete(effect.request))
                    return self._streamed(effect, report)
            case Ask():
                return _decided(effect, self._answer(effect))
            case CallTool():
                try:
                    tool = self.tools[effect.name]
                    result = call_tool(tool, effect.args, loop=self._loop)
                except ToolError as error:
                    return self._failed(effect, error)
                return ToolReturned(effect.at, result)

    async def aperform(self, effect: Effect, report: AsyncReport | None) -> Event:
        """Perform an effect without blocking; what blocks runs in a thread."""
        log_effect(effect, self.model)
        return event_without_keys(await self._aperformed(effect, report))

    async def _aperformed(self, effect: Effect, report: AsyncReport | None) -> Event:
        match effect:
            case CallModel():
                with _model_failing:
                    if report is None:
                        return _replied(effect, await self.model.acomplete(effect.request))
                    return await self._astreamed(effect, report)
            case Ask():
                return _decided(effect, await self._aanswer(effect))
            case CallTool():
                try:
                    result = await acall_tool(self.tools[effect.name], effect.args)
                except ToolError as error:
                    return self._failed(effect, error)
                return ToolReturned(effect.at, result)

    def close(self) -> None:
        """End the event loop of the tools; connections to models are kept for the next run."""
        self._loop.close()

    async def aclose(self) -> None:
        """The same without blocking."""

    def _streamed(self, effect: CallModel, report: Report) -> ModelReplied:
        words: list[str] = []
        deltas = DeltasWithoutKeys()
        whole = None
        pieces = self.model.stream(effect.request)
        try:
            for piece in pieces:
                if not isinstance(piece, str):
                    whole = piece
                elif piece:
                    words.append(piece)
                    for delta in deltas.take(TextDelta(effect.at, piece)):
                        report(delta)
        finally:
            if isinstance(pieces, Generator):
                pieces.close()
        for delta in deltas.rest():
            report(delta)
        return _replied(effect, "".join(words) if whole is None else whole)

    async def _astreamed(self, effect: CallModel, report: AsyncReport) -> ModelReplied:
        words: list[str] = []
        deltas = DeltasWithoutKeys()
        whole = None
        pieces = self.model.astream(effect.request)
        try:
            async for piece in pieces:
                if not isinstance(piece, str):
                    whole = piece
                elif piece:
                    words.append(piece)
                    for delta in deltas.take(TextDelta(effect.at, piece)):
                        await report(delta)
        finally:
            if isinstance(pieces, AsyncGenerator):
                await pieces.aclose()
        for delta in deltas.rest():
            await report(delta)
        return _replied(effect, "".join(words) if whole is None else whole)

    def _failed(self, call: CallTool, error: ToolError) -> CallFailed:
        if self.on_tool_error == "raise":
            raise error
        return CallFailed(call.at, error.message, error.__cause__ or error)

    def _answer(self, ask: Ask) -> Answer:
        if self.approve is None:
            return None
        with _approver_failing:
            answer = self.approve(ask)
        if inspect.isawaitable(answer):
            getattr(answer, "close", lambda: None)()
            raise ConfigurationError("an approver that is a coroutine function needs arun")
        return answer

    async def _aanswer(self, ask: Ask) -> Answer:
        approve = self.approve
        if approve is None:
            return None
        with _approver_failing:
            if inspect.iscoroutinefunction(approve):
                answer: Answer = await approve(ask)
                return answer
            given = await call_in_thread(lambda: approve(ask))  # it may wait for a person
            return await given if inspect.isawaitable(given) else given


class _Failing:
    """What the user's code raises inside becomes an error of the run, with its cause.

    A class, since one made by `contextmanager` takes three times as long, at every request.

    Args:
        whose: what is said to have failed.
        kind: the error of the run.
    """

    __slots__ = ("_kind", "_whose")

    def __init__(self, whose: str, kind: type[AgentError]) -> None:
        self._whose, self._kind = whose, kind

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, AgentError):
            raise self._kind(f"the {self._whose} failed: {said_by(error)}") from error


_model_failing: Final = _Failing("model", ModelError)
_approver_failing: Final = _Failing("approver", AgentError)


def _replied(effect: CallModel, reply: Any) -> ModelReplied:
    """The event of a reply in any form that models give."""
    return ModelReplied(effect.at, *read_reply(reply, effect.request))


def _decided(ask: Ask, answer: Answer) -> Decided:
    """The event of an answer.

    Raises:
        ApprovalNeeded: it is left open.
        ConfigurationError: it is not an answer; only True approves.
    """
    if answer is None:
        raise ApprovalNeeded(f"the run waits for approval of {call_text(ask.name, ask.arguments)}")
    if isinstance(answer, str):
        return Decided(ask.at, False, answer)
    if not isinstance(answer, bool):
        expected = "True, False, why not (a str), or None to leave it open"
        raise ConfigurationError(f"an approver answers {expected}; found {answer!r}")
    return Decided(ask.at, answer)
