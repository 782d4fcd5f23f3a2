"""The pump that blocks: it has one effect performed after another, and folds in what comes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator

from ..concurrency import Clock, TookTooLongError, read_from_thread
from ..errors import ApprovalNeeded
from ..machine import Ask, CallTool, Effect, Event, TimeUp
from ..tools import providing
from .observations import (
    Observation,
    TextDelta,
    ToolProgress,
    ToolStarted,
    finished,
    observations,
    under_way,
)
from .progress import Progress
from .scheduling import startable
from .world import Report, World


def drive(run: Progress, *, words: bool, is_read: bool = True) -> Iterator[Observation]:
    """Go on to the end, and show what happens as it happens.

    Args:
        run: what is driven.
        words: whether to show the words of the model.
        is_read: whether somebody reads what is shown; the end is always shown.
    """
    with run.taken_up() as (clock, world, waiting):
        try:
            yield from under_way(run.state) if is_read else ()
            while effects := startable(waiting):
                effect = effects[0]
                waiting.remove(effect)
                if not run.is_wanted(effect):
                    continue
                if isinstance(effect, CallTool):
                    yield ToolStarted(effect)
                try:
                    event = yield from _perform(run, world, effect, clock, words, is_read)
                except ApprovalNeeded:  # it stays open; the others go on
                    continue
                except TookTooLongError:
                    event, waiting = TimeUp(), []
                before = run.state
                waiting += run.fold_or_fail(effect, event)
                yield from observations(before, event, run.state) if is_read else ()
            yield finished(run.state)
        except GeneratorExit:  # a reader who has stopped has not seen it
            raise
        except BaseException:  # what ended is kept, then it is raised again
            run.fold_what_ended()
            raise
        finally:
            run.close()


def _perform(
    run: Progress, world: World, effect: Effect, clock: Clock, words: bool, is_read: bool
) -> Generator[TextDelta | ToolProgress, None, Event]:
    """Have an effect performed; yields the words of a model and how far a tool is.

    Returns the event.
    """
    if isinstance(effect, Ask):
        with clock.standing_still():
            return world.perform(effect, None)
    if clock.left == 0:
        raise TookTooLongError
    if isinstance(effect, CallTool):
        if is_read and run.may_report(effect) and run.state.limits.tool_seconds is not None:
            return (yield from _watched(run, world, effect, clock))
        with providing(run.tool_context(effect)):
            return world.perform(effect, None)
    if clock.left is None and not words:
        return world.perform(effect, None)

    def perform(give: Report) -> Event:
        return world.perform(effect, give if words else None)

    return (yield from read_from_thread(perform, clock))


def _watched(
    run: Progress, world: World, effect: CallTool, clock: Clock
) -> Generator[ToolProgress, None, Event]:
    """Have a tool called in a thread of its own; yields how far it is."""

    def perform(show: Callable[[ToolProgress], None]) -> Event:
        with providing(run.tool_context(effect, show)):
            return world.perform(effect, None)

    return (yield from read_from_thread(perform, clock, may_drop=True))
