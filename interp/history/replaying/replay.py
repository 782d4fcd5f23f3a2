"""A recorded run again: to watch while another process records it, and as a handler.

The handler answers as the run did, without a model, a key or tools.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from difflib import SequenceMatcher, unified_diff
from pathlib import Path
from time import monotonic, sleep, time
from typing import Final, TypeAlias

from attrs import define, field, frozen

from gram.documents import resolved

from ... import execution, machine
from ...errors import ReplayError
from ...execution import Handler, ReasoningDelta, Report
from ...machine import At, CallModel, CallTool, Decided, Effect, Event, ModelReplied
from ..records import PathLike, RecordedRun, RecordedStep, effect_lines, is_recorded, position_text
from ..stores import StoreLike, load_run, opened, place_of_run, run_named
from .entries import Timeline
from .timeline import timeline

_PAUSE: Final = 0.1  # seconds between two looks
_PATIENCE: Final = 2.0  # seconds in which a file that nobody writes may find a writer


def follow(run: PathLike, *, record: StoreLike | None = None) -> Iterator[Timeline]:
    """Yield the timeline of a run whenever it has gone on, until it ends.

    It ends when the run is done or stopped, or nobody goes on with it. A queued one is waited for.

    Args:
        run: its address, such as ``hello.run.gram`` or ``runs.db#4f2a``; or its id.
        record: the store that has the id, or where that is.

    Raises:
        OSError: the file cannot be read.
        StoreError: there is no such run in the store, or the store cannot be read.
        GramDecodeError, ValidationError, ReplayError: what is recorded is no run.
    """
    store, address = place_of_run(run, record, by="follow")
    if store is not None:
        return _of_store(store, address.run)
    path = Path(address.place)
    resolved(path)  # refuses what is no path

    def look(last: RecordedRun | None) -> tuple[int, bool]:
        is_written, found = is_recorded(path), path.stat()  # what it wrote last is seen then
        has_begun = b"\n" in path.read_bytes()
        is_new = abs(time() - found.st_mtime) < _PATIENCE
        may_find_a_writer = is_new and not (last and _has_ended(last))
        return found.st_size if has_begun else 0, is_written or may_find_a_writer

    return _followed(look, lambda: load_run(run, record))


def _of_store(store: StoreLike, run: str) -> Iterator[Timeline]:
    with opened(store) as found:
        run = run_named(found, run)

        def look(_: RecordedRun | None) -> tuple[int, bool]:
            row = found.row(run)
            return row.entries, row.status in ("queued", "running")

        yield from _followed(look, lambda: found.recorded(run))


def _followed(
    look: Callable[[RecordedRun | None], tuple[int, bool]], read: Callable[[], RecordedRun]
) -> Iterator[Timeline]:
    """The timelines of a run; ``look`` gives how much is recorded, and whether it may go on."""
    seen, run = 0, None
    while True:
        began = monotonic()
        size, may_go_on = look(run)
        if size != seen or not (size or may_go_on):  # if nothing begins there, `read` says why
            seen, run = size, read()
            yield timeline(run)
        elif not may_go_on:
            return
        sleep(max(_PAUSE, 2 * (monotonic() - began)))  # a long run is read less often


def _has_ended(run: RecordedRun) -> bool:
    last = run.entries[-1] if run.entries else None
    return run.state.status is machine.Status.DONE or isinstance(last, execution.Stopped)


def recorded(
    run: RecordedRun | PathLike, *, model: Handler | None = None, tools: Handler | None = None
) -> Handler:
    """The handler of a recorded run: it answers each effect as it was answered then.

    An effect that was not recorded, or that asks for something else than the recorded one at its
    position, is a `ReplayError`, unless ``model`` or ``tools`` performs it.

    Args:
        run: the run, or its address.
        model: what asks the model where the recording does not fit, such as a `LiveHandler`.
        tools: what runs tools and asks for approval there.

    Raises:
        OSError: the file cannot be read.
        GramDecodeError, ValidationError, ReplayError: what is recorded is no run.
    """
    live = {CallModel: model, CallTool: tools, machine.Ask: tools}
    return _Recorded(*_answers_of(run), live)


def _answers_of(run: RecordedRun | PathLike) -> tuple[RecordedRun, _Answers]:
    """A run, and how each of its effects was answered."""
    found = run if isinstance(run, RecordedRun) else load_run(run)
    answers: dict[tuple[type[Effect], At], _Answer] = {}
    found.check()
    for step in found.steps:
        given = [(step.effect, step.event)] if step.effect else []
        for effect, event in (*given, *_answers_without_asking(step)):
            answers[type(effect), effect.at] = _Answer(effect, event, step)
    return found, answers


def _answers_without_asking(step: RecordedStep) -> Iterator[tuple[Effect, Event]]:
    """What a step says about effects that were asked about otherwise, or not at all.

    A change on resuming answers questions, and asks about calls that had begun.
    """
    answered = {
        each.at: each.invocation for each in step.happened if isinstance(each, machine.ToolFinished)
    }
    for ask in step.before.asks:
        call, answer = CallTool(ask.at, ask.name, ask.arguments), answered.get(ask.at)
        if ask.may_have_run:
            if answer and answer.error:
                yield call, machine.CallFailed(ask.at, answer.error)
        elif isinstance(step.event, machine.Resumed):
            if answer:
                yield ask, Decided(ask.at, False, machine.FORBIDDEN)
            elif call in step.effects:
                yield ask, Decided(ask.at, True)


@frozen
class _Answer:
    """How an effect was answered, and the step that says so."""

    effect: Effect
    event: Event
    step: RecordedStep


_Answers: TypeAlias = Mapping[tuple[type[Effect], At], _Answer]


@define(eq=False)
class _Recorded:
    run: RecordedRun
    answers: _Answers = field(repr=False)
    live: Mapping[type[Effect], Handler | None] = {}

    def took(self, effect: Effect) -> float | None:
        """How long an effect took then; None for one that is performed."""
        answer = self._fitting(effect)
        return answer.step.seconds if answer else None

    def __repr__(self) -> str:
        return repr(self.run).replace("RecordedRun", "recorded", 1)

    async def perform(self, effect: Effect, report: Report | None) -> Event:
        answer = self._fitting(effect)
        if answer is None:
            return await self._live(effect).perform(effect, report)
        event = answer.event
        if report and isinstance(event, ModelReplied):
            if event.reasoning:
                report(ReasoningDelta(event.at, event.reasoning))
            if event.message.content:
                report(execution.TextDelta(event.at, event.message.content))
        return event

    def _fitting(self, effect: Effect) -> _Answer | None:
        """How this very effect was answered."""
        answer = self.answers.get((type(effect), effect.at))
        return answer if answer and answer.effect == effect else None

    def _live(self, effect: Effect) -> Handler:
        """Who performs an effect that was not recorded."""
        if live := self.live.get(type(effect)):
            return live
        name = "the request" if isinstance(effect, CallModel) else f"the call of {effect.name}"
        lines, at = effect_lines(effect), position_text(effect.at)
        answer = self.answers.get((type(effect), effect.at))
        told = f"{name} at {at} is not the one that was recorded:"
        if answer is None:
            told = f"nothing was recorded at {at} for {name}"
            others = [each for each in self.answers.values() if type(each.effect) is type(effect)]
            if not others:
                raise ReplayError(self.run.placed(told))
            told = f"{told}; the nearest:"
            answer = max(
                others,
                key=lambda each: SequenceMatcher(None, effect_lines(each.effect), lines).ratio(),
            )
        then = effect_lines(answer.effect)
        difference = unified_diff(then, lines, "recorded", "now", n=2, lineterm="")
        raise ReplayError(self.run.placed("\n".join([told, *difference]), answer.step))


@define(eq=False)
class UntilChanged(_Recorded):
    """A handler that answers as a recorded run did, until something else is asked than then.

    What was recorded before holds; from there on everything is performed anew, also what is asked
    as it was then: what a tool did may have changed what the next one finds.
    """

    goes_on: Callable[[], Handler] | None = None  # gives what performs the rest; the run sets it
    is_changed: bool = False

    @classmethod
    def of(cls, run: RecordedRun | PathLike) -> UntilChanged:
        """Make the handler of a run, or of the run at an address; for errors see `recorded`."""
        return cls(*_answers_of(run))

    def _fitting(self, effect: Effect) -> _Answer | None:
        return None if self.is_changed else super()._fitting(effect)

    def _live(self, effect: Effect) -> Handler:
        if self.goes_on is None:
            return super()._live(effect)
        self.is_changed = True
        return self.goes_on()
