"""Recording a run while it goes on: its events, and notes of what happened between them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any

from attrs import frozen

from ..errors import AgentError, ApprovalNeeded, ModelError, StoreError
from ..machine import Ask, At, CallModel, CallTool, Effect, Event, Resumed, State, Status
from ..models import noticing_retries
from ..records import (
    Begun,
    Failed,
    Folded,
    Note,
    PathLike,
    Retried,
    RunFile,
    RunLog,
    Stopped,
)
from ..secrets import without_keys
from ..tools import Tool
from .world import AsyncReport, Report, World


class Recorder:
    """Writes the events of a run to its log, and notes of what happened between them.

    Args:
        log: a file, or what a store keeps of one run.
        tools: the tools of the run by their names, as far as they are known.

    Attributes:
        unanswered: the positions of what has begun, and has no answer.
    """

    def __init__(self, log: RunLog, tools: Mapping[str, Tool]) -> None:
        self._log = log
        self._tools = tools
        self._began: dict[At, float] = {}
        self.unanswered = set(log.unanswered)

    def around(self, world: World) -> World:
        """A world that does the same as another, and whose effects are noted and timed."""
        return _Noted(world, self)

    @contextmanager
    def held(self, standing: Callable[[], State]) -> Iterator[None]:
        """Hold the log, see `RunLog.held`; what stops the run inside is noted.

        Args:
            standing: gives the State of the run.
        """
        with self._log.held(standing):
            try:
                yield
            except BaseException as error:  # noted, and raised again
                if standing().status is not Status.DONE:
                    with suppress(OSError, StoreError):
                        self._log.note(Stopped(_told(error)))
                raise

    def write(
        self,
        effect: Effect | None,
        event: Event,
        state: State,
        new: Sequence[Effect],
        before: State | None = None,
    ) -> None:
        """Write an event that has been folded, see `Folded`.

        Raises:
            AgentError: the file cannot be written; what was recorded before is whole.
        """
        began = self._began.pop(effect.at, None) if effect else None
        seconds = None if began is None else monotonic() - began
        self.unanswered.discard(event.at)
        folded = Folded(event, effect, state, new, before)
        self._recorded(lambda: self._log.append(folded, seconds))

    @contextmanager
    def noting(self, effect: Effect) -> Iterator[None]:
        """Note that an effect begins, and whatever happens until it ends."""
        at, began = effect.at, monotonic()
        if isinstance(effect, Ask):  # it begins when it is allowed
            self._began[at] = began
            yield
            return
        self._note(Begun(at), may_be_lost=self._may_be_repeated(effect))
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

    def is_once(self, name: str) -> bool:
        """Whether calls of a tool are not repeated.

        It is so if the tool is ``once``, or was when the run began and its server now says
        otherwise: what a server says now changes nothing in a run of before.
        """
        tool = self._tools.get(name)
        return tool is not None and (tool.once or (tool.is_of_server and name in self._log.once))

    def _may_be_repeated(self, effect: Effect) -> bool:
        """Whether an effect is made again where it is not known if it was made."""
        if isinstance(effect, CallTool):
            return effect.name in self._tools and not self.is_once(effect.name)
        return isinstance(effect, CallModel)

    def _note(self, note: Note, *, may_be_lost: bool = False) -> None:
        self._recorded(lambda: self._log.note(note, may_be_lost=may_be_lost))

    def _recorded(self, write: Callable[[], Any]) -> None:
        try:
            write()
        except OSError as error:
            reason = error.strerror or str(error)
            raise AgentError(
                f"{self._log.name}: the run is no longer recorded: {reason}"
            ) from error


def recorder_of(
    record: PathLike | RunLog,
    state: State,
    tools: Mapping[str, Tool],
    change: Resumed | None,
    new: Sequence[Effect],
) -> Recorder:
    """What records a run from now on.

    Args:
        record: the path of a new file, or a log, also one that the run was recorded in before.
        state: the State that the run goes on from.
        tools: the implementations of its tools.
        change: what led to that State after it was read from its file.
        new: what is to be done since that change.

    Raises:
        OSError, StoreError: the new log exists, or the log cannot be written.
    """
    log = RunFile(record) if isinstance(record, (str, os.PathLike)) else record
    recorder = Recorder(log, tools)
    if not log.has_begun:
        log.begin(state, tools.values())
    elif change:
        with recorder.held(lambda: state):
            recorder.write(None, change, state, new)
    return recorder


def _told(error: BaseException) -> str:
    """What stopped a run, or an effect, in one line of words."""
    from asyncio import CancelledError  # imported late: most runs need it for nothing else

    if isinstance(error, CancelledError):
        return "given up"
    if isinstance(error, GeneratorExit):
        return "nobody read on"
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, ApprovalNeeded):
        return "a call waits for approval"
    return without_keys(str(error)) or type(error).__name__


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
