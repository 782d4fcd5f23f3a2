"""One exchange with a client: a run, and what the client sees of it while it goes on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing
from functools import partial
from time import monotonic
from typing import Final, TypeAlias, Union, cast

from attrs import frozen

from gram import Pattern
from lenses_ext import tool_spec_schema, view
from lenses_ext.language import tool_spec_of, written_signature

from ..concurrency import call_in_thread
from ..errors import AgentError, ApprovalNeeded
from ..execution import (
    Finished,
    Observation,
    SaidBeforeCalls,
    TextDelta,
    ToolFinished,
    ToolStarted,
)
from ..history.stores import StoredRun, open_store
from ..json_text import Json, json_or_text
from ..machine import (
    AgentFrame,
    At,
    Decided,
    Given,
    State,
    Status,
    answer_schema_of,
    frame_at,
    response,
    says_result,
)
from ..running import BeginOptions, Run, RunOptions, begin
from ..tools import ToolLibrary
from .asked import Asked
from .refusals import RefusedError
from .replies import Answer, Reply

LOGGER: Final = logging.getLogger("interp.serving")

_SILENCE: Final = 15.0  # seconds after which a comment says that the stream lives

End: TypeAlias = Union[Answer, RefusedError]
"""What an exchange ends with."""


@frozen
class Served:
    """An agent or workflow that is served.

    Attributes:
        program: its pattern.
        library: its tools.
        options: how it is run.
    """

    program: Pattern
    library: ToolLibrary
    options: BeginOptions

    def given(self, said: Given) -> Given:
        """What it is begun with: the arguments, where a text is a JSON object of these."""
        if not isinstance(said, str) or written_signature(self.program) is None:
            return said
        value = json_or_text(said)
        names = view(tool_spec_schema, tool_spec_of(self.program)).get("properties", {})
        is_arguments = isinstance(value, dict) and bool(value) and value.keys() <= names.keys()
        return cast(Given, value) if is_arguments else said

    def begun(self, asked: Asked, record: str | None) -> Run | State:
        """Begin a run, or take up one that waited; a State is of one that waits or has ended.

        Args:
            asked: what the client says.
            record: the store that the run is kept in, or None.

        Raises:
            AgentError, OSError: the run cannot begin.
        """
        options: BeginOptions = {**self.options, "record": record}
        if asked.conversation is None:
            given, context = self.given(asked.said), asked.messages[:-1]
            return begin(self.program, given, self.library, context, **options)
        if record is None:
            raise RefusedError(
                "conversations are not kept here: the server was started without --record",
                code="unsupported",
                param="conversation",
            )
        if (waited := self._waited(record, asked.conversation)) is not None:
            return waited
        options["conversation"] = asked.conversation
        return begin(self.program, self.given(asked.said_since), self.library, **options)

    def _waited(self, record: str, conversation: str) -> Run | State | None:
        """The last turn of a conversation, if it waits for a person or one has decided since."""
        with open_store(record) as store:
            run = store.conversation(conversation).unfinished_turn()
            if run is None:
                return None
            log, kept = StoredRun.of(store, run, closes_store=True)
        last = kept.state.events[-2:]
        if kept.state.asks or kept.state.status is Status.DONE:
            return kept.state
        if not any(isinstance(each, Decided) for each in last):
            return None  # it failed or was cut; a new turn has what was done in it
        kept_options = {"model", "base_url", "dialect", "match", "on_tool_error", "telemetry"}
        options = {name: each for name, each in self.options.items() if name in kept_options}
        if kept.state.model or not options.get("model"):
            options.pop("model", None)
        return Run(kept.state, self.library, **cast(RunOptions, {**options, "record": log}))


class Exchange:
    """A run for one request, in a task of its own.

    Args:
        served: what is run.
        asked: what the client says.
        record: the store that the run is kept in, or None.
        reply: makes the reply to the run of an id.
        shows_tools: whether the client sees calls of tools.

    Attributes:
        run: the id of the run, "" until it has begun.
        reply: the reply, when the run has begun.
        task: what drives the run.
    """

    reply: Reply

    def __init__(
        self,
        served: Served,
        asked: Asked,
        record: str | None,
        reply: Callable[[str, Asked], Reply],
        *,
        shows_tools: bool = False,
    ) -> None:
        self._served, self._asked, self._record = served, asked, record
        self._make, self._shows_tools = reply, shows_tools
        self._news: asyncio.Queue[str | End] = asyncio.Queue()
        self._said, self._said_at = "", cast(At, ())
        self.run = ""
        self.task = asyncio.create_task(self._drive())

    async def end(self) -> Answer:
        """Wait for the answer.

        Raises:
            RefusedError: there is none.
        """
        while isinstance(news := await self._news.get(), str):
            pass
        if isinstance(news, RefusedError):
            raise news
        return news

    async def first(self) -> str:
        """Wait until the run has begun; gives the first event of the stream.

        Raises:
            RefusedError: it cannot begin.
        """
        news = await self._news.get()
        if isinstance(news, str):
            return news
        assert isinstance(news, RefusedError), "a stream begins with an event"
        raise news

    async def events(self, first: str) -> AsyncIterator[str]:
        """The events of the stream, until it has ended."""
        yield first
        while True:
            try:
                news = await asyncio.wait_for(self._news.get(), _SILENCE)
            except TimeoutError:
                yield ": the run goes on\n\n"
                continue
            if isinstance(news, str):
                yield news
                continue
            last = self.reply.ended(news) if isinstance(news, Answer) else self.reply.failed(news)
            for each in last:
                yield each
            return

    def leave(self) -> None:
        """Let it go: the client has gone. A run that is kept goes on."""
        if self._record is None:
            self.task.cancel()

    async def _drive(self) -> None:
        began, end = monotonic(), "cancelled"
        try:
            answer = await self._answer()
            end = "answered"
            self._news.put_nowait(answer)
        except asyncio.CancelledError:
            self._news.put_nowait(RefusedError("the server stops", status=503, retry_after=1))
            raise
        except Exception as error:  # whatever it is, the client gets an answer
            refused = RefusedError.of(error)
            end = refused.code
            if not isinstance(error, AgentError):
                LOGGER.error("failed", exc_info=error, extra={"event": "request_failed"})
            elif refused.status >= 500:
                LOGGER.warning("%s", error, extra={"event": "run_failed", "run": self.run})
            self._news.put_nowait(refused)
        finally:
            named = {"conversation": self._asked.conversation} if self._asked.conversation else {}
            LOGGER.info(
                "%s %s in %.2f s",
                self._asked.model,
                end,
                monotonic() - began,
                extra={"event": "exchange_ended", "run": self.run, **named},
            )

    async def _answer(self) -> Answer:
        """Drive the run to its end.

        Raises:
            AgentError, OSError: it did not come to one.
        """
        work = partial(self._served.begun, self._asked, self._record)
        begun = work() if self._record is None else await call_in_thread(work)
        state = begun if isinstance(begun, State) else begun.state
        self.run = state.run_id
        self.reply = self._make(self.run, self._asked)
        if self._asked.streams:
            self._tell(self.reply.begun())
        if isinstance(begun, State):
            answer = self._waiting(begun) if begun.asks else Answer.of(response(begun))
        else:
            try:
                answer = await self._driven(begun)
            except ApprovalNeeded:
                answer = self._waiting(begun.state)
        if self._asked.streams and not answer.is_refusal:
            self._tell_rest(answer.text)
        return answer

    async def _driven(self, begun: Run) -> Answer:
        async with aclosing(begun.astream(words=self._asked.streams)) as seen:
            async for each in seen:
                if isinstance(each, Finished):
                    return Answer.of(each.response)
                if self._asked.streams:
                    self._show(begun.state, each)
        raise AssertionError("a run that is watched to its end is finished")

    def _waiting(self, state: State) -> Answer:
        """What is told of a run that waits for a person."""
        calls = ", ".join(f"{ask.name}({ask.arguments})" for ask in state.asks)
        told = f"Run {state.run_id} waits for approval of {calls}. `gram runs decide` answers"
        if self._asked.conversation is None:
            return Answer(f"{told}, and `gram resume` goes on.", state.usage)
        return Answer(
            f"{told}; the next message of this conversation gives the result.", state.usage
        )

    def _show(self, state: State, seen: Observation) -> None:
        match seen:
            case TextDelta() if _streams(state, seen.at):
                self._said = (self._said if seen.at == self._said_at else "") + seen.text
                self._said_at = seen.at
                self._tell(self.reply.said(seen.text))
            case SaidBeforeCalls() if self._said:
                self._said = ""
                self._tell(self.reply.parted())
            case ToolStarted() if self._shows_tools:
                call = seen.call
                fields = {"name": call.name, "arguments": json_or_text(call.arguments)}
                self._tell(self.reply.watched("tool_started", {"at": [*call.at], **fields}))
            case ToolFinished() if self._shows_tools:
                self._tell(self.reply.watched("tool_finished", _of_call(seen)))

    def _tell_rest(self, text: str) -> None:
        """Say what was not said yet: models that do not stream, and typed answers, come whole."""
        if not text.startswith(self._said):
            self._tell(self.reply.parted())
            self._said = ""
        if rest := text[len(self._said) :]:
            self._tell(self.reply.said(rest))

    def _tell(self, events: Iterator[str]) -> None:
        for each in events:
            self._news.put_nowait(each)


def _of_call(seen: ToolFinished) -> dict[str, Json]:
    made = seen.invocation
    result: Mapping[str, Json] = (
        {"result": made.result} if made.error is None else {"error": made.error}
    )
    return {"at": [*seen.at], "name": made.tool_name, "arguments": made.args, **result}


def _streams(state: State, at: At) -> bool:
    """Whether what a model says at a position is sent word by word: the words of the answer.

    An answer of a declared type is sent when it is known to be of that type.
    """
    if not says_result(state, at):
        return False
    frame = frame_at(state, at)
    return isinstance(frame, AgentFrame) and answer_schema_of(frame.agent) is None
