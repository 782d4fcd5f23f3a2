"""The timeline of a recorded run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final, TypeAlias

from attrs import asdict, evolve
from pyrsistent import thaw

from gram import dumps, expect
from lenses_ext import Model

from ..errors import ConfigurationError
from ..execution import NOT_WAITED_FOR
from ..json_text import write_json
from ..machine import (
    AgentFrame,
    Ask,
    Called,
    CallFailed,
    CallModel,
    Decided,
    Effect,
    Frame,
    ModelReplied,
    Outcome,
    Passed,
    Resumed,
    State,
    Status,
    ToolInvocation,
    ToolReturned,
    Usage,
    UserRole,
    WorkflowFrame,
    endings_at_start,
    frame_at,
    newly_answered,
    pending,
)
from ..models import price_of_reply
from ..programs import names_of_models
from ..records import Begun, Failed, Note, RecordedRun, Retried, Step
from .entries import Entry, How, Kind, Position, Timeline
from .nesting import nested, totals


def timeline(run: RecordedRun, *, has_prices: bool = True) -> Timeline:
    """The timeline of a recorded run.

    Args:
        run: the run.
        has_prices: whether to look up what replies cost, where the extra ``prices`` is installed.
    """
    expect(run, RecordedRun, "run", by="timeline")
    reader = TimelineReader(run, has_prices=has_prices)
    for entry in run.entries:
        reader.take(entry)
    return evolve(reader.timeline(), edited=run.edited)


class TimelineReader:
    """Makes the timeline of a run of its entries, from its first to its last.

    Args:
        run: the run, of which what it began with is read.
        has_prices: as for `timeline`.
    """

    def __init__(self, run: RecordedRun, *, has_prices: bool = True) -> None:
        self._run = run
        self._has_prices = has_prices
        self._state = run.first
        self._stopped: str | None = None
        self._approvals: dict[Position, bool] = {}
        self._begun: dict[Position, float | None] = {}
        self._retries: dict[Position, tuple[str, ...]] = {}
        self._ended_so_far: list[Entry] = []
        for ending in endings_at_start(run.first):
            if isinstance(ending, Passed):
                self._ended_so_far.append(_passed(ending, run.first))
            else:
                self._ended_so_far.append(_ended(run.first, *ending))

    def take(self, entry: Step | Note) -> None:
        """Take the next entry of the run."""
        if isinstance(entry, Step):
            self._stopped, self._state = None, entry.state
            found = self._step(entry)
        else:
            found = self._note(entry, self._state)
        self._ended_so_far.extend(_priced(found) if self._has_prices else found)

    def timeline(self) -> Timeline:
        """The timeline of the run as far as its entries were taken."""
        first, state = self._run.first, self._state
        found = [*self._ended_so_far, *self._under_way()]
        entries, in_order = nested(found)
        all_of_it = totals(entries)
        times = [each.seconds for each in found if each.seconds is not None]
        said = [each.content for each in first.context if each.role == UserRole]
        unfinished = _UNFINISHED if _is_unfinished(state.frame) else None
        return Timeline(
            first.agent.value.identity,
            _model_of(state),
            first.run_id,
            self._run.filename or "",
            said[-1] if said else "",
            state.status,
            state.stopped or self._stopped or unfinished,
            self._run.started,
            state.context[-1].content if state.status is Status.DONE else None,
            entries,
            in_order,
            state.usage,
            all_of_it.cost,
            all_of_it.requests,
            all_of_it.calls,
            sum(times) if times else None,
        )

    def _note(self, note: Note, state: State) -> Iterator[Entry]:
        if isinstance(note, Begun):
            began = self._run.started
            self._begun[note.at] = (note.time - began).total_seconds() if began else None
            self._stopped = None
        elif isinstance(note, Retried):
            self._retries[note.at] = (*self._retries.get(note.at, ()), note.error)
        elif isinstance(note, Failed):
            for effect in pending(state):
                if effect.at == note.at:
                    failed = evolve(
                        self._open(state, effect), error=note.error, seconds=note.seconds
                    )
                    yield self._noted(evolve(failed, how="failed"))
        else:
            self._stopped = note.error

    def _noted(self, entry: Entry) -> Entry:
        """An entry with what notes say of it; they hold for what began last."""
        started = self._begun.pop(entry.at, None)
        return evolve(entry, started=started, retries=self._retries.pop(entry.at, ()))

    def _step(self, step: Step) -> Iterator[Entry]:
        event = step.event
        if isinstance(event, Decided):
            self._approvals[event.at] = event.allowed
        if isinstance(event, ModelReplied):
            yield self._noted(_reply(step, event))
        elif isinstance(event, Resumed):
            if changes := _changes(event, step.before):
                yield Entry((), "change", _who(step.state), "", "done", arguments=changes)
        elif not isinstance(event, ToolReturned | CallFailed | Decided):
            error = step.state.stopped
            yield Entry((), "stop", _who(step.state), "", "failed", error=error)
        passed = [_passed(each, step.before) for each in step.endings if isinstance(each, Passed)]
        frames = [each for each in step.endings if not isinstance(each, Passed)]
        ended = {frame.place: (frame, outcome) for frame, outcome in frames}
        over = sorted([*self._ended(step, ended), *passed], key=lambda each: -len(each.at))
        yield from (each for each in over if each.at == event.at)
        yield from self._dropped(step, ended)
        yield from (each for each in over if each.at != event.at)

    def _ended(self, step: Step, ended: Ended) -> Iterator[Entry]:
        """The calls that a step answered, and the agents and workflows that it ended."""
        event = step.event
        answered = dict(newly_answered(step.before, event, step.state))
        for at in dict.fromkeys([*ended, *answered]):
            call, (frame, outcome) = answered.get(at), ended.get(at, (None, None))
            ran = isinstance(event, ToolReturned | CallFailed) and event.at == at
            if call is not None:
                entry = _call(at, call, _who(step.before, at), ran or frame is not None)
                entry = entry if frame is None else evolve(entry, kind=_kind(frame))
                entry = evolve(entry, seconds=step.seconds if ran else None)
            else:
                assert frame is not None
                assert outcome is not None
                entry = _ended(step.before, frame, outcome)
            if frame is not None and entry.how == "done" and _is_unfinished(frame):
                entry = evolve(entry, error=_UNFINISHED)
            yield self._noted(evolve(entry, approval=self._approvals.get(at)))

    def _dropped(self, step: Step, ended: Ended) -> Iterator[Entry]:
        """What a workflow no longer waits for, because one of its steps has failed."""
        failed = any(outcome.error for _, outcome in ended.values())
        if not failed and step.state.status is not Status.FAILED:
            return
        left = {each.at for each in pending(step.state)}
        for effect in pending(step.before):
            if effect.at not in left and effect.at != step.event.at:
                entry = self._open(step.before, effect)
                yield self._noted(evolve(entry, how="dropped", error=NOT_WAITED_FOR))
        live = {each.place for each in _inside(step.state.frame)}
        for frame in _inside(step.before.frame):
            if frame.place not in live and frame.place not in ended:
                if isinstance(frame, WorkflowFrame) and frame.is_loop:
                    yield evolve(_round(frame, "dropped"), error=NOT_WAITED_FOR)
                yield evolve(_frame(step.before, frame, "dropped"), error=NOT_WAITED_FOR)

    def _under_way(self) -> Iterator[Entry]:
        """What the run waits for, and the agents and workflows that it is in."""
        state = self._state
        for effect in pending(state):
            yield self._open(state, effect)
        how: How = "waiting" if state.status is Status.LIMITED else "running"
        for frame in _inside(state.frame, itself=True):
            if isinstance(frame, WorkflowFrame) and frame.is_loop and not frame.is_over:
                yield _round(frame, how)
            if frame is not state.frame:
                yield _frame(state, frame, how)

    def _open(self, state: State, effect: Effect) -> Entry:
        """An effect that has no answer yet."""
        started = self._begun.get(effect.at)
        how: How = "running" if effect.at in self._begun else "waiting"
        if isinstance(effect, CallModel):
            model = str(effect.request.model)
            return Entry(effect.at, "model", _who(state, effect.at), model, how, started=started)
        call = Entry(
            effect.at, "tool", _who(state, effect.at), effect.name, how, effect.arguments,
            started=started,
        )  # fmt: skip
        if isinstance(effect, Ask):
            return evolve(call, how="asked", may_have_run=effect.may_have_run)
        return call


def _reply(step: Step, event: ModelReplied) -> Entry:
    return Entry(
        event.at,
        "model",
        _who(step.before, event.at),
        str(step.effect.request.model) if isinstance(step.effect, CallModel) else "",
        "done",
        result=event.message.content,
        error="cut off at its length limit" if event.truncated else None,
        calls=tuple(call.name for call in event.message.tool_calls),
        seconds=step.seconds,
        usage=event.usage,
        finish_reason=event.finish_reason,
        served_model=event.served_model,
        server=event.server,
    )


def _call(at: Position, call: ToolInvocation, who: str, ran: bool) -> Entry:
    how: How = "done" if call.error is None else "failed" if ran else "refused"
    return Entry(at, "tool", who, call.tool_name, how, call.args_text, call.result_text, call.error)


Ended: TypeAlias = Mapping[Position, tuple[Frame, Outcome]]
"""The agents and workflows that a step has ended, and how, by their places."""


def _inside(frame: Frame, *, itself: bool = False) -> Iterator[Frame]:
    """The frames inside another, those further inside first."""
    for part in frame.parts:
        if isinstance(part, AgentFrame | WorkflowFrame):
            yield from _inside(part, itself=True)
    if itself:
        yield frame


_UNFINISHED: Final = "a loop was out of rounds"


def _is_unfinished(frame: Frame) -> bool:
    return isinstance(frame, WorkflowFrame) and frame.unfinished


def _kind(frame: Frame) -> Kind:
    return "agent" if isinstance(frame, AgentFrame) else "workflow"


def _ended(state: State, frame: Frame, outcome: Outcome) -> Entry:
    """The entry of an agent or a workflow that nobody called and that has ended."""
    how: How = "done" if outcome.error is None else "failed"
    error = _UNFINISHED if how == "done" and _is_unfinished(frame) else outcome.error
    return evolve(_frame(state, frame, how), result=outcome.said, error=error)


def _passed(passed: Passed, state: State) -> Entry:
    """The entry of a part of a workflow that was neither an effect nor a frame."""
    kind: Kind = "tool" if passed.kind == "step" else passed.kind
    failed: How = "refused" if passed.kind == "step" else "failed"
    return Entry(
        passed.at,
        kind,
        _who(state, passed.at),
        passed.name,
        "done" if passed.error is None else failed,
        passed.given,
        passed.said,
        passed.error,
    )


def _round(frame: WorkflowFrame, how: How) -> Entry:
    """The entry of the round that a loop is in."""
    return Entry(frame.at, "round", frame.name, frame.name, how, frame.given)


def _frame(state: State, frame: Frame, how: How) -> Entry:
    """The entry of an agent or a workflow, with what a State says that it was given."""
    around, name = frame_at(state, frame.place), frame.name
    given: str | None = frame.given if isinstance(frame, WorkflowFrame) else None
    node = around.node_at(frame.place) if isinstance(around, WorkflowFrame) else None
    if isinstance(around, WorkflowFrame) and node is not None:
        given = around.live[node[0]].items[node[1]]
    elif isinstance(around, AgentFrame):
        for _, called in around.waiting:
            if isinstance(called, Called) and called.frame.place == frame.place:
                given, name = called.call.arguments, called.call.name
    return Entry(frame.place, _kind(frame), around.name, name, how, given)


def _who(state: State, at: Position = ()) -> str:
    """The name of the agent that a position is of; of a step of a workflow, the workflow's."""
    return frame_at(state, at).name


def _model_of(state: State) -> str:
    return names_of_models(state.agent, state.model)


def _changes(event: Resumed, before: State) -> str | None:
    """What a `Resumed` changes, as JSON text; None if it changes nothing."""
    found: dict[str, Any] = {}
    if event.model is not None and event.model != before.model:
        found["model"] = str(event.model)
    if event.limits is not None:
        old = asdict(before.limits)
        new = {key: value for key, value in asdict(event.limits).items() if value != old[key]}
        found |= {"limits": new} if new else {}
    if event.settings:
        found["settings"] = {key: thaw(value) for key, value in event.settings.items()}
    if event.policy is not None and event.policy != before.policy:
        found["policy"] = dumps(event.policy.to_pattern())
    if event.check_results is not None:
        found["check_results"] = event.check_results
    return write_json(found) if found else None


def _priced(entries: Iterable[Entry]) -> Iterator[Entry]:
    """The entries with what their replies cost, as far as it is known."""
    for entry in entries:
        cost = None if entry.usage is None else _cost(entry, entry.usage)
        yield entry if cost is None else evolve(entry, cost=cost)


def _cost(reply: Entry, usage: Usage) -> Decimal | None:
    model = Model.parse(reply.name)
    try:
        return price_of_reply(model, usage, served_model=reply.served_model, server=reply.server)
    except ConfigurationError:  # prices are not installed
        return None
