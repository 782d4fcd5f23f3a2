"""Recording a run while it goes on: its events, and notes of what happened between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any

from attrs import frozen

from ..errors import AgentError, ApprovalNeeded, ModelError
from ..machine import Ask, At, CallModel, Effect, Event, Resumed, State
from ..models import noticing_retries
from ..records import Begun, Failed, Note, PathLike, Retried, RunFile, Stopped
from ..redaction import redact_error
from ..tools import Tool
from .world import AsyncReport, Report, World


class Recorder:
    """Writes the events of a run to a file, and notes of what happened between them.

    Args:
        file: the file.

    Attributes:
        unanswered: the positions of what has begun, and has no answer.
    """

    def __init__(self, file: RunFile) -> None:
        self._file = file
        self._began: dict[At, float] = {}
        self.unanswered = set(file.unanswered)

    def around(self, world: World) -> World:
        """A world that does the same as another, and whose effects are noted and timed."""
        return _Noted(world, self)

    @contextmanager
    def held(self, is_over: Callable[[], bool] = lambda: False) -> Iterator[None]:
        """Lock the file, see `RunFile.held`; what stops the run inside is noted.

        Args:
            is_over: whether the run has come to its end, so that nothing can stop it.
        """
        with self._file.held():
            try:
                yield
            except BaseException as error:  # noted, and raised again
                if not is_over():
                    with suppress(OSError):
                        self._file.note(Stopped(_told(error)))
                raise

    def write(self, effect: Effect | None, event: Event) -> None:
        """Write an event that has been folded.

        Raises:
            AgentError: the file cannot be written; what was recorded before is whole.
        """
        began = self._began.pop(effect.at, None) if effect else None
        seconds = None if began is None else monotonic() - began
        request = effect.request if isinstance(effect, CallModel) else None
        self.unanswered.discard(event.at)
        self._recorded(lambda: self._file.append(event, seconds, request))

    @contextmanager
    def noting(self, effect: Effect) -> Iterator[None]:
        """Note that an effect begins, and whatever happens until it ends."""
        at, began = effect.at, monotonic()
        if isinstance(effect, Ask):  # it begins when it is allowed
            self._began[at] = began
            yield
            return
        self._note(Begun(at))
        self.unanswered.add(at)
        self._began[at] = began = monotonic()

        def retried(error: ModelError, wait: float) -> None:
            self._note(Retried(at, _told(error), wait))

        try:
            with noticing_retries(retried):
                yield
        except BaseException as error:  # noted, and raised again
            with suppress(AgentError):
                self._note(Failed(at, _told(error), monotonic() - began))
            raise

    def _note(self, note: Note) -> None:
        self._recorded(lambda: self._file.note(note))

    def _recorded(self, write: Callable[[], Any]) -> None:
        try:
            write()
        except OSError as error:
            reason = error.strerror or str(error)
            raise AgentError(
                f"{self._file.path}: the run is no longer recorded: {reason}"
            ) from error


def recorder_of(
    record: PathLike | RunFile, state: State, tools: Iterable[Tool], change: Resumed | None
) -> Recorder:
    """What records a run from now on.

    Args:
        record: a new file, or the one that the run was recorded in before.
        state: the State that the run goes on from.
        tools: the implementations of its tools.
        change: what led to that State after it was read from its file.

    Raises:
        OSError: the new file exists, or the file cannot be written.
    """
    file = record if isinstance(record, RunFile) else RunFile(record)
    recorder = Recorder(file)
    if not file.has_begun:
        file.begin(state, tools)
        return recorder
    with recorder.held():
        if change:
            recorder.write(None, change)
    return recorder


def _told(error: BaseException) -> str:
    """What stopped a run, or an effect, in one line of words."""
    if isinstance(error, GeneratorExit):
        return "nobody read on"
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, ApprovalNeeded):
        return "a call waits for approval"
    return redact_error(str(error)) or type(error).__name__


@frozen
class _Noted:
    world: World
    recorder: Recorder

    def perform(self, effect: Effect, report: Report | None) -> Event:
        with self.recorder.noting(effect):
            return self.world.perform(effect, report)

    async def aperform(self, effect: Effect, report: AsyncReport | None) -> Event:
        with self.recorder.noting(effect):
            return await self.world.aperform(effect, report)
