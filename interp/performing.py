"""Doing what the machine asks for: asking the model, running tools, asking for approval.

What goes wrong in a tool becomes an event. What goes wrong in a model is an error of the run,
which stays where it was.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final, TypeAlias, Union

from attrs import frozen

from lenses_ext import agent_name, view

from .effects import (
    Ask,
    CallFailed,
    CallModel,
    CallTool,
    Decided,
    Event,
    ModelReplied,
    TimeUp,
    ToolReturned,
)
from .errors import AgentError, ApprovalNeeded, ConfigurationError, ToolError
from .invocation import ainvoke_tool, invoke_tool
from .json_text import Json, write_json
from .language_model import LanguageModel
from .replies import read_reply
from .state import State
from .streaming import TextDelta
from .threads import TookTooLongError, Worker, call_in_thread, within
from .timing import Clock
from .tool_context import ToolContext, providing
from .tools import Tool

Answer: TypeAlias = Union[bool, str, None]
"""An answer to a question for approval: yes, no, no and why, or None to leave it open."""

Approver: TypeAlias = Callable[[Ask], Union[Answer, Awaitable[Answer]]]
"""Called with each tool call that the policy asks about; see `Answer`."""

_END: Final = object()


@frozen
class Performer:
    """What a run needs of the world.

    Attributes:
        tools: the implementations, by name.
        model: what is asked.
        approve: who decides about calls that need approval, or None when nobody is there.
    """

    tools: Mapping[str, Tool]
    model: LanguageModel
    approve: Approver | None

    def perform(
        self, effect: CallModel | CallTool | Ask, state: State, clock: Clock, worker: Worker
    ) -> Event:
        """What an effect leads to."""
        if isinstance(effect, CallModel):
            try:
                reply = _timed(worker, clock.left, lambda: self.model.complete(effect.request))
            except TookTooLongError:
                return TimeUp(effect.turn)
            return replied(effect, reply)
        if isinstance(effect, Ask):
            with clock.standing_still():
                return decided(effect, self._answer(effect))
        seconds = _least(state.limits.tool_seconds, clock.left)
        if state.limits.tool_seconds is None:
            seconds = None  # as asked for: in the thread of the caller
        tool = self.tools[effect.name]
        try:
            with providing(_tool_context(effect, state)):
                result = _timed(worker, seconds, lambda: invoke_tool(tool, effect.args))
        except TookTooLongError:
            return TimeUp(effect.turn) if clock.left == 0 else _timed_out(effect, state)
        except ToolError as error:
            return CallFailed(effect.turn, effect.index, str(error))
        return _returned(effect, result)

    async def aperform(self, effect: CallModel | CallTool | Ask, state: State) -> Event:
        """What an effect leads to, without blocking; the caller keeps the time of the run."""
        if isinstance(effect, CallModel):
            if hasattr(self.model, "acomplete"):
                return replied(effect, await self.model.acomplete(effect.request))
            return replied(
                effect, await call_in_thread(lambda: self.model.complete(effect.request))
            )
        if isinstance(effect, Ask):
            return decided(effect, await self._aanswer(effect))
        try:
            with providing(_tool_context(effect, state)):
                called = ainvoke_tool(self.tools[effect.name], effect.args)
                result = await within(called, state.limits.tool_seconds)
        except TookTooLongError:
            return _timed_out(effect, state)
        except ToolError as error:
            return CallFailed(effect.turn, effect.index, str(error))
        return _returned(effect, result)

    @property
    def streams(self) -> bool:
        """Whether the model can stream to a caller that blocks."""
        return hasattr(self.model, "stream")

    @property
    def astreams(self) -> bool:
        """Whether it can to one that does not: ``stream`` serves too, in a thread."""
        return self.streams or hasattr(self.model, "astream")

    def stream(
        self, effect: CallModel, clock: Clock, worker: Worker
    ) -> Iterator[TextDelta | ModelReplied | TimeUp]:
        """What the model says as it says it, and the event of the whole reply at the end."""
        reply = _Words(effect)
        try:
            pieces = self.model.stream(effect.request)  # type: ignore[attr-defined]  # `streams` has said that it has one
            while (piece := _timed(worker, clock.left, lambda: next(pieces, _END))) is not _END:
                yield from reply.taking(piece)
        except TookTooLongError:
            yield TimeUp(effect.turn)
            return
        yield reply.event()

    async def astream(
        self, effect: CallModel, clock: Clock
    ) -> AsyncGenerator[TextDelta | ModelReplied | TimeUp, None]:
        """What the model says as it says it, without blocking; see `stream`."""
        reply = _Words(effect)
        pieces: Any
        if hasattr(self.model, "astream"):
            pieces = self.model.astream(effect.request)

            def following() -> Awaitable[Any]:
                return _next(pieces)

        else:
            pieces = self.model.stream(effect.request)  # type: ignore[attr-defined]  # `streams` has said that it has one

            def following() -> Awaitable[Any]:
                return call_in_thread(lambda: next(pieces, _END))

        try:
            while (piece := await within(following(), clock.left)) is not _END:
                for observation in reply.taking(piece):
                    yield observation
        except TookTooLongError:
            yield TimeUp(effect.turn)
            return
        finally:
            if hasattr(pieces, "aclose"):
                with suppress(RuntimeError):  # it may not let itself be stopped
                    await pieces.aclose()
        yield reply.event()

    def _answer(self, ask: Ask) -> Answer:
        answer = self.approve(ask) if self.approve else None
        if inspect.isawaitable(answer):
            getattr(answer, "close", lambda: None)()
            raise ConfigurationError("an approver that is a coroutine function needs arun")
        return answer

    async def _aanswer(self, ask: Ask) -> Answer:
        approve = self.approve
        if approve is None:
            return None
        if inspect.iscoroutinefunction(approve):
            answer: Answer = await approve(ask)
            return answer
        given = await call_in_thread(lambda: approve(ask))  # it may wait for a person
        return await given if inspect.isawaitable(given) else given


class _Words:
    """A streamed reply, as much of it as has come."""

    def __init__(self, effect: CallModel) -> None:
        self._effect = effect
        self._words: list[str] = []
        self._whole: Any = None

    def taking(self, piece: Any) -> Iterator[TextDelta]:
        if not isinstance(piece, str):
            self._whole = piece
        elif piece:
            self._words.append(piece)
            yield TextDelta(self._effect.turn, piece)

    def event(self) -> ModelReplied:
        return replied(self._effect, "".join(self._words) if self._whole is None else self._whole)


@contextmanager
def keeping_state(state: Callable[[], State]) -> Iterator[None]:
    """Errors of ours that are raised inside say where the run stood."""
    try:
        yield
    except AgentError as error:
        error.state = state()
        raise


def replied(effect: CallModel, reply: Any) -> ModelReplied:
    """The event of a reply in any form that models give."""
    read = read_reply(reply)
    return ModelReplied(effect.turn, read.message, read.usage, read.truncated)


def decided(ask: Ask, answer: Answer) -> Decided:
    """The event of an answer.

    Raises:
        ApprovalNeeded: it is left open.
        ConfigurationError: it is no answer; what is not said in so many words is not approved.
    """
    if answer is None:
        raise ApprovalNeeded(needs_approval((ask,)))
    if isinstance(answer, str):
        return Decided(ask.turn, ask.index, False, answer)
    if not isinstance(answer, bool):
        expected = "True, False, why not (a str), or None to leave it open"
        raise ConfigurationError(f"an approver answers {expected}; found {answer!r}")
    return Decided(ask.turn, ask.index, answer)


def needs_approval(asks: tuple[Ask, ...]) -> str:
    """What to say of calls that nobody has approved."""
    calls = ", ".join(f"{ask.name}({ask.arguments})" for ask in asks)
    return f"the run waits for approval of {calls}"


def _timed(worker: Worker, seconds: float | None, function: Callable[[], Any]) -> Any:
    return function() if seconds is None else worker.call(function, seconds)


def _least(*seconds: float | None) -> float | None:
    return min((each for each in seconds if each is not None), default=None)


def _timed_out(call: CallTool, state: State) -> CallFailed:
    error = f'tool "{call.name}" did not answer within {state.limits.tool_seconds:g} s'
    return CallFailed(call.turn, call.index, error)


def _returned(call: CallTool, result: Json) -> ToolReturned:
    return ToolReturned(call.turn, call.index, write_json(result))


def _tool_context(call: CallTool, state: State) -> ToolContext:
    return ToolContext(view(agent_name, state.agent), call.name, state.context)


async def _next(pieces: AsyncIterator[Any]) -> Any:
    return await anext(pieces, _END)
