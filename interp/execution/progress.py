"""The State of a run, and how an event changes it: what both pumps share.

First the step is taken, then the watchers are told, so nothing that a watcher does can lose an
event.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, TypeAlias

from ..concurrency import Clock
from ..errors import AgentError, said_by
from ..machine import (
    CallTool,
    Effect,
    Event,
    Resumed,
    State,
    Status,
    frame_at,
    is_of_plain_agent,
    pending,
    step,
    waits_for,
)
from ..tools import Tool, ToolContext, ToolLibrary, providing
from .door import progress_without_keys
from .logs import log_event
from .observations import ToolProgress
from .options import RunOptions, Watcher, is_watched, named_model
from .remembering import Remembering
from .timing import Timed
from .world import LiveWorld, World

if TYPE_CHECKING:
    from .recording import Recorder

Around: TypeAlias = Callable[[World], World]
"""Puts a world around a world."""


class Progress:
    """A State, the world that performs its effects, and who is told of each step.

    Args:
        state: where to go on.
        library: the implementations of the agent's tools.
        options: see `RunOptions`; what differs from the state changes it.

    Attributes:
        state: the last complete State.
        world: what performs the effects, and remembers the last.
        is_watched: whether somebody beside the log is told of each step.
        failure: what stops the run as soon as what is under way has ended; None at first.
    """

    def __init__(self, state: State, library: ToolLibrary, options: RunOptions) -> None:
        self.state = state if state.run_id else state.with_run_id(os.urandom(8).hex())
        self.failure: BaseException | None = None
        self._watchers = watchers(options)
        self._telemetry = options.get("telemetry")
        record = options.get("record")
        if record is None and (store := options.get("store")) is not None:
            from ..stores import new_run  # imported late: most runs are in no store

            record = new_run(store, self.state.run_id)
        self.is_watched = is_watched(options)
        self._recorder: Recorder | None = None
        change = _change(state, options)
        new = self.fold(None, change) if change else ()
        self._own: LiveWorld | None = None
        world = options.get("world")
        if world is None:
            world = self._own = LiveWorld.of(self.state, library, options)
        self._tools: Mapping[str, Tool] = self._own.tools if self._own else library
        self.world = Remembering(world)
        if record is not None:
            from .recording import recorder_of  # imported late: most runs are not recorded

            self._recorder = recorder_of(record, self.state, self._tools, change, new)
        if self.failure:
            raise self.failure

    @contextmanager
    def taken_up(self) -> Iterator[tuple[Clock, World, list[Effect]]]:
        """Take the run up: gives its clock, its world with all around it, and what it waits for.

        While it is held so are the file of the run and its span, if it has them. Errors of ours
        that are raised inside have the State of the run.
        """
        try:
            with ExitStack() as held:
                around = self._held(held)
                self.failure = None
                limits = self.state.limits
                clock = Clock(limits.run_seconds)
                world: World = Timed(self.world, limits.tool_seconds, clock)
                for put_around in around:
                    world = put_around(world)
                if self._recorder:
                    self._ask_about_what_may_have_run(self._recorder)
                yield clock, world, list(pending(self.state))
        except AgentError as error:
            error.state = self.state
            raise

    def _held(self, held: ExitStack) -> list[Around]:
        """Hold the file of the run and its span; returns the worlds to put around its own."""
        around: list[Around] = []
        if self._telemetry:
            around.append(held.enter_context(self._telemetry.running(lambda: self.state)))
        if self._recorder:
            held.enter_context(self._recorder.held(lambda: self.state))
            around.append(self._recorder.around)
        return around

    def _ask_about_what_may_have_run(self, recorder: Recorder) -> None:
        """Have calls asked about that had begun, and whose tools are to run only once."""
        calls = (each for each in pending(self.state) if isinstance(each, CallTool))
        begun = (each for each in calls if each.at in recorder.unanswered)
        unsure = tuple(each.at for each in begun if recorder.is_once(each.name))
        if unsure:
            self.fold_or_fail(None, Resumed(ask_about=unsure))

    def close(self) -> None:
        """Close what the run has opened itself."""
        if self._own:
            self._own.close()

    async def aclose(self) -> None:
        """The same without blocking."""
        if self._own:
            await self._own.aclose()

    def is_wanted(self, effect: Effect, *, may_begin: bool = True) -> bool:
        """Whether an effect is still waited for; where a limit was reached, nothing begins.

        It is not where a workflow that it is a part of has failed meanwhile.
        """
        if is_of_plain_agent(effect.at):
            return True
        is_over = may_begin and self.state.status is Status.LIMITED
        return not is_over and waits_for(self.state, effect)

    def fold_or_fail(self, effect: Effect | None, event: Event) -> tuple[Effect, ...]:
        """The same as `fold`; the failure of the run is raised."""
        new = self.fold(effect, event)
        if self.failure:
            raise self.failure
        return new

    def fold(self, effect: Effect | None, event: Event) -> tuple[Effect, ...]:
        """Take the step that an event leads to, then tell the watchers; returns what is new to do.

        What a watcher raises is kept as the failure of the run, after all of them have been told.
        """
        before = self.state
        self.state, effects = step(before, event)
        if self._recorder:
            try:
                self._recorder.write(effect, event, self.state, effects, before)
            except AgentError as error:
                self.failure = self.failure or error
        for watch in self._watchers:
            try:
                watch(effect, event, self.state)
            except Exception as error:  # noqa: BLE001  # a watcher of the user may raise anything
                failure = AgentError(f"an observer failed: {said_by(error)}")
                failure.__cause__ = error
                self.failure = self.failure or failure
        return effects

    def perform(self, effect: Effect) -> Event:
        """Perform an effect in the world of the run, without a limit of time."""
        if not isinstance(effect, CallTool):
            return self.world.perform(effect, None)
        with providing(self.tool_context(effect)):
            return self.world.perform(effect, None)

    def fold_what_ended(self) -> None:
        """Fold in what has ended, where the run was interrupted before that was done."""
        if self.world.last is not None:
            effect, event = self.world.last
            if effect in pending(self.state):
                self.fold(effect, event)

    def may_report(self, effect: Effect) -> bool:
        """Whether an effect is the call of a tool that may report how far it is."""
        tool = self._tools.get(effect.name) if isinstance(effect, CallTool) else None
        return tool is not None and tool.may_report

    def tool_context(
        self, effect: Effect, show: Callable[[ToolProgress], object] | None = None
    ) -> ToolContext | None:
        """What a tool may know of the run that calls it.

        Args:
            effect: the call.
            show: takes how far the call is, from any thread; None if nobody watches.
        """
        if not isinstance(effect, CallTool):
            return None
        at, name = effect.at, effect.name

        def watch(done: float, total: float | None, message: str) -> None:
            assert show is not None, "it is given to somebody who shows it"
            show(progress_without_keys(ToolProgress(at, name, done, total, message)))

        key = "/".join([self.state.run_id, *map(str, effect.at)])
        frame = frame_at(self.state, effect.at)
        return ToolContext(frame.name, name, frame.context, key, watch if show else None)


def _change(state: State, options: RunOptions) -> Resumed | None:
    """What a run's options change in the state that it goes on from."""
    model = named_model(options.get("model"))
    if model is None and not _CHANGING & options.keys() and state.status is not Status.LIMITED:
        return None
    change = Resumed(
        options.get("limits"),
        model,
        options.get("policy"),
        options.get("settings"),
        options.get("check_results"),
    )
    return change if change != _NOTHING or state.status is Status.LIMITED else None


_CHANGING = {"limits", "policy", "settings", "check_results"}
_NOTHING = Resumed()


def watchers(options: RunOptions) -> list[Watcher]:
    """Everyone who is told of each step: the log, and whom the options name."""
    found: list[Watcher] = [log_event]
    observe, watch = options.get("observe"), options.get("watch")
    if observe is not None:
        found.append(lambda effect, event, _: observe(effect, event) if effect else None)
    return [*found, watch] if watch else found
