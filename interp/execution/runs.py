"""A run: a State and a world, and the two pumps that bring them together.

A pump has the effects of the state performed and folds in the events that answer them. One pump
blocks, the other does not; `startable` decides for both what may begin next. First the step is
taken, then the watchers are told, so nothing that a watcher does can lose an event.
"""

from __future__ import annotations

import os
from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Generator,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

from gram import expect

from ..call_text import call_text
from ..clocks import Clock, TookTooLongError, stopped
from ..errors import AgentError, ApprovalNeeded, LimitError, ModelError, WorkflowError, said_by
from ..machine import (
    Ask,
    At,
    CallModel,
    CallTool,
    Effect,
    Event,
    Resumed,
    State,
    Status,
    TimeUp,
    frame_at,
    is_of_plain_agent,
    pending,
    response,
    step,
    waits_for,
)
from ..messages import AgentResponse
from ..threads import read_from_thread
from ..tools import Tool, ToolContext, ToolLibrary, empty_tool_library, providing
from .logs import log_event
from .observations import Finished, Observation, TextDelta, ToolStarted, observations
from .options import RunOptions, Watcher, check_options, named_model
from .remembering import Remembering
from .scheduling import startable
from .timing import Timed, too_late
from .unattended import Unattended
from .world import LiveWorld, Report, World

Around: TypeAlias = Callable[[World], World]
"""Puts a world around a world."""

if TYPE_CHECKING:
    import asyncio

    from .recording import Recorder

_GRACE = 0.05  # seconds in which tools may still end when the time of a run is up
_PATIENCE = 1.0  # and when the run is cancelled
_BUFFERED = 16  # words of a model that are ahead of their reader


class Run:
    """A run of an agent, which begins or goes on from a State.

    When it ends early, by an error, Ctrl-C, a cancellation or a reader who stops, ``state`` is the
    last complete one. `finish` or another Run goes on from there: what had ended is in the state,
    what had not is performed again.

    Args:
        state: where to go on.
        library: the implementations of the agent's tools.
        **options: see `RunOptions`; what differs from the state changes it.

    Attributes:
        state: where the run stands.

    Raises:
        ToolBindingError: the library does not implement the tools as they are written.
        ConfigurationError: the provider is unknown, or its key is missing.
    """

    def __init__(
        self,
        state: State,
        library: ToolLibrary = empty_tool_library,
        **options: Unpack[RunOptions],
    ) -> None:
        expect(state, State, "state", by="Run")
        expect(library, ToolLibrary, "library", by="Run")
        check_options(options, by="Run")
        self.state = state if state.run_id else state.with_run_id(os.urandom(8).hex())
        self._watchers = watchers(options)
        self._telemetry = options.get("telemetry")
        is_recorded = options.get("record") is not None or self._telemetry is not None
        self._is_watched = len(self._watchers) > 1 or is_recorded
        self._recorder: Recorder | None = None
        self._failure: BaseException | None = None
        change = _change(state, options)
        if change:
            self._fold(None, change)
        self._own: LiveWorld | None = None
        world = options.get("world")
        if world is None:
            world = self._own = LiveWorld.of(self.state, library, options)
        self._tools: Mapping[str, Tool] = self._own.tools if self._own else library
        self._world = Remembering(world)
        record = options.get("record")
        if record is not None:
            from .recording import recorder_of  # imported late: most runs are not recorded

            self._recorder = recorder_of(record, self.state, self._tools.values(), change)
        if self._failure:
            raise self._failure

    def __repr__(self) -> str:
        return repr(self.state).replace("State", "Run", 1)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        from ..notebook import conversation_form  # only needed in notebooks

        return {**conversation_form(self.state.context), "text/plain": repr(self)}

    def finish(self) -> AgentResponse:
        """Go on to the end.

        Raises:
            ModelError: the model did not answer.
            LimitError: a limit was reached.
            ApprovalNeeded: a call needs approval, and nobody is there to give it.
        """
        try:
            return _last(self._drive(words=False, is_read=False))
        except AgentError as error:
            raise _without_frames(error) from error.__cause__

    async def afinish(self) -> AgentResponse:
        """Go on to the end without blocking, the tools of a turn at once; see `finish`."""
        try:
            return _last([each async for each in self._adrive(words=False)])
        except AgentError as error:
            raise _without_frames(error) from error.__cause__

    def stream(self, *, words: bool = True) -> Iterator[Observation]:
        """Go on to the end, and show what happens as it happens; see `finish`.

        Args:
            words: whether to show the words of the model; without, its replies come whole.
        """
        return self._drive(words=words)

    def astream(self, *, words: bool = True) -> AsyncIterator[Observation]:
        """Go on without blocking, and show what happens as it happens; see `stream`."""
        return self._adrive(words=words)

    # --- the pump that blocks

    def _drive(self, *, words: bool, is_read: bool = True) -> Iterator[Observation]:
        limits = self.state.limits
        is_told = is_read or self._is_watched or limits.run_seconds is None
        unattended_seconds = None if is_told else limits.tool_seconds
        with self._keeping_state(), self._recording() as around:
            clock, world, waiting = self._begin(around)
            try:
                while effects := startable(waiting):
                    effect = effects[0]
                    if unattended_seconds and not isinstance(effect, Ask):
                        self._go_on_unattended(waiting, unattended_seconds, clock)
                        continue
                    waiting.remove(effect)
                    if not self._is_wanted(effect):
                        continue
                    if isinstance(effect, CallTool):
                        yield ToolStarted(effect)
                    try:
                        event = yield from self._perform(world, effect, clock, words)
                    except ApprovalNeeded:  # it stays open; the others go on
                        continue
                    except TookTooLongError:
                        event, waiting = TimeUp(), []
                    before = self.state
                    waiting += self._fold_or_fail(effect, event)
                    yield from observations(before, event, self.state)
                yield finished(self.state)
            except GeneratorExit:  # a reader who has stopped has not seen it
                raise
            except BaseException:  # what ended is kept, then it is raised again
                self._fold_what_ended()
                raise
            finally:
                if self._own:
                    self._own.close()

    def _go_on_unattended(self, waiting: list[Effect], seconds: float, clock: Clock) -> None:
        """Perform what waits and take the steps in one thread, until somebody has to be asked."""

        def perform(effect: Effect) -> Event:
            with providing(self._tool_context(effect)):
                return self._world.perform(effect, None)

        def fold(effect: Effect | None, event: Event) -> None:
            waiting.extend(self._fold_or_fail(effect, event))

        steps = Unattended(waiting, self._is_wanted, perform, fold, seconds, clock)
        try:
            steps.go_on()
        except TookTooLongError:
            effect = steps.under_way
            if isinstance(effect, CallTool) and clock.left != 0:
                fold(effect, too_late(effect, seconds))
            else:
                waiting.clear()
                fold(effect, TimeUp())

    def _fold_what_ended(self) -> None:
        """Fold in what has ended, where the run was interrupted before that was done."""
        if self._world.last is not None:
            effect, event = self._world.last
            if effect in pending(self.state):
                self._fold(effect, event)

    def _perform(
        self, world: World, effect: Effect, clock: Clock, words: bool
    ) -> Generator[TextDelta, None, Event]:
        """Have an effect performed; yields the words of a model, and returns the event."""
        if isinstance(effect, Ask):
            with clock.standing_still():
                return world.perform(effect, None)
        if clock.left == 0:
            raise TookTooLongError
        if isinstance(effect, CallTool):
            with providing(self._tool_context(effect)):
                return world.perform(effect, None)
        if clock.left is None and not words:
            return world.perform(effect, None)

        def perform(give: Report) -> Event:
            return world.perform(effect, give if words else None)

        return (yield from read_from_thread(perform, clock))

    # --- the pump that does not

    async def _adrive(self, *, words: bool) -> AsyncIterator[Observation]:
        import asyncio  # imported where it is used: it takes longer than a short program

        said: asyncio.Queue[TextDelta] = asyncio.Queue(_BUFFERED)
        running: dict[asyncio.Task[Event], Effect] = {}
        with self._keeping_state(), self._recording() as around:
            clock, world, waiting = self._begin(around)
            try:
                while True:
                    for effect in startable(waiting, running.values()) if not self._failure else ():
                        waiting.remove(effect)
                        if not self._is_wanted(effect):
                            continue
                        if isinstance(effect, CallTool):
                            yield ToolStarted(effect)
                        report = said.put if words else None
                        with providing(self._tool_context(effect)):
                            running[asyncio.create_task(world.aperform(effect, report))] = effect
                    if not running and waiting and not self._failure:
                        continue  # some were not wanted any more
                    if not running:
                        break
                    if words:
                        async for delta in _until_one_ends(running, said, clock):
                            yield delta
                    elif clock.left != 0:
                        await _one_ends(running, running, clock)
                    ended = [task for task in running if task.done()]
                    for task in ended:
                        before = self.state
                        event, new = self._ended(running.pop(task), task)
                        waiting += new
                        if event:
                            for each in observations(before, event, self.state):
                                yield each
                    if not ended:
                        effect = next(iter(running.values()))
                        await self._stop(running, _GRACE)
                        if not self._failure and self.state.status in _AWAITING:
                            self._fold(effect, TimeUp())
                        break
            finally:
                await self._stop(running, _PATIENCE)
                if self._own:
                    await self._own.aclose()
            if self._failure:
                raise self._failure
            yield finished(self.state)

    def _ended(
        self, effect: Effect, task: asyncio.Task[Event]
    ) -> tuple[Event | None, tuple[Effect, ...]]:
        """Fold in the event that a task has ended with; what it raised stops the run later.

        Returns the event, if there is one, and what is new to do.

        What else is under way goes on: a tool that was stopped half-way would be run once more
        when the run is taken up again.
        """
        if task.cancelled():
            is_model = isinstance(effect, CallModel)
            failure = ModelError("the model cancelled its own task") if is_model else None
            self._failure = self._failure or failure or AgentError("a task cancelled itself")
        elif (error := task.exception()) is None:
            event = task.result()
            if self._is_wanted(effect, may_begin=False):
                return event, self._fold(effect, event)
        elif not isinstance(error, ApprovalNeeded):  # else it stays open; the others go on
            self._failure = self._failure or error
        return None, ()

    async def _stop(self, running: dict[asyncio.Task[Event], Effect], seconds: float) -> None:
        """Stop what is under way, and fold in what has ended by then."""
        await stopped(running, seconds)
        for task, effect in running.items():
            is_answered = task.done() and not task.cancelled() and not task.exception()
            if is_answered and self._is_wanted(effect, may_begin=False):
                self._fold(effect, task.result())
        running.clear()

    # --- both

    def _begin(self, around: Iterable[Around]) -> tuple[Clock, World, list[Effect]]:
        """The clock, the world and what is waited for, when the run is taken up."""
        self._failure = None
        clock = Clock(self.state.limits.run_seconds)
        world: World = Timed(self._world, self.state.limits.tool_seconds, clock)
        for put_around in around:
            world = put_around(world)
        if self._recorder:
            self._ask_about_what_may_have_run(self._recorder.unanswered)
        return clock, world, list(pending(self.state))

    def _is_wanted(self, effect: Effect, *, may_begin: bool = True) -> bool:
        """Whether an effect is still waited for; where a limit was reached, nothing begins.

        It is not where a workflow that it is a part of has failed meanwhile.
        """
        if is_of_plain_agent(effect.at):
            return True
        is_over = may_begin and self.state.status is Status.LIMITED
        return not is_over and waits_for(self.state, effect)

    def _ask_about_what_may_have_run(self, unanswered: Collection[At]) -> None:
        """Have calls asked about that had begun, and whose tools are to run only once."""
        calls = (each for each in pending(self.state) if isinstance(each, CallTool))
        begun = (each for each in calls if each.at in unanswered)
        tools = ((each.at, self._tools.get(each.name)) for each in begun)
        unsure = tuple(at for at, tool in tools if tool is not None and tool.once)
        if unsure:
            self._fold_or_fail(None, Resumed(ask_about=unsure))

    def _fold_or_fail(self, effect: Effect | None, event: Event) -> tuple[Effect, ...]:
        """The same as `_fold`; the failure of the run is raised."""
        new = self._fold(effect, event)
        if self._failure:
            raise self._failure
        return new

    def _fold(self, effect: Effect | None, event: Event) -> tuple[Effect, ...]:
        """Take the step that an event leads to, then tell the watchers; returns what is new to do.

        What a watcher raises is kept as the failure of the run, after all of them have been told.
        """
        self.state, effects = step(self.state, event)
        if self._recorder:
            try:
                self._recorder.write(effect, event)
            except AgentError as error:
                self._failure = self._failure or error
        for watch in self._watchers:
            try:
                watch(effect, event, self.state)
            except Exception as error:  # noqa: BLE001  # a watcher of the user may raise anything
                failure = AgentError(f"an observer failed: {said_by(error)}")
                failure.__cause__ = error
                self._failure = self._failure or failure
        return effects

    def _tool_context(self, effect: Effect) -> ToolContext | None:
        """What a tool may know of the run that calls it."""
        if not isinstance(effect, CallTool):
            return None
        key = "/".join([self.state.run_id, *map(str, effect.at)])
        frame = frame_at(self.state, effect.at)
        return ToolContext(frame.name, effect.name, frame.context, key)

    @contextmanager
    def _recording(self) -> Iterator[list[Around]]:
        """Hold the file of the run and its span, if it has them; gives worlds to put around it."""
        with ExitStack() as held:
            around: list[Around] = []
            if self._telemetry:
                around.append(held.enter_context(self._telemetry.running(lambda: self.state)))
            if self._recorder:
                held.enter_context(self._recorder.held(lambda: self.state.status is Status.DONE))
                around.append(self._recorder.around)
            yield around

    @contextmanager
    def _keeping_state(self) -> Iterator[None]:
        """Errors of ours that are raised inside say where the run stood."""
        try:
            yield
        except AgentError as error:
            error.state = self.state
            raise


_AWAITING = (Status.AWAITING_MODEL, Status.AWAITING_TOOLS, Status.AWAITING_STEPS)


def _change(state: State, options: RunOptions) -> Resumed | None:
    """What a run's options change in the state that it goes on from."""
    change = Resumed(
        options.get("limits"),
        named_model(options.get("model")),
        options.get("policy"),
        options.get("settings"),
        options.get("check_results"),
    )
    return change if change != _NOTHING or state.status is Status.LIMITED else None


_NOTHING = Resumed()


async def _until_one_ends(
    running: dict[asyncio.Task[Event], Effect], said: asyncio.Queue[TextDelta], clock: Clock
) -> AsyncIterator[TextDelta]:
    """Yield what is said until something that is under way ends, or the time is up."""
    import asyncio

    tasks = set(running)
    while True:
        while not said.empty() and clock.left != 0:
            yield said.get_nowait()
        if any(task.done() for task in tasks) or clock.left == 0:
            return
        word = asyncio.ensure_future(said.get())
        try:
            await _one_ends({*tasks, word}, running, clock)
        finally:
            word.cancel()
        if word.done() and not word.cancelled():
            yield word.result()
        elif not any(task.done() for task in tasks):
            return


async def _one_ends(
    tasks: Iterable[asyncio.Future[Any]],
    running: Mapping[asyncio.Task[Event], Effect],
    clock: Clock,
) -> None:
    """Wait until one of some tasks ends, or the time is up; while it asks, no time passes."""
    import asyncio

    is_asking = any(isinstance(effect, Ask) for effect in running.values())
    with clock.standing_still() if is_asking else nullcontext():
        timeout = None if is_asking else clock.left
        await asyncio.wait(tasks, timeout=timeout, return_when="FIRST_COMPLETED")


def watchers(options: RunOptions) -> list[Watcher]:
    """Everyone who is told of each step: the log, and whom the options name."""
    found: list[Watcher] = [log_event]
    observe, watch = options.get("observe"), options.get("watch")
    if observe is not None:
        found.append(lambda effect, event, _: observe(effect, event) if effect else None)
    return [*found, watch] if watch else found


def finished(state: State) -> Finished:
    """What a run ends with when nothing is left to do.

    Raises:
        ApprovalNeeded: calls wait for approval.
        LimitError: a limit was reached.
        ModelError: the answer is not of the type that the program declares.
        WorkflowError: a step of the workflow failed.
    """
    if state.asks:
        calls = ", ".join(call_text(ask.name, ask.arguments) for ask in state.asks)
        raise ApprovalNeeded(f"the run waits for approval of {calls}")
    if state.status is Status.LIMITED:
        raise LimitError(f"the run stopped after {state.stopped}")
    if state.status is Status.FAILED:
        raise WorkflowError(f"the workflow failed: {state.stopped}")
    if state.status is Status.UNUSABLE:
        raise ModelError(f"the model's answer is not what the program declares: {state.stopped}")
    return Finished(response(state))


def _last(observations: Iterable[Observation]) -> AgentResponse:
    """The response that a run ends with; errors are raised before it."""
    for each in observations:
        found = each
    assert isinstance(found, Finished)
    return found.response


def _without_frames(error: AgentError) -> AgentError:
    """An error without its traceback so far: up to 70 lines, none of whoever called the run."""
    return error.with_traceback(None)
