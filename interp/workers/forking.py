"""Forks: new runs that begin like others."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Final

from attrs import evolve, frozen

from gram import GramError
from gram.errors import expect
from lenses_ext import ProgramLike

from .. import machine
from ..errors import RunExistsError, StoreError, ValidationError
from ..execution import Begun
from ..history.records import RecordedRun, RecordedStep, Replayer, event_line, note_line
from ..history.stores import RunFacts, RunRow, RunStore, StoredRun
from ..machine import Limits, Resumed, State, Status, pending
from ..programs import the_agent
from .limits import limit_name
from .queue import RunQueue
from .submission import models_asked, queue_of


def fork_run(
    store: RunStore, run: str, program: ProgramLike | None = None, *, agent: str | None = None
) -> str:
    """Make a new run that begins like another, and can be resumed.

    Args:
        run: the id of the run.
        program: the program of the new run; None for the same.
        agent: the name of its agent; None for the only one.

    Returns:
        The id of the new run. It has what is recorded of the other up to the first request or call
        that differs, or the first entry that is not as it was recorded. A call that had begun in
        the other, and has no answer, is one that may have been made. A call that was allowed in
        the other, and has not begun, waits for approval in the new run.

    Raises:
        ValidationError: the program is invalid, or the input does not fit it.
        StoreError: there is no such run, or the store cannot be written.
    """
    expect(store, RunStore, "store", by="fork_run")
    expect(run, str, "run", by="fork_run")
    facts, new = store.row(run).facts, os.urandom(8).hex()
    facts = RunFacts("", parent=run, tenant=facts.tenant, priority=facts.priority)
    kept = store.recorded(run)
    state, entries = _forked(kept, new, program, agent=agent)
    StoredRun(store, new, facts=facts).begin(state, kept.library, entries)
    return new


def _forked(
    kept: RecordedRun,
    run: str,
    program: ProgramLike | None,
    *,
    agent: str | None = None,
    limits: Limits | None = None,
) -> tuple[State, list[str]]:
    """The State of a new run that begins like another, and the entries that it has of that."""
    first = kept.first
    if program is not None:
        first = machine.start_again(first, the_agent(program, agent, by="fork_run")).state
    first = first.with_run_id(run)
    steps, begun = _taken(kept, first)
    state = _last(steps, first)
    if limits is not None or state.run.limit is not None:
        steps.append(Replayer(state).take(Resumed(limits)))
    lines = [*map(event_line, steps)]
    return _last(steps, first), [*lines, *map(note_line, begun)]


def _last(steps: Sequence[RecordedStep], first: State) -> State:
    return steps[-1].state if steps else first


def _taken(kept: RecordedRun, first: State) -> tuple[list[RecordedStep], list[Begun]]:
    """What a new run takes of another: its steps, and the notes of what had begun.

    A call is allowed for one run: the answer that allows it is taken only with what came of it.
    """
    unused = set[int]()
    while True:
        steps = list(_same(kept, first, unused))
        begun = list(_begun(kept, _last(steps, first)))
        used = {note.at[:size] for note in begun for size in range(len(note.at) + 1)}
        found = set[int]()
        for each in reversed(steps):
            event, at = each.event, each.event.at
            if isinstance(event, machine.Decided) and event.allowed and at not in used:
                found.add(id(event))
            used.update(at[:size] for size in range(len(at) + 1))  # and the calls around it
        if not found:
            return steps, begun
        unused |= found


def _begun(kept: RecordedRun, state: State) -> Iterator[Begun]:
    """The notes of what had begun, has no answer, and is waited for by another run, too."""
    left = {each.at for each in pending(state, past_limit=True) if each in kept.unanswered}
    return (note for note in kept.notes if isinstance(note, Begun) and note.at in left)


def _same(kept: RecordedRun, first: State, without: set[int]) -> Iterator[RecordedStep]:
    """The steps that another run takes, too, without some answers by their `id`."""
    replayer = Replayer(first)
    for each in kept.fitting:
        if id(each.event) in without:
            continue
        try:
            taken = replayer.take(each.event, each.seconds)
        except GramError:  # it answers nothing that this run asks
            return
        if taken.effect != each.effect:
            return
        yield taken


_STOPPED: Final = ("failed", "limited", "stopped")
_HAS_FAILED: Final = (Status.FAILED, Status.UNUSABLE)
_AGAIN: Final = re.compile(r"\.again-(\d+)$")


@frozen
class Requeue:
    """How a run is given back to workers, see `requeue_run`.

    Attributes:
        kept: what is recorded of it, up to the event that failed it.
        new: the id of the fork that is given back instead of it; None where it goes on itself.
    """

    store: RunStore
    queue: RunQueue
    row: RunRow
    kept: RecordedRun
    new: str | None
    program: ProgramLike | None
    agent: str | None
    limits: Limits | None

    def called(self, tool: str) -> bool:
        """Whether a call of a tool failed in it, or has no answer."""
        kept = self.store.recorded(self.row.id)
        failed = (each.effect for each in kept.steps if isinstance(each.event, machine.CallFailed))
        calls = (*failed, *kept.unanswered)
        return any(isinstance(each, machine.CallTool) and each.name == tool for each in calls)

    def asked(self, model: str) -> bool:
        """Whether it asks a model, or the models of a provider, of this name."""
        name = limit_name(model)
        asked = models_asked(self.kept.first)
        return any(name in (limit_name(each.provider), limit_name(str(each))) for each in asked)

    def carry_out(self) -> str:
        """Give it back, and return the id of the run that workers drive now."""
        return self._go_on() if self.new is None else self._fork(self.new)

    def _go_on(self) -> str:
        kept = self.kept
        log, now = StoredRun.of(self.store, self.row.id)
        if now.state != kept.state:
            raise StoreError(f"{log.name}: somebody has gone on with it")
        steps = list[RecordedStep]()
        if self.limits is not None or kept.state.status is Status.LIMITED:
            steps.append(Replayer(kept.state).take(Resumed(self.limits)))
        with log.held(lambda: _last(steps, kept.state)):
            log.append_all(steps)
        self.queue.add(log.id, queue_of(kept.first, kept.own_tools))
        return log.id

    def _fork(self, new: str) -> str:
        kept, facts = self.kept, evolve(self.row.facts, parent=self.row.id)
        state, entries = _forked(kept, new, self.program, agent=self.agent, limits=self.limits)

        def work() -> None:
            log = StoredRun(self.store, new, facts=facts, status="queued")
            log.begin(state, kept.library, entries)
            self.queue.add(new, queue_of(state.beginning, kept.own_tools))

        try:
            self.queue.database.together(work)
        except RunExistsError:
            raise _given_back(self.store, self.row.id, new) from None
        return new


def requeue_run(
    store: RunStore,
    run: str,
    program: ProgramLike | None = None,
    *,
    agent: str | None = None,
    limits: Limits | None = None,
) -> str:
    """Give a run that has stopped back to the workers of its store, and return its id from now on.

    What its model, a limit or a worker stopped goes on where it was. What has failed itself, or
    gets another program, is forked before the event that failed it, under an id made of its own.
    Each is given back once.

    Args:
        store: a store on Postgres.
        run: the id of the run.
        program: another program.
        agent: the name of its agent; None for the only one.
        limits: its limits from now on; None for those that it has.

    Raises:
        ConfigurationError: the store is not on Postgres, or Procrastinate is not installed.
        ValidationError: it would stop at the same limit again.
        StoreError: there is no such run, it has not stopped, it was given back already, or its
            conversation has gone on without it.
    """
    return requeue_of(store, run, program, agent=agent, limits=limits).carry_out()


def requeue_of(
    store: RunStore,
    run: str,
    program: ProgramLike | None = None,
    *,
    agent: str | None = None,
    limits: Limits | None = None,
) -> Requeue:
    """How `requeue_run` would give a run back; nothing is done yet."""
    expect(run, str, "run", by="requeue_run")
    expect(limits, (Limits, type(None)), "limits", by="requeue_run")
    queue, row = RunQueue.of(store, by="requeue_run"), store.row(run)
    name = store.name_of(run)
    if row.status not in _STOPPED:
        raise StoreError(f"{name} is {row.status}: only what has stopped is given back")
    if queue.due(run) is not None:
        raise StoreError(f"{name}: workers go on with it already")
    kept = store.recorded(run)
    kept.check()
    new = None
    if program is not None or kept.state.status in _HAS_FAILED:
        again = _AGAIN.search(run)
        number = int(again[1]) + 1 if again else 1
        new = f"{_AGAIN.sub('', run)}.again-{number}"
        failing = next((each for each in kept.steps if each.state.status in _HAS_FAILED), None)
        before = takewhile(lambda each: each is not failing, kept.entries)
        kept = evolve(kept, entries=tuple(before))
        if any(each.id == new for each in store.rows(beginning=new)):
            raise _given_back(store, run, new)
    elif kept.state.status is Status.LIMITED:
        after = machine.step(kept.state, Resumed(limits)).state
        if after.status is Status.LIMITED:
            raise ValidationError(
                f"{name} stops at the same limit again: {row.reason or 'a limit'}\n"
                "  hint: give a higher one, such as --limit iterations=20 (limits= in Python)"
            )
    if queue.has_gone_on(run):
        raise StoreError(
            f"{name}: its conversation has gone on without it\n  hint: submit the message again"
        )
    return Requeue(store, queue, row, kept, new, program, agent, limits)


def _given_back(store: RunStore, run: str, new: str) -> StoreError:
    return StoreError(f"{store.name_of(run)} was given back already, as run {new}")
