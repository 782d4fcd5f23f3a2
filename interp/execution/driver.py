"""The loop: it has the effects of a run performed, and folds in what comes back.

One coroutine drives every run. Whatever may be done at once is begun at once, each effect in a task
of its own. An event is written to the log of the run first, then the State is the next one, then
the watchers are told, and only then the next effects begin. So the run can go on from wherever it
is cut: what a log has beside the State, and what it lacks, is seen when the run is taken up again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Set
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext, suppress
from functools import partial
from time import monotonic
from typing import Any, Final, TypeAlias, Union

from attrs import define, evolve, field

from .. import concurrency, machine
from ..errors import AgentError, ApprovalNeeded, said_by
from ..machine import Ask, CallModel, CallTool, Effect, Event, Resumed, Status, pending, waits_for
from ..secrets import without_keys
from ..tools import Tool, ToolContext, providing
from . import observations
from .handlers import Handler, LiveHandler, Report
from .logs import log_event
from .observations import Delta, Observation, Observer, ToolProgress, Watcher
from .recorder import Folded, Recorder, RunLog
from .spending import Budget
from .telemetry import RunSpans, Telemetry

_PATIENCE: Final = 1.0  # seconds for what is under way when a run is cancelled
_FAR_BEHIND: Final = 16  # what is said that nobody has read; progress is dropped then

_Answer: TypeAlias = tuple[Event, float]
"""What an effect has come to, and how many seconds that took."""

_Task: TypeAlias = asyncio.Task[_Answer]
_News: TypeAlias = asyncio.Queue[Union[Delta, ToolProgress, _Task, None]]
"""What is said, the tasks that have ended, and None where the time is up."""


@define(eq=False)
class Driver:
    """A State, the handler that performs its effects, its log, and who is told of each step.

    Args:
        state: where to go on.
        handler: what performs the effects.
        tools: the implementations of the program's tools, as far as they are known.
        log: where the run is recorded.
        change: what the caller changes before the run goes on.
        observe: called with each effect and the event that answered it, see `Observer`.
        watch: called with each step, see `Watcher`.
        telemetry: makes OpenTelemetry spans of the run.
        at_once: how many effects may be under way at once; None is no limit.
        budget: what knows the cost of requests, where that is limited.

    Attributes:
        state: the last complete State.

    Raises:
        OSError, StoreError: the log exists, or cannot be written.
    """

    state: machine.State
    _handler: Handler
    tools: Mapping[str, Tool]
    _log: RunLog | None = None
    _change: Resumed | None = None
    _observe: Observer | None = None
    _watch: Watcher | None = None
    _telemetry: Telemetry | None = None
    _at_once: int | None = None
    _budget: Budget | None = None
    _failure: BaseException | None = field(default=None, init=False)
    _running: dict[_Task, Effect] = field(factory=dict, init=False)
    _thread: concurrency.OneThread = field(factory=concurrency.OneThread, init=False)
    _recorder: Recorder | None = field(default=None, init=False)
    _spans: RunSpans | None = field(default=None, init=False)
    _driving: AsyncGenerator[Observation, None] | None = field(default=None, init=False)
    _task: asyncio.Task[object] | None = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        if isinstance(self._handler, LiveHandler) and self._at_once == 1:
            self._handler = evolve(self._handler, plainly=self._one_by_one)
        if self._log is not None:
            self._recorder = Recorder(self._log)
            if not self._log.has_begun:
                self._log.begin(self.state, self.tools.values())

    def drive(self, *, words: bool, is_read: bool = True) -> AsyncGenerator[Observation, None]:
        """Go on to the end, and show what happens as it happens.

        Args:
            words: whether to show the words of the model.
            is_read: whether somebody reads what is shown; the end is always shown.
        """
        self._driving = self._drive(self._driving, words, is_read)
        return self._driving

    async def _drive(
        self, before: AsyncGenerator[Observation, None] | None, words: bool, is_read: bool
    ) -> AsyncGenerator[Observation, None]:
        if before is not None:
            await self._let_go(before)
        self._running = {}  # a loop that was left in the middle still has what it was doing
        async with self._taken_up():
            news: _News = asyncio.Queue()
            clock = concurrency.Clock(self.state.limits.run_seconds, lambda: news.put_nowait(None))
            report = _Reporting(news) if is_read else None
            waiting = list(pending(self.state))
            try:
                for begun in machine.frames_inside(self.state) if is_read else ():
                    yield begun
                while not clock.is_up:
                    for effect in self._to_begin(waiting):
                        if is_read and isinstance(effect, CallTool):
                            yield observations.ToolStarted(effect)
                        if self._runs_once(effect):
                            await self._fold(None, machine.CallBegun(effect.at))
                        task = asyncio.create_task(self._perform(effect, clock, report, words))
                        task.add_done_callback(news.put_nowait)
                        self._running[task] = effect
                    if not self._running:
                        break
                    self._task = asyncio.current_task()
                    said, ended = await self._next(news)
                    for each in said:
                        yield each
                    for task in ended:
                        happened = await self._take(task, waiting)
                        for seen in happened if is_read else ():
                            yield seen
                    await self._give_up()
                if clock.is_up:
                    await self._stop_for_time()
                else:
                    await self._stop_for_money(waiting)
            finally:
                clock.stop()
                await self._stop(self._running, _PATIENCE)
                self._thread.end()
            failure, is_ours = self._failure, concurrency.is_in_own_loop()
            if isinstance(failure, concurrency.FromOutside) and not is_ours:
                raise failure.raised
            if failure:
                raise failure
            yield observations.finished(self.state)

    async def finish(self) -> machine.AgentResponse:
        """Go on to the end; nobody sees what happens. See `interp.running.Run.finish`."""
        async for each in self.drive(words=False, is_read=False):
            found = each
        assert isinstance(found, observations.Finished)
        return found.response

    # --- taking a run up

    async def _let_go(self, before: AsyncGenerator[Observation, None]) -> None:
        """End what drove the run before, where a reader or an interrupt has left it behind."""
        loop, task = asyncio.get_running_loop(), self._task
        if before.ag_running:  # type: ignore[attr-defined]  # typeshed knows it of generators alone
            if task is not None and task.get_loop() is loop and not task.done():
                await concurrency.stopped([task], _PATIENCE)
        else:
            await before.aclose()

    @asynccontextmanager
    async def _taken_up(self) -> AsyncGenerator[None, None]:
        """Take the run up: hold its log and its span, and fold what changes it."""
        async with AsyncExitStack() as held:
            self._failure = None
            if self._recorder:
                holding = self._recorder.held(lambda: self.state)
                for event in await held.enter_async_context(holding):
                    self.state = machine.step(self.state, event).state
            if change := self._resumed():
                await self._fold(None, change)
            self._change = None
            if self._telemetry:
                self._spans = held.enter_context(self._telemetry.running(lambda: self.state))
            if self._failure:
                raise self._failure
            if isinstance(self._handler, LiveHandler):
                await self._handler.prepare(pending(self.state))
            yield

    def _resumed(self) -> Resumed | None:
        """What changes a run that is gone on with: its options, and what may have run already."""
        left = pending(self.state, past_limit=True)
        may_have_run = any(isinstance(each, CallTool) and each.has_begun for each in left)
        return self._change or (Resumed() if may_have_run or self._is_over else None)

    # --- performing

    def _to_begin(self, waiting: list[Effect]) -> Iterator[Effect]:
        """Take out what may begin now, each when what comes before it has begun."""
        while found := self._startable(waiting):
            for effect in found:
                if self._failure or self._is_over or not self._has_money_for(effect):
                    continue  # those that have just begun need it
                waiting.remove(effect)
                if waits_for(self.state, effect):  # else what it is a part of has failed meanwhile
                    yield effect

    def _startable(self, waiting: list[Effect]) -> list[Effect]:
        if self._failure or self._is_over:
            return []
        going = self._running.values()
        alone = {name for name, each in self.tools.items() if each.alone}
        found = startable(waiting, going, at_once=self._at_once, alone=alone)
        return [each for each in found if self._has_money_for(each)]

    def _has_money_for(self, effect: Effect) -> bool:
        return not self._budget or self._budget.admits(effect, self._running.values(), self.state)

    def _runs_once(self, effect: Effect) -> bool:
        """Whether an effect is the call of a tool that is not repeated by itself."""
        if not isinstance(effect, CallTool):
            return False
        tool = self.tools.get(effect.name)
        return effect.name in self.state.run.once or (tool is not None and tool.once)

    @property
    def _is_over(self) -> bool:
        return self.state.status is Status.LIMITED

    async def _perform(
        self, effect: Effect, clock: concurrency.Clock, report: Report | None, words: bool
    ) -> _Answer:
        """Have an effect performed, in its limit of time."""
        spans = self._spans.performing(effect) if self._spans else nullcontext(lambda _: None)
        with providing(self._tool_context(effect, report)), spans as answered:
            async with self._recorder.noting(effect) if self._recorder else nullcontext():
                start = monotonic()
                says = isinstance(effect, CallModel) and not effect.is_for_summary
                event = await self._performed(effect, clock, report if words and says else None)
                answered(event)
                took = getattr(self._handler, "took", None)  # a recorded run knows it
                seconds = took(effect) if took else None
                return event, monotonic() - start if seconds is None else seconds

    async def _performed(
        self, effect: Effect, clock: concurrency.Clock, report: Report | None
    ) -> Event:
        perform = partial(self._handler.perform, effect, report)
        is_ours = type(self._handler).__module__.startswith("interp.")
        performing = perform() if is_ours else concurrency.in_loop_of_user(perform)
        seconds = self.state.limits.tool_seconds
        if not isinstance(effect, CallTool) or seconds is None:
            with clock.standing_still() if isinstance(effect, Ask) else nullcontext():
                return await performing
        try:
            return await concurrency.within(performing, seconds)
        except concurrency.TookTooLongError:
            told = f'tool "{effect.name}" did not answer within {seconds:g} s'
            return machine.CallFailed(effect.at, told)

    async def _one_by_one(self, function: Callable[[], Any]) -> Any:
        """Call the plain function of a tool where one call comes after another."""
        if self.state.limits.tool_seconds is None:
            return await concurrency.in_waiting_thread(function)
        return await self._thread.call(function)

    def _tool_context(self, effect: Effect, report: Report | None) -> ToolContext | None:
        if not isinstance(effect, CallTool):
            return None
        at, name = effect.at, effect.name

        def watch(done: float, total: float | None, message: str) -> None:
            assert report is not None, "it is given to somebody who shows it"
            report(ToolProgress(at, name, done, total, without_keys(message)))

        key = "/".join([self.state.run_id, *map(str, at)])
        frame = machine.frame_at(self.state, at)
        return ToolContext(frame.name, name, frame.context, key, watch if report else None)

    # --- taking what comes back

    async def _next(self, news: _News) -> tuple[list[Delta | ToolProgress], list[_Task]]:
        """Wait for what is said, for effects that end, or until the time is up.

        What has ended meanwhile comes in the order in which it was begun.
        """
        found = [await news.get()]
        while not news.empty():
            found.append(news.get_nowait())
        done = {each for each in found if isinstance(each, asyncio.Task)}  # after all it has said
        ended = [task for task in self._running if task in done]
        going = {effect.at for task, effect in self._running.items() if task not in done}
        said = [
            each
            for each in found
            if isinstance(each, Delta) or (isinstance(each, ToolProgress) and each.at in going)
        ]
        return said, ended

    async def _take(self, task: _Task, waiting: list[Effect]) -> list[Observation]:
        """Fold in what a task has ended with; what it raised stops the run later.

        What else is under way goes on: a tool that was stopped half-way would be run once more
        when the run is taken up again.
        """
        effect = self._running.pop(task)
        error = None if task.cancelled() else task.exception()  # seen, or asyncio complains of it
        if task.cancelled() or not waits_for(self.state, effect):
            return []
        if error is not None:
            if isinstance(error, AgentError) and isinstance(effect, CallModel | CallTool):
                error.at = effect.at
            if not isinstance(error, ApprovalNeeded):  # else it stays open; the others go on
                self._failure = self._failure or error
            return []
        event, seconds = task.result()
        taken = await self._fold(effect, event, seconds)
        waiting += taken.effects
        return list(observations.seen_in(event, taken.happened))

    async def _fold(
        self, effect: Effect | None, event: Event, seconds: float | None = None
    ) -> machine.Step:
        """Take the step that an event leads to: write it, keep it, tell who watches."""
        if self._budget:
            event = self._budget.with_cost(effect, event)
        taken = machine.step(self.state, event)

        def keep() -> None:
            self.state = taken.state  # what is cut before, the log gives when it is taken up again

        try:
            if self._recorder:
                folded = Folded(event, effect, taken.state, seconds)
                await self._recorder.append(folded, keep)
        except AgentError as error:
            self._failure = self._failure or error
        keep()
        if self._spans:
            self._spans.happened(taken)
        log_event(event)
        if self._observe is not None and effect is not None:
            await self._tell(self._observe, effect, event)
        if self._watch is not None:
            await self._tell(self._watch, effect, event, taken)
        return taken

    async def _tell(self, watcher: Observer | Watcher, *seen: object) -> None:
        """Tell a watcher of a step that is folded and written; what it raises stops the run."""
        task = asyncio.current_task()
        assert task is not None, "a run is driven in a task"
        cancelled = task.cancelling()
        try:
            await observations.called_for_user(watcher, *seen)
        except Exception as error:  # noqa: BLE001  # a watcher of the user may raise anything
            failed = AgentError(f"an observer failed: {said_by(error)}")
            failed.__cause__ = error
            self._failure = self._failure or failed
        if task.cancelling() > cancelled:  # though the watcher has ended
            raise asyncio.CancelledError

    # --- stopping

    async def _stop_for_time(self) -> None:
        """Stop what is under way, since the time of the run is up."""
        await self._stop(self._running, concurrency.GRACE)
        if pending(self.state) and not self._failure:
            await self._fold(None, machine.TimeUp())

    async def _stop_for_money(self, waiting: Iterable[Effect]) -> None:
        """Stop where nothing is under way and there is no money for what is to do."""
        if self._budget and not self._failure and not self._is_over:
            for each in waiting:
                if isinstance(each, CallModel) and waits_for(self.state, each):
                    expected = self._budget.expected(each.request)
                    await self._fold(None, machine.CostReached(expected))
                    return

    async def _stop(self, tasks: Iterable[_Task], seconds: float) -> None:
        """Stop some of what is under way, and fold in what has ended by then."""
        loop = asyncio.get_running_loop()
        stopping = {task: self._running.pop(task) for task in tuple(tasks)}
        await concurrency.stopped((each for each in stopping if each.get_loop() is loop), seconds)
        for task, effect in stopping.items():
            is_answered = task.done() and not task.cancelled() and not task.exception()
            if is_answered and waits_for(self.state, effect):
                await self._fold(effect, *task.result())

    async def _give_up(self) -> None:
        """Cancel what is waited for no more: requests and questions of a workflow that has failed.

        Where the run stops, questions are given up, too, since a person may take hours: they stay
        open. Tools are let go on to their end: one that is stopped half-way may leave something
        half-done.
        """
        is_stopping = self._failure is not None or self._is_over
        given_up = [
            task
            for task, effect in self._running.items()
            if (isinstance(effect, Ask) and is_stopping)
            or (not isinstance(effect, CallTool) and not waits_for(self.state, effect))
        ]
        await self._stop(given_up, concurrency.GRACE)


class _Reporting:
    """Shows what is said, from any thread; progress is dropped where the reader is far behind."""

    def __init__(self, news: _News) -> None:
        self._loop, self._news = asyncio.get_running_loop(), news
        self._is_coming = 0  # what the loop has not put into the queue yet

    def __call__(self, each: Delta | ToolProgress) -> None:
        behind = self._is_coming + self._news.qsize()
        if isinstance(each, ToolProgress) and behind >= _FAR_BEHIND:
            return
        self._is_coming += 1
        with suppress(RuntimeError):  # the loop has ended meanwhile: nobody reads
            self._loop.call_soon_threadsafe(self._put, each)

    def _put(self, each: Delta | ToolProgress) -> None:
        self._is_coming -= 1
        self._news.put_nowait(each)


def startable(
    waiting: Iterable[Effect],
    under_way: Iterable[Effect] = (),
    *,
    at_once: int | None = None,
    alone: Set[str] = frozenset(),
) -> list[Effect]:
    """The effects that may begin now, the first to begin first.

    Everything but questions may begin at once, in the order of the calls. Questions come after
    that and one at a time, so that whatever needs no approval has been done when a run stops at a
    question that stays open.

    Args:
        waiting: what is to do.
        under_way: what has begun.
        at_once: how many may be under way at once; None is no limit.
        alone: the tools whose calls no other call may be under way beside.

    >>> add, send, delete = (Ask((0, n), name, "{}") for n, name in enumerate(["a", "s", "d"]))
    >>> startable([add, send]) == [add], startable([send], under_way=[delete])
    (True, [])
    >>> pay, look = CallTool((0, 0), "pay", "{}"), CallTool((0, 1), "look", "{}")
    >>> startable([look], [pay], alone={"pay"}), startable([pay], [look], alone={"pay"})
    ([], [])
    """
    going = list(under_way)
    busy = sum(not isinstance(each, Ask) for each in going)
    calls = {each.name for each in going if isinstance(each, CallTool)}
    questions: list[Effect] = []
    found: list[Effect] = []
    for each in waiting:
        if isinstance(each, Ask):
            questions.append(each)
            continue
        if at_once is not None and busy + len(found) >= at_once:
            break
        if isinstance(each, CallTool):
            if calls and alone & {each.name, *calls}:
                continue
            calls.add(each.name)
        found.append(each)
    is_asking = any(isinstance(each, Ask) for each in going)
    return found if is_asking else [*found, *questions[:1]]
