"""Giving back to workers what has stopped: a run goes on where it was, or a fork of it does."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import Final

from attrs import evolve, frozen

from gram.errors import expect
from lenses_ext import ProgramLike

from ..errors import RunExistsError, StoreError, ValidationError
from ..execution import Folded
from ..history.records import RecordedRun
from ..history.stores import RunRow, RunStore, StoredRun
from ..machine import CallFailed, CallTool, Limits, Resumed, Status, pending, step
from .forking import forked
from .limits import limit_name
from .needs import models_asked, queue_of
from .queue import RunQueue
from .submission import postgres_of

_STOPPED: Final = ("failed", "limited", "stopped")
_HAS_FAILED: Final = (Status.FAILED, Status.UNUSABLE)
_AGAIN: Final = re.compile(r"\.again-(\d+)$")


@frozen
class Requeue:
    """How a run is given back to workers, see `requeue_run`.

    Attributes:
        store: the store.
        row: the run.
        kept: what is recorded of it, up to the event that failed it.
        new: the id of the fork that is given back instead of it; None where it goes on itself.
        program: the program of the fork; None for its own.
        agent: the name of its agent; None for the only one.
        limits: its limits from now on; None for those that it has.
    """

    store: RunStore
    row: RunRow
    kept: RecordedRun
    new: str | None
    program: ProgramLike | None
    agent: str | None
    limits: Limits | None

    def called(self, tool: str) -> bool:
        """Whether a call of a tool failed in it, or has no answer."""
        kept = self.store.recorded(self.row.id)
        failed = (each.effect for each in kept.steps if isinstance(each.event, CallFailed))
        left = (each for each in pending(kept.state) if each.at in kept.unanswered)
        calls = (*failed, *left)
        return any(isinstance(each, CallTool) and each.name == tool for each in calls)

    def asked(self, model: str) -> bool:
        """Whether it asks a model, or the models of a provider, of this name."""
        name = limit_name(model)
        asked = models_asked(self.kept.first)
        return any(name in (limit_name(each.provider), limit_name(str(each))) for each in asked)

    def carry_out(self) -> str:
        """Give it back, and return the id of the run that workers drive now.

        Raises:
            StoreError: somebody has given it back, or goes on with it, or the store cannot be
                written.
        """
        queue, kept = RunQueue(postgres_of(self.store)), self.kept
        if self.new is None:
            log, now = StoredRun.of(self.store, self.row.id)
            if now.state != kept.state:
                raise StoreError(f"{log.name}: somebody has gone on with it")
            state, events = kept.state, list[Folded]()
            if self.limits is not None or state.status is Status.LIMITED:
                event = Resumed(self.limits)
                state = step(state, event).state
                events.append(Folded(event, None, state))
            with log.held(lambda: state):
                log.append_all(events)
            queue.add(log.id, queue_of(kept.first, kept.own_tools), None)
            return log.id
        fork = forked(kept, self.new, self.program, agent=self.agent, limits=self.limits)

        def work() -> None:
            facts = evolve(self.row.facts, parent=self.row.id)
            fork.write(StoredRun(self.store, fork.first.run_id, facts=facts, status="queued"))
            queue.add(fork.first.run_id, queue_of(fork.first, kept.own_tools), None)

        try:
            postgres_of(self.store).together(work)
        except RunExistsError:
            raise _given_back(self.store, self.row.id, self.new) from None
        return self.new


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
    """How a run is given back, which is not done yet; see `requeue_run`."""
    expect(store, RunStore, "store", by="requeue_run")
    expect(run, str, "run", by="requeue_run")
    expect(limits, (Limits, type(None)), "limits", by="requeue_run")
    queue, row = RunQueue(postgres_of(store)), store.row(run)
    name = store.name_of(run)
    if row.status not in _STOPPED:
        raise StoreError(f"{name} is {row.status}: only what has stopped is given back")
    if queue.due(run) is not None:
        raise StoreError(f"{name}: workers go on with it already")
    kept = store.recorded(run)
    kept.check()
    new = None
    if program is not None or kept.state.status in _HAS_FAILED:
        kept, new = _before_failure(kept), _again(run)
        if any(each.id == new for each in store.rows(beginning=new)):
            raise _given_back(store, run, new)
    elif kept.state.status is Status.LIMITED:
        after = step(kept.state, Resumed(limits)).state
        if after.status is Status.LIMITED:
            raise ValidationError(
                f"{name} stops at the same limit again: {row.reason or 'a limit'}\n"
                "  hint: give a higher one, such as --limit iterations=20 (limits= in Python)"
            )
    if queue.has_gone_on(run):
        raise StoreError(
            f"{name}: its conversation has gone on without it\n  hint: submit the message again"
        )
    return Requeue(store, row, kept, new, program, agent, limits)


def _before_failure(kept: RecordedRun) -> RecordedRun:
    """A run without the event that failed it, and what follows that."""
    failing = next((each for each in kept.steps if each.state.status in _HAS_FAILED), None)
    return evolve(kept, entries=tuple(takewhile(lambda each: each is not failing, kept.entries)))


def _again(run: str) -> str:
    """The id of the run that is given back in the place of another."""
    found = _AGAIN.search(run)
    number = int(found[1]) + 1 if found else 1
    return f"{_AGAIN.sub('', run)}.again-{number}"


def _given_back(store: RunStore, run: str, new: str) -> StoreError:
    return StoreError(f"{store.name_of(run)} was given back already, as run {new}")
