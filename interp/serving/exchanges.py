"""One exchange with a client: a run, and what the client sees of it while it goes on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from .. import execution, machine
from ..concurrency import call_in_thread
from ..errors import AgentError, ApprovalNeeded
from ..execution import AgentFinished, Observation, SaidBeforeCalls, TextDelta, ToolStarted
from ..json_text import Json, json_or_text
from ..machine import AgentResponse, AgentStarted, At, State, ToolFinished, ToolInvocation
from ..running import Run
from .requests import Asked, RefusedError

if TYPE_CHECKING:
    from .serving import Serving

LOGGER: Final = logging.getLogger("interp.serving")

_BUSY: Final = 1.0  # seconds after which a client may ask again
_SILENCE: Final = 15.0  # seconds after which a comment says that the stream lives


News: TypeAlias = tuple[Any, ...]
"""What a client sees of a run: its kind, which is a method of replies, and what that method takes;
``("silent",)`` after a while without anything."""


class Exchange:
    """A run for one request, in a task of its own.

    Args:
        begin: begins the run, or takes it up; a State is of one that waits or has ended.

    Raises:
        RefusedError: too many runs are under way.

    Attributes:
        run: the id of the run, "" until it has begun.
        asks: the calls that wait for a person at its end; the answer says so.
        task: what drives the run; gives its answer, or raises RefusedError.
    """

    def __init__(self, serving: Serving, asked: Asked, begin: Callable[[], Run | State]) -> None:
        if len(serving.going) >= serving.at_once:
            told = f"{serving.at_once} runs are under way: ask again in a moment"
            raise RefusedError(told, status=429, code="rate_limit_exceeded", retry_after=_BUSY)
        self._serving, self._asked, self._begin = serving, asked, begin
        self._news: asyncio.Queue[News | None] = asyncio.Queue()  # None is the last
        self._said, self._said_at = "", cast(At, ())
        self.run, self.asks = "", tuple[machine.Ask, ...]()
        self.task = asyncio.create_task(self._drive())
        serving.going.add(self.task)
        self.task.add_done_callback(self._over)

    async def first(self) -> None:
        """Wait until the run has begun."""
        if await self._news.get() is None:
            self.task.result()  # raises why it has not

    async def seen(self) -> AsyncIterator[News]:
        """What the client sees, as it comes."""
        while True:
            try:
                news = await asyncio.wait_for(self._news.get(), _SILENCE)
            except TimeoutError:
                news = ("silent",)
            if news is None:
                return
            yield news

    async def end(self, tell: Callable[..., Awaitable[None]] | None = None) -> AgentResponse:
        """Wait for the answer; without anybody who waits for it, the run is let go."""
        try:
            async for news in self.seen():
                if tell:
                    await tell(*news)
            return self.task.result()
        finally:
            self.leave()

    def leave(self) -> None:
        """Let it go: the client has gone. A run that is kept goes on."""
        if self._serving.record is None:
            self.task.cancel()

    def _over(self, task: asyncio.Task[AgentResponse]) -> None:
        self._serving.going.discard(task)
        if not task.cancelled():
            task.exception()  # the log has it, where no client is left that is told

    async def _drive(self) -> AgentResponse:
        began, how = monotonic(), "cancelled"
        try:
            answer = await self._answer()
            how = "answered"
            return answer
        except asyncio.CancelledError:
            raise RefusedError("the server stops", status=503, retry_after=1) from None
        except Exception as error:  # whatever it is, the client gets an answer
            refused = RefusedError.of(error)
            how = refused.code
            if not isinstance(error, AgentError):
                LOGGER.error("failed", exc_info=error, extra={"event": "request_failed"})
            elif refused.status >= 500:
                LOGGER.warning("%s", error, extra={"event": "run_failed", "run": self.run})
            raise refused from None
        finally:
            told = self._asked.model, how, monotonic() - began
            with execution.log_fields(run=self.run or None, conversation=self._asked.conversation):
                LOGGER.info("%s %s in %.2f s", *told, extra={"event": "exchange_ended"})
            self._news.put_nowait(None)

    async def _answer(self) -> AgentResponse:
        begun = await call_in_thread(self._begin) if self._serving.record else self._begin()
        state = begun if isinstance(begun, State) else begun.state
        self.run = state.run_id
        self._tell("begun")
        if isinstance(begun, Run):
            fields = execution.log_fields(run=self.run, conversation=self._asked.conversation)
            with fields, suppress(ApprovalNeeded):
                async with aclosing(begun.astream(words=self._asked.streams)) as seen:
                    async for each in seen:
                        self._show(begun.state, each)
            state = begun.state
        self.asks = state.asks
        answer = self._waiting(state) if state.asks else machine.response(state)
        if not answer.refused:
            self._tell_rest(answer.content)
        return answer

    def _waiting(self, state: State) -> AgentResponse:
        """What is told of a run that waits for a person, as if it were its answer."""
        calls = ", ".join(f"{ask.name}({ask.arguments})" for ask in state.asks)
        told = f"Run {state.run_id} waits for approval of {calls}. `gram runs decide` answers"
        then = "; the next message of this conversation gives the result."
        if self._asked.conversation is None:
            then = ", and `gram resume` goes on."
        return AgentResponse(f"{told}{then}", usage=state.usage)

    def _show(self, state: State, seen: Observation) -> None:
        match seen:
            case TextDelta() if machine.streams_result(state, seen.at):
                self._said = (self._said if seen.at == self._said_at else "") + seen.text
                self._said_at = seen.at
                self._tell("said", seen.text)
            case SaidBeforeCalls() if self._said:
                self._said = ""
                self._tell("parted")
            case _ if self._serving.shows_tools and (watched := _watched(seen)):
                self._tell("watched", *watched)

    def _tell_rest(self, text: str) -> None:
        """Say what was not said yet: models that do not stream, and typed answers, come whole."""
        if not text.startswith(self._said):
            self._tell("parted")
            self._said = ""
        if rest := text[len(self._said) :]:
            self._tell("said", rest)

    def _tell(self, *news: Any) -> None:
        self._news.put_nowait(news)


def _watched(seen: Observation) -> tuple[str, dict[str, Json]] | None:
    """What a client that sees calls of tools is told: its kind, and its fields."""
    match seen:
        case ToolStarted(call):
            arguments = json_or_text(call.arguments)
            return "tool_started", {"at": [*call.at], "name": call.name, "arguments": arguments}
        case ToolFinished(at, made):
            told = {"at": [*at], "name": made.tool_name, "arguments": made.args}
            return "tool_finished", {**told, **_outcome(made)}
        case AgentStarted(at, name):
            return "agent_started", {"at": [*at], "name": name}
        case AgentFinished(at, name):
            return "agent_finished", {"at": [*at], "name": name, **_outcome(seen)}
    return None


def _outcome(ended: ToolInvocation | AgentFinished) -> dict[str, Json]:
    return {"result": ended.result} if ended.error is None else {"error": ended.error}
