"""Recording a run while it goes on: its events, and notes of what happened between them.

Notes stand between the events and are kept, but not folded. `interp.history.records.patterns`
says how they are written.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import Future
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from threading import Lock
from time import monotonic
from typing import ClassVar, Final, NamedTuple, Protocol, TypeAlias, TypeVar, Union

from attrs import field, frozen

from ..concurrency import FromOutside, call_in_thread, to_its_end
from ..errors import AgentError, ApprovalNeeded, ModelError, StoreError
from ..machine import Ask, At, Effect, Event, State, Status
from ..models import noticing_retries
from ..secrets import without_keys
from ..tools import Tool


def now() -> datetime:
    """The time, as notes have it."""
    return datetime.now(UTC)


CANCELLED: Final = "cancelled"
"""What a run was stopped by that was ended for good, see `cancel_run`."""

WAITS: Final = "a call waits for approval"
"""What a run was stopped by that waits for a decision."""


@frozen
class Begun:
    """The model is asked, or a tool is run that may run again; see `interp.machine.CallBegun`."""

    at: At
    time: datetime = field(factory=now)


@frozen
class Retried:
    """A request is sent again, some seconds after one that went wrong."""

    at: At
    error: str
    wait: float


@frozen
class Failed:
    """The model or a tool gave no event."""

    at: At
    error: str
    seconds: float


@frozen
class Stopped:
    """The run stopped before its end."""

    error: str
    time: datetime = field(factory=now)


Note: TypeAlias = Union[Begun, Retried, Failed, Stopped]


class Folded(NamedTuple):
    """An event, the effect that it answers if it answers one, and the State that it led to.

    Attributes:
        seconds: how long the effect took, if that is known.
    """

    event: Event
    effect: Effect | None
    state: State
    seconds: float | None = None


class RunLog(Protocol):
    """What the entries of one run are written to, see `RunFile`.

    Attributes:
        blocks: whether it may take long to answer, so that it is asked in a thread.
        has_begun: whether it has its first entry.

    Raises:
        OSError, StoreError: by each method, where it cannot be written, or another writes to it.
    """

    blocks: ClassVar[bool]
    has_begun: bool

    @property
    def name(self) -> str:
        """How messages name it."""

    def begin(self, state: State, tools: Iterable[Tool]) -> None:
        """Make it, with its first entry and the events of the State, if it does not exist yet."""

    def held(
        self, standing: Callable[[], State] | None = None
    ) -> AbstractContextManager[tuple[Event, ...]]:
        """Keep others from writing to it.

        Events that the State has and the log has not are written. What it gives are those that
        the log has and the State has not, to be folded: whoever wrote them was stopped before it
        folded them.

        Args:
            standing: gives the State of the run, which is asked for when it is taken up, and when
                it is let go.
        """

    def append(self, folded: Folded) -> None:
        """Write an event; the log has to be held."""

    def note(self, note: Note) -> None:
        """Write a note; nothing is written once the log is let go."""


T = TypeVar("T")


class Recorder:
    """Writes the events of a run to its log, and notes of what happened between them.

    A log that blocks is asked in a worker thread, so that the event loop goes on.
    """

    def __init__(self, log: RunLog) -> None:
        self._log = log
        self._notes: set[asyncio.Task[None]] = set()
        self._asked: deque[Callable[[], None]] = deque()
        self._answering = Lock()

    @asynccontextmanager
    async def held(self, standing: Callable[[], State]) -> AsyncIterator[tuple[Event, ...]]:
        """Hold the log, see `RunLog.held`; what stops the run inside is noted."""
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

    async def append(self, folded: Folded, keep: Callable[[], None]) -> None:
        """Write an event and what it led to, and call a function when that is written.

        Raises:
            AgentError: the log cannot be written; what was recorded before is whole.
        """

        def append() -> None:
            self._log.append(folded)
            keep()

        await self._write(append)

    @asynccontextmanager
    async def noting(self, effect: Effect) -> AsyncIterator[None]:
        """Note that an effect begins, and whatever happens until it ends."""
        at = effect.at
        if isinstance(effect, Ask):  # it begins when it is allowed
            yield
            return
        await self._note(Begun(at))
        began = monotonic()

        def retried(error: ModelError, wait: float) -> None:
            task = asyncio.ensure_future(self._note(Retried(at, _told(error), wait)))
            self._notes.add(task)
            task.add_done_callback(self._notes.discard)

        try:
            with noticing_retries(retried):
                yield
        except BaseException as error:  # noted, and raised again
            with suppress(AgentError):
                await self._note(Failed(at, _told(error), monotonic() - began))
            raise
        finally:
            if self._notes:
                await asyncio.wait(self._notes)

    async def _note(self, note: Note) -> None:
        await self._write(partial(self._log.note, note))

    async def _write(self, write: Callable[[], None]) -> None:
        try:
            await self._ask(write)
        except OSError as error:
            told = f"{self._log.name}: the run is no longer recorded"
            raise AgentError(f"{told}: {error.strerror or error}") from error

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
        return WAITS
    return without_keys(str(error)) or type(error).__name__
