"""New runs that begin like another, up to where a changed program asks for something else."""

from __future__ import annotations

import os
from collections.abc import Iterator

from gram import GramError, expect
from lenses_ext import ProgramLike

from ..machine import At, Effect, State, begun_with, pending
from ..programs import the_agent
from ..records import Begun, EntryWriter, Folded, RecordedRun
from ..stores import RunFacts, RunStore, StoredRun


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
        the other, and has no answer, is one that may have been made.

    Raises:
        ValidationError: the program is invalid, or the input does not fit it.
        StoreError: there is no such run, or the store cannot be written.
    """
    expect(store, RunStore, "store", by="fork_run")
    expect(run, str, "run", by="fork_run")
    kept, facts = store.recorded(run), store.row(run).facts
    first = kept.first
    if program is not None:
        first = begun_with(first, the_agent(program, agent, by="fork_run"))
    first = first.with_run_id(os.urandom(8).hex())
    new = RunFacts("", parent=run, tenant=facts.tenant, priority=facts.priority)
    log = StoredRun(store, first.run_id, facts=new)
    of = kept if program is None else None
    writer, entries, state = EntryWriter(), list[str](), first
    head = writer.head(first, kept.library, of=of)
    for each, seconds in _same(kept, first):
        entries.append(writer.event(each, seconds))
        state = each.state
    entries += [writer.note(each) for each in _begun(kept, state)]
    log.begin_with(head, first, entries, state)
    return first.run_id


def _begun(kept: RecordedRun, state: State) -> Iterator[Begun]:
    """The notes of what had begun, has no answer, and is waited for by another run, too."""
    asked = {each.at: each for each in pending(kept.state) if each.at in kept.unanswered}
    shared = {each.at for each in pending(state) if asked.get(each.at) == each}
    for note in kept.notes:
        if isinstance(note, Begun) and note.at in shared:
            yield note


def _same(kept: RecordedRun, state: State) -> Iterator[tuple[Folded, float | None]]:
    """The steps that another run takes, too, and how long they took."""
    waiting: dict[At, Effect] = {each.at: each for each in pending(state)}
    for each in kept.fitting:
        if each.effect is not None and waiting.pop(each.effect.at, None) != each.effect:
            return
        try:
            folded = Folded.of(state, each.event, each.effect)
        except GramError:  # it answers nothing that this run asks
            return
        state = folded.state
        waiting |= {effect.at: effect for effect in folded.new}
        yield folded, each.seconds
