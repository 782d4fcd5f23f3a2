"""Answering what a run waits for, from outside of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias, Union

from attrs import frozen

from gram import did_you_mean, expect

from ..errors import ValidationError
from ..execution import Folded
from ..history.stores import RunStore, StoredRun
from ..json_text import Json, write_json
from ..machine import Ask, At, Decided, Event, State, ToolReturned, step
from .queue import tell_workers


@frozen
class Result:
    """The result of a call that was made by other means, instead of making it.

    Attributes:
        value: the result, a JSON value.
    """

    value: Json


Decision: TypeAlias = Union[bool, str, Result]
"""Yes, no, no and why, or the result of the call."""


def decide_run(
    store: RunStore, run: str, decisions: Mapping[At, Decision] | bool | str
) -> tuple[Ask, ...]:
    """Answer calls that a run waits for approval of; it can be resumed then.

    A call may also be asked about because it had begun when the run was stopped, and its tool is
    to run only once. Yes runs it again, a `Result` is taken as what it gave.

    Args:
        store: the store.
        run: the id of the run.
        decisions: the answer to each call by its position, or one answer to all.

    Returns:
        The calls that still wait.

    Raises:
        ValidationError: no call waits, or none at one of the positions.
        RunTakenError: somebody goes on with the run.
        StoreError: there is no such run, or the store cannot be written.
    """
    expect(store, RunStore, "store", by="decide_run")
    expect(run, str, "run", by="decide_run")
    expect(decisions, (Mapping, bool, str), "decisions", by="decide_run")
    log, kept = StoredRun.of(store, run)
    state = kept.state
    if isinstance(decisions, Mapping):
        for at, decision in decisions.items():
            expect(at, tuple, "the position of a decision", by="decide_run")
            expect(decision, (bool, str, Result), f"decisions[{at}]", by="decide_run")
    elif state.asks:
        decisions = {ask.at: decisions for ask in state.asks}
    else:
        status = store.row(run).status
        raise ValidationError(f"no call of run {run} waits for approval: the run is {status}")
    events = [event for at, decision in decisions.items() for event in _events(state, at, decision)]
    asks, answers = {ask.at: ask for ask in state.asks}, list[Folded]()
    for event in events:
        effect = asks.get(event.at) if isinstance(event, Decided) else None
        state = step(state, event).state
        answers.append(Folded(event, effect, state))
    if answers:
        with log.held(lambda: state):
            log.append_all(answers)
        tell_workers(store, run)
    return state.asks


def _events(state: State, at: At, decision: Decision) -> Iterator[Event]:
    waiting = {_shown(ask.at): ask for ask in state.asks}
    if _shown(at) not in waiting:
        hint = did_you_mean(_shown(at), waiting) or (
            f"calls wait at {', '.join(waiting)}" if waiting else "the run waits for no approval"
        )
        raise ValidationError(f"no call waits for approval at {_shown(at)}; {hint}")
    if isinstance(decision, Result):
        yield Decided(at, True)
        yield ToolReturned(at, write_json(decision.value))
    elif isinstance(decision, str):
        yield Decided(at, False, decision)
    else:
        yield Decided(at, decision)


def _shown(at: At) -> str:
    return ".".join(map(str, at))
