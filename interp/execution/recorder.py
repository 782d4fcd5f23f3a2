"""Recording a run while it goes on: its events, and notes of what happened between them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from functools import partial
from threading import Lock
from time import monotonic
from typing import TypeVar

from ..concurrency import FromOutside, call_in_thread, to_its_end
from ..errors import AgentError, ApprovalNeeded, ModelError, StoreError
from ..machine import Ask, Effect, Event, State, Status
from ..models import noticing_retries
from ..secrets import without_keys
from .run_log import Folded, RunLog
from .run_notes import Begun, Failed, Note, Retried, Stopped

T = TypeVar("T")


class Recorder:
    """Writes the events of a run to its log, and notes of what happened between them.

    A log that blocks is asked in a worker thread, so that the event loop goes on.

    Args:
        log: a file, or what a store keeps of one run.

    Attributes:
        written: how many events were written.
    """

    def __init__(self, log: RunLog) -> None:
        self._log = log
        self.written = 0
        self._notes: set[asyncio.Task[None]] = set()
        self._asked: deque[Callable[[], None]] = deque()
        self._answering = Lock()

    @asynccontextmanager
    async def held(self, standing: Callable[[], State]) -> AsyncIterator[tuple[Event, ...]]:
        """Hold the log, see `RunLog.held`; what stops the run inside is noted.

        Args:
            standing: gives the State of the run.

        Returns:
            The events that the log has beside those of the State.
        """
        holding = self._log.held(standing)
        try:
            yield await self._ask(holding.__enter__)
        except BaseException as error:  # noted, and raised again
            stopped = error

            def leave() -> bool | None:  # in one go: this may be cancelled again meanwhile
                if standing().status is not Status.DONE:
                    with suppress(OSError, StoreError):
                        self._log.note(Stopped(_told(stopped)))
                return holding.__exit__(type(stopped), stopped, stopped.__traceback__)

            if not await self._ask(leave):
                raise
        else:
            await self._ask(partial(holding.__exit__, None, None, None))

    async def append(
        self, effect: Effect | None, event: Event, state: State, seconds: float | None
    ) -> None:
        """Write an event and what it led to, see `Folded`.

        Raises:
            AgentError: the log cannot be written; what was recorded before is whole.
        """
        folded = Folded(event, effect, state)

        def append() -> None:
            self._log.append(folded, seconds)
            self.written += 1

        await self._ask(partial(self._recorded, append))

    @asynccontextmanager
    async def noting(self, effect: Effect) -> AsyncIterator[None]:
        """Note that an effect begins, and whatever happens until it ends."""
        at = effect.at
        if isinstance(effect, Ask):  # it begins when it is allowed
            yield
            return
        await self._ask(partial(self._note, Begun(at)))
        began = monotonic()

        def retried(error: ModelError, wait: float) -> None:
            note = Retried(at, _told(error), wait)
            task = asyncio.ensure_future(self._ask(partial(self._note, note)))
            self._notes.add(task)
            task.add_done_callback(self._notes.discard)

        try:
            with noticing_retries(retried):
                yield
        except BaseException as error:  # noted, and raised again
            failed = Failed(at, _told(error), monotonic() - began)
            with suppress(AgentError):
                await self._ask(partial(self._note, failed))
            raise
        finally:
            if self._notes:
                await asyncio.wait(self._notes)

    def _note(self, note: Note) -> None:
        self._recorded(lambda: self._log.note(note))

    def _recorded(self, write: Callable[[], object]) -> None:
        try:
            write()
        except OSError as error:
            reason = error.strerror or str(error)
            raise AgentError(
                f"{self._log.name}: the run is no longer recorded: {reason}"
            ) from error

    async def _ask(self, function: Callable[[], T]) -> T:
        """Ask the log for something, to the end of it whatever is cancelled meanwhile.

        A log that blocks is asked in worker threads, for one thing after another in the order in
        which it is asked: what an interrupt leaves behind is done before whatever comes later.
        """
        if not self._log.blocks:
            return function()
        answer: Future[T] = Future()

        def ask() -> None:
            try:
                answer.set_result(function())
            except BaseException as error:  # noqa: BLE001  # raised again where it is waited for
                answer.set_exception(error)

        self._asked.append(ask)
        await to_its_end(call_in_thread(self._answer))
        return answer.result()

    def _answer(self) -> None:
        with self._answering:
            while self._asked:
                self._asked.popleft()()


def _told(error: BaseException) -> str:
    """What stopped a run, or an effect, in one line of words."""
    if isinstance(error, asyncio.CancelledError):
        return "given up"
    if isinstance(error, GeneratorExit):
        return "nobody read on"
    if isinstance(error, KeyboardInterrupt | FromOutside):
        return "interrupted"
    if isinstance(error, ApprovalNeeded):
        return "a call waits for approval"
    return without_keys(str(error)) or type(error).__name__
