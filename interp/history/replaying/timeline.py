"""The timeline of a recorded run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from attrs import asdict, evolve
from pyrsistent import thaw

from gram import dumps
from lenses_ext import Model

from ... import machine
from ...errors import ConfigurationError
from ...execution import Begun, Failed, Note, Retried
from ...json_text import write_json
from ...machine import At, CallFailed, CallModel, Ended, ModelReplied, Resumed, State, ToolFinished
from ...models import price_of_reply
from ...programs import names_of_models
from ..records import PathLike, RecordedRun, RecordedStep
from ..stores import load_run
from .entries import Entry, How, Kind, Timeline, nested, totals


def timeline(run: RecordedRun | PathLike, *, has_prices: bool = True) -> Timeline:
    """The timeline of a recorded run.

    Args:
        run: the run, or its file.
        has_prices: whether to look up what replies cost, where the extra ``prices`` is installed.
    """
    found = run if isinstance(run, RecordedRun) else load_run(run)
    return _Reader(found).timeline(has_prices)


class _Reader:
    """Makes the timeline of a run of its entries, from its first to its last."""

    def __init__(self, run: RecordedRun) -> None:
        self._run = run
        self._state = run.first
        self._stopped: str | None = None
        self._approvals: dict[At, bool] = {}
        self._begun: dict[At, float | None] = {}
        self._retries: dict[At, tuple[str, ...]] = {}

    def timeline(self, has_prices: bool) -> Timeline:
        ended = self._ended()
        found = [*(map(_priced, ended) if has_prices else ended), *self._under_way()]
        first, state = self._run.first, self._state
        entries, in_order = nested(found)
        _, cost, requests, calls = totals(entries)
        said = [each.content for each in first.context if each.role == machine.UserRole]
        unfinished = _UNFINISHED if getattr(state.frame, "unfinished", False) else None
        return Timeline(
            agent=first.agent.value.identity,
            model=names_of_models(state.agent, state.model),
            run_id=first.run_id,
            program=self._run.filename or "",
            input=said[-1] if said else "",
            status=state.status,
            stopped=state.stopped or self._stopped or unfinished,
            started=self._run.started,
            answer=state.context[-1].content if state.status is machine.Status.DONE else None,
            entries=entries,
            in_order=in_order,
            usage=state.usage,
            cost=cost,
            requests=requests,
            calls=calls,
            seconds=_busy_seconds(found),
            attachments=first.run.attachments,
        )

    def _ended(self) -> Iterator[Entry]:
        yield from self._happened(machine.start_again(self._run.first).happened, self._run.first)
        for entry in self._run.entries:
            if isinstance(entry, RecordedStep):
                self._stopped, self._state = None, entry.state
                yield from self._step(entry)
            else:
                yield from self._note(entry)

    def _note(self, note: Note) -> Iterator[Entry]:
        if isinstance(note, Begun):
            began = self._run.started
            self._begun[note.at] = (note.time - began).total_seconds() if began else None
            self._stopped = None
        elif isinstance(note, Retried):
            self._retries[note.at] = (*self._retries.get(note.at, ()), note.error)
        elif isinstance(note, Failed):
            for effect in machine.pending(self._state):
                if effect.at == note.at:
                    failed = evolve(self._open(self._state, effect), how="failed")
                    yield self._noted(evolve(failed, error=note.error, seconds=note.seconds))
        else:
            self._stopped = note.error

    def _noted(self, entry: Entry) -> Entry:
        """An entry with what notes say of it; they hold for what began last."""
        started = self._begun.pop(entry.at, None)
        retries = (*self._retries.pop(entry.at, ()), *entry.retries)
        return evolve(entry, started=started, retries=retries)

    def _step(self, step: RecordedStep) -> Iterator[Entry]:
        event = step.event
        match event:
            case machine.Decided():
                self._approvals[event.at] = event.allowed
            case machine.CallBegun():
                self._begun.setdefault(event.at, None)
            case ModelReplied():
                yield self._noted(_reply(step, event))
            case Resumed():
                if changes := _changes(event, step.before):
                    yield Entry((), "change", _who(step.state), "", "done", arguments=changes)
            case machine.TimeUp() | machine.CostReached():
                yield Entry((), "stop", _who(step.state), "", "failed", error=step.state.stopped)
        yield from self._happened(step.happened, step.before, event, step.seconds)

    def _happened(
        self,
        happened: Iterable[machine.Happened],
        before: State,
        event: machine.Event | None = None,
        seconds: float | None = None,
    ) -> Iterator[Entry]:
        answered = {each.at for each in happened if isinstance(each, ToolFinished)}
        called: dict[At, Ended] = {}
        ran = event.at if isinstance(event, machine.ToolReturned | CallFailed) else None
        for each in happened:
            match each:
                case ToolFinished():
                    entry = _call(each, called.get(each.at), each.at == ran, seconds)
                case machine.CallDropped():
                    if not machine.waits_for(before, each.effect):
                        continue  # it never began
                    entry = self._open(before, each.effect)
                    entry = evolve(entry, how="dropped", error=machine.NOT_WAITED_FOR)
                case machine.AgentFinished() if each.at in answered:
                    called[each.at] = each  # its call is the entry
                    continue
                case Ended():
                    entry = _ended(each)
                case _:
                    continue
            yield self._noted(evolve(entry, approval=self._approvals.get(each.at)))

    def _under_way(self) -> Iterator[Entry]:
        """What the run waits for, and the agents and workflows that it is in."""
        state = self._state
        for effect in machine.pending(state):
            yield self._open(state, effect)
        how: How = "waiting" if state.status is machine.Status.LIMITED else "running"
        for begun in reversed(tuple(machine.frames_inside(state))):
            yield from _rounds(begun.frame, how)
            kind: Kind = "agent" if isinstance(begun.frame, machine.AgentFrame) else "workflow"
            yield Entry(begun.at, kind, begun.by, begun.name, how, begun.given)
        yield from _rounds(state.frame, how)

    def _open(self, state: State, effect: machine.Effect) -> Entry:
        """An effect that has no answer yet."""
        at, who, started = effect.at, _who(state, effect.at), self._begun.get(effect.at)
        how: How = "running" if at in self._begun else "waiting"
        if isinstance(effect, CallModel):
            return Entry(at, "model", who, str(effect.request.model), how, started=started)
        call = Entry(at, "tool", who, effect.name, how, effect.arguments, started=started)
        if isinstance(effect, machine.Ask):
            return evolve(call, how="asked", may_have_run=effect.may_have_run)
        return call


def _reply(step: RecordedStep, event: ModelReplied) -> Entry:
    asked = step.effect if isinstance(step.effect, CallModel) else None
    return Entry(
        at=event.at,
        kind="model",
        who=_who(step.before, event.at),
        name=str(event.model or (asked.request.model if asked else "")),
        how="done",
        result=event.message.content,
        error="cut off at its length limit" if event.truncated else None,
        calls=tuple(call.name for call in event.message.tool_calls),
        seconds=step.seconds,
        usage=event.usage,
        finish_reason=event.finish_reason,
        served_model=event.served_model,
        server=event.server,
        reasoning=event.reasoning,
        is_summary=asked is not None and asked.is_for_summary,
        cost=event.cost,
        retries=tuple(f"{model}: {why}" for model, why in event.tried),
    )


def _busy_seconds(entries: Iterable[Entry]) -> float | None:
    """How long something went on; what went on at once counts once."""
    took = [(each.started, each.seconds) for each in entries if each.seconds is not None]
    total = sum(seconds for started, seconds in took if started is None)
    until = 0.0
    for started, seconds in sorted((at, seconds) for at, seconds in took if at is not None):
        total += max(0.0, started + seconds - max(started, until))
        until = max(until, started + seconds)
    return round(total, 6) if took else None  # times are recorded in microseconds


def _call(answered: ToolFinished, called: Ended | None, ran: bool, seconds: float | None) -> Entry:
    """The entry of a call, and of the agent or workflow that was called."""
    call = answered.invocation
    kind: Kind = called.kind if called else "tool"
    how: How = "done" if call.error is None else "failed" if ran or called else "refused"
    error = _error(called, call.error) if called else call.error
    given = (call.agent_name, call.tool_name, how, call.args_text, call.result_text, error)
    took = seconds if ran and not called else None
    return Entry(answered.at, kind, *given, files=call.files, seconds=took)


def _ended(ended: Ended) -> Entry:
    """The entry of what nobody called and that has ended."""
    how: How = "done" if ended.error is None else "failed"
    if ended.was_dropped or ended.kind == "tool":
        how = "dropped" if ended.was_dropped else "refused"
    given = (ended.given, ended.result_text, _error(ended, ended.error))
    return Entry(ended.at, ended.kind, ended.by, ended.name, how, *given)


_UNFINISHED: Final = "a loop was out of rounds"


def _error(ended: Ended, error: str | None) -> str | None:
    return _UNFINISHED if error is None and ended.unfinished else error


def _rounds(frame: machine.Frame, how: How) -> Iterator[Entry]:
    """The entry of the round that a loop is in."""
    if isinstance(frame, machine.WorkflowFrame) and frame.is_loop and not frame.has_ended:
        yield Entry(frame.at, "round", frame.name, frame.name, how, frame.given)


def _who(state: State, at: At = ()) -> str:
    """The name of the agent that a position is of; of a step of a workflow, the workflow's."""
    return machine.frame_at(state, at).name


def _changes(event: Resumed, before: State) -> str | None:
    """What a `Resumed` changes, as JSON text; None if it changes nothing."""
    old = asdict(before.limits)
    limits = asdict(event.limits or before.limits).items()
    settings = (event.settings or {}).items()
    found = {
        "model": str(event.model) if event.model not in (None, before.model) else None,
        "limits": {key: value for key, value in limits if value != old[key]},
        "settings": {key: thaw(value) for key, value in settings},
        "policy": dumps(event.policy.to_pattern())
        if event.policy not in (None, before.run.policy)
        else None,
        "check_results": event.check_results,
    }
    found = {key: value for key, value in found.items() if value not in (None, {})}
    return write_json(found) if found else None


def _priced(entry: Entry) -> Entry:
    """An entry with what its reply cost, if that is known."""
    if entry.cost is not None or entry.usage is None:
        return entry
    model, server = Model.parse(entry.name), entry.server
    try:
        cost = price_of_reply(model, entry.usage, served_model=entry.served_model, server=server)
    except ConfigurationError:  # prices are not installed
        return entry
    return evolve(entry, cost=cost)
