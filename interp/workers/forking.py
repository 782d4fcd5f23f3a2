"""Forks: new runs that begin like others."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TypeAlias

from attrs import frozen

from gram import GramError
from gram.errors import expect
from lenses_ext import ProgramLike

from ..execution import Begun, Folded
from ..history.records import RecordedRun, event_line, note_line
from ..history.stores import RunFacts, RunStore, StoredRun
from ..machine import At, Decided, Effect, Limits, Resumed, State, pending, start_again, step
from ..programs import the_agent

_Taken: TypeAlias = tuple[Folded, float | None]
"""A step, and how long it took in the other run."""


@frozen
class Fork:
    """A new run that begins like another.

    Attributes:
        kept: the other.
        first: the State that it begins with.
        entries: what it has of the other.
        state: the State that they lead to.
    """

    kept: RecordedRun
    first: State
    entries: tuple[str, ...]
    state: State

    def write(self, log: StoredRun) -> None:
        """Write it to a store."""
        log.begin_with(self.first, self.kept.library, self.entries, self.state)


def fork_run(
    store: RunStore, run: str, program: ProgramLike | None = None, *, agent: str | None = None
) -> str:
    """Make a new run that begins like another, and can be resumed.

    Args:
        store: the store.
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
    fork = forked(store.recorded(run), new, program, agent=agent)
    fork.write(StoredRun(store, new, facts=facts))
    return new


def forked(
    kept: RecordedRun,
    run: str,
    program: ProgramLike | None,
    *,
    agent: str | None = None,
    limits: Limits | None = None,
) -> Fork:
    """What a new run of an id has of another, see `fork_run`.

    Args:
        kept: the other.
        run: the id of the new run.
        program: its program; None for the same.
        agent: the name of its agent; None for the only one.
        limits: its limits; None for the same.
    """
    first = kept.first
    if program is not None:
        first = start_again(first, the_agent(program, agent, by="fork_run")).state
    first = first.with_run_id(run)
    steps, begun = _taken(kept, first)
    state = steps[-1][0].state if steps else first
    if limits is not None or state.run.limit is not None:
        change = Resumed(limits)
        state = step(state, change).state
        steps.append((Folded(change, None, state), None))
    entries = [event_line(*each) for each in steps] + [note_line(each) for each in begun]
    return Fork(kept, first, tuple(entries), state)


def _taken(kept: RecordedRun, first: State) -> tuple[list[_Taken], list[Begun]]:
    """What a new run takes of another: its steps, and the notes of what had begun.

    A call is allowed for one run: the answer that allows it is taken only with what came of it.
    """
    unused: list[Decided] = []
    while True:
        steps = list(_same(kept, first, unused))
        begun = list(_begun(kept, steps[-1][0].state if steps else first))
        found = _unused(steps, begun)
        if not found:
            return steps, begun
        unused += found


def _unused(steps: list[_Taken], begun: list[Begun]) -> list[Decided]:
    """The answers that allow a call which has not begun."""
    found, used = list[Decided](), {part for note in begun for part in _beginnings(note.at)}
    for each, _ in reversed(steps):
        event = each.event
        if isinstance(event, Decided) and event.allowed and event.at not in used:
            found.append(event)
        used.update(_beginnings(event.at))
    return found


def _beginnings(at: At) -> Iterator[At]:
    """A position, and those of the calls around it."""
    return (at[:length] for length in range(1, len(at) + 1))


def _begun(kept: RecordedRun, state: State) -> Iterator[Begun]:
    """The notes of what had begun, has no answer, and is waited for by another run, too."""
    unanswered, needed = kept.unanswered, pending(kept.state, past_limit=True)
    asked = {each.at: each for each in needed if each.at in unanswered}
    waiting = pending(state, past_limit=True)
    shared = {each.at for each in waiting if asked.get(each.at) == each}
    for note in kept.notes:
        if isinstance(note, Begun) and note.at in shared:
            yield note


def _same(kept: RecordedRun, state: State, without: list[Decided]) -> Iterator[_Taken]:
    """The steps that another run takes, too, without some answers."""
    waiting: dict[At, Effect] = {each.at: each for each in pending(state)}
    for each in kept.fitting:
        if any(each.event is answer for answer in without):
            continue
        if each.effect is not None and waiting.pop(each.effect.at, None) != each.effect:
            return
        try:
            state, effects, _ = step(state, each.event)
        except GramError:  # it answers nothing that this run asks
            return
        waiting |= {effect.at: effect for effect in effects}
        yield Folded(each.event, each.effect, state), each.seconds
