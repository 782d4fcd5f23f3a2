"""The timeline of a run: what happened in it, as data.

What `gram trace` prints, what its ``--json`` prints and what the page of a run shows are views of
this one form.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, TypeAlias, Union

from attrs import asdict, evolve, field, frozen
from pyrsistent import thaw

from gram import dumps, expect
from lenses_ext import Model

from ..call_text import short_repr
from ..errors import ConfigurationError
from ..json_text import Json, read_json, write_json
from ..machine import (
    Ask,
    CallFailed,
    CallModel,
    Decided,
    Effect,
    ModelReplied,
    Resumed,
    State,
    Status,
    ToolReturned,
    frame_at,
    newly_answered,
    pending,
)
from ..messages import ToolInvocation, Usage, UserRole
from ..prices import price_of
from ..programs import names_of_models
from ..providers import find_provider
from ..records import Begun, Failed, Note, RecordedRun, Retried, Step

Position: TypeAlias = tuple[Union[int, str], ...]
"""Where something happened: the turn, for a call its index, names of agents before them."""

Kind: TypeAlias = Literal["model", "tool", "agent", "change", "stop"]
"""A request to a model, a call of a tool or of an agent, a change by the caller, an early end."""

How: TypeAlias = Literal["done", "failed", "refused", "asked", "running", "waiting"]
"""How something ended: refused calls were not run. What is asked, running (it began, and has no
answer yet) or waiting has not ended."""


@frozen
class Entry:
    """One thing that happened in a run, or that the run waits for.

    Attributes:
        at: its position.
        kind: what it is.
        who: the name of the agent that asked or called.
        name: the model, the tool or the agent that was asked or called.
        how: how it ended.
        arguments: the arguments of a call, or what a change sets, as JSON text.
        result: the words of a model, or the result of a call as JSON text.
        error: what went wrong, or why a call was refused.
        calls: the names of the tools that a reply calls.
        approval: whether somebody allowed the call; None if nobody was asked.
        started: when it began, in seconds after the run began; None if it is not known.
        seconds: how long it took; None if it is not known.
        usage: the tokens of a reply.
        cost: what the reply cost in US dollars; None if it is not known.
        finish_reason: why the model stopped, in its provider's word; "" if it did not say.
        served_model: the model that answered, as its provider names it; "" if it did not say.
        retries: why the request was sent again, each time.
        children: what happened inside a call of an agent, in order.
    """

    at: Position
    kind: Kind
    who: str
    name: str
    how: How
    arguments: str | None = field(default=None, repr=short_repr)
    result: str | None = field(default=None, repr=short_repr)
    error: str | None = field(default=None, repr=short_repr)
    calls: tuple[str, ...] = ()
    approval: bool | None = None
    started: float | None = None
    seconds: float | None = None
    usage: Usage | None = None
    cost: Decimal | None = None
    finish_reason: str = ""
    served_model: str = ""
    retries: tuple[str, ...] = ()
    children: tuple[Entry, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self.how in ("asked", "running", "waiting")

    def to_json(self) -> dict[str, Any]:
        """The entry as a JSON object; what is unknown or empty is left out."""
        result = read_json(self.result) if self.result and self.kind != "model" else self.result
        found = {
            "at": list(self.at),
            "kind": self.kind,
            "who": self.who,
            "name": self.name,
            "how": self.how,
            "arguments": _read_arguments(self.arguments),
            "result": result,
            "error": self.error,
            "calls": list(self.calls),
            "approval": self.approval,
            "started": self.started,
            "seconds": self.seconds,
            "usage": None if self.usage is None else _usage(self.usage),
            "cost": None if self.cost is None else float(self.cost),
            "finish_reason": self.finish_reason,
            "served_model": self.served_model,
            "retries": list(self.retries),
            "children": [each.to_json() for each in self.children],
        }
        has_result = self.result is not None
        return {
            key: value
            for key, value in found.items()
            if value not in (None, "", []) or (key == "result" and has_result) or key == "at"
        }


@frozen
class Timeline:
    """What happened in a run.

    Attributes:
        agent: the name of the agent.
        model: the model that it asks.
        run_id: the name of the run.
        program: the name of the program's file; "" if it had none.
        input: what the user said.
        status: what the run waits for.
        stopped: which limit was reached, what is wrong with the answer or what stopped the run
            last, or None.
        started: when it began, or None if that is not recorded.
        answer: the content of the answer; None if the run is not done.
        entries: what happened, in the order in which it ended; then what the run waits for.
        usage: the tokens of all replies.
        cost: what the replies cost together in US dollars; None if it is not known of each.
        requests: how many replies there were.
        calls: how many calls were answered.
        seconds: how long all of it took, one after another; None if it is not known.
    """

    agent: str
    model: str
    run_id: str
    program: str
    input: str = field(repr=short_repr)
    status: Status
    stopped: str | None
    started: datetime | None
    answer: str | None = field(repr=short_repr)
    entries: tuple[Entry, ...] = field(repr=False)
    usage: Usage
    cost: Decimal | None
    requests: int
    calls: int
    seconds: float | None

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        from .. import run_form  # only needed in notebooks

        return run_form(self)

    @property
    def waits_for(self) -> tuple[Entry, ...]:
        """What the run waits for."""
        return tuple(each for each in self.entries if each.is_open)

    def to_json(self) -> dict[str, Any]:
        """The timeline as a JSON object."""
        return {
            "agent": self.agent,
            "model": self.model,
            "run": self.run_id,
            "program": self.program,
            "input": self.input,
            "status": self.status.name.lower(),
            "stopped": self.stopped,
            "started": None if self.started is None else self.started.isoformat(),
            "answer": self.answer,
            "usage": _usage(self.usage),
            "cost": None if self.cost is None else float(self.cost),
            "requests": self.requests,
            "calls": self.calls,
            "seconds": self.seconds,
            "entries": [each.to_json() for each in self.entries],
            "waits_for": [each.to_json() for each in self.waits_for],
        }


def timeline(run: RecordedRun, *, has_prices: bool = True) -> Timeline:
    """The timeline of a recorded run.

    Args:
        run: the run.
        has_prices: whether to look up what replies cost, where the extra ``prices`` is installed.
    """
    expect(run, RecordedRun, "run", by="timeline")
    first, state = run.first, run.state
    reader = _Reader(run)
    entries = (*reader.ended(), *map(reader.open, pending(state)))
    if has_prices:
        entries = tuple(_priced(entries))
    replies = [each for each in entries if each.usage is not None]
    costs = [each.cost for each in replies if each.cost is not None]
    times = [each.seconds for each in entries if each.seconds is not None]
    said = [each.content for each in first.context if each.role == UserRole]
    return Timeline(
        first.agent.value.identity,
        _model_of(state),
        first.run_id,
        run.filename or "",
        said[-1] if said else "",
        state.status,
        state.stopped or reader.stopped,
        run.started,
        state.context[-1].content if state.status is Status.DONE else None,
        entries,
        state.usage,
        sum(costs, Decimal(0)) if costs and len(costs) == len(replies) else None,
        len(replies),
        sum(each.kind == "tool" and not each.is_open for each in entries),
        sum(times) if times else None,
    )


class _Reader:
    """Reads the entries of a recorded run from its first to its last.

    Attributes:
        stopped: what stopped the run last, None if it went on after that.
    """

    def __init__(self, run: RecordedRun) -> None:
        self._run = run
        self._approvals: dict[Position, bool] = {}
        self._begun: dict[Position, float | None] = {}
        self._retries: dict[Position, tuple[str, ...]] = {}
        self.stopped: str | None = None

    def ended(self) -> Iterator[Entry]:
        """What has ended, in that order."""
        state = self._run.first
        for entry in self._run.entries:
            if isinstance(entry, Step):
                self.stopped, state = None, entry.state
                yield from self._step(entry)
            else:
                yield from self._note(entry, state)

    def _note(self, note: Note, state: State) -> Iterator[Entry]:
        if isinstance(note, Begun):
            began = self._run.started
            self._begun[note.at] = (note.time - began).total_seconds() if began else None
            self.stopped = None
        elif isinstance(note, Retried):
            self._retries[note.at] = (*self._retries.get(note.at, ()), note.error)
        elif isinstance(note, Failed):
            for effect in pending(state):
                if effect.at == note.at:
                    failed = evolve(self.open(effect), error=note.error, seconds=note.seconds)
                    yield self._noted(evolve(failed, how="failed"))
        else:
            self.stopped = note.error

    def _noted(self, entry: Entry) -> Entry:
        """An entry with what notes say of it; they hold for what began last."""
        started = self._begun.pop(entry.at, None)
        return evolve(entry, started=started, retries=self._retries.pop(entry.at, ()))

    def _step(self, step: Step) -> Iterator[Entry]:
        event, answered = step.event, list(newly_answered(step.before, step.state, step.event.at))
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
        for at, call in answered:
            ran = isinstance(event, ToolReturned | CallFailed) and event.at == at
            is_inside = event.at[: len(at)] == at != event.at  # it ended a call of an agent
            entry = _call(at, call, _who(step.state, at), ran or is_inside)
            entry = evolve(entry, kind="agent") if is_inside else entry
            seconds = step.seconds if ran else None
            yield self._noted(evolve(entry, approval=self._approvals.get(at), seconds=seconds))

    def open(self, effect: Effect) -> Entry:
        """What the run waits for."""
        state, started = self._run.state, self._begun.get(effect.at)
        how: How = "running" if effect.at in self._begun else "waiting"
        if isinstance(effect, CallModel):
            model = str(effect.request.model)
            return Entry(effect.at, "model", _who(state, effect.at), model, how, started=started)
        if isinstance(effect, Ask):
            how = "asked"
        call = (effect.name, how, effect.arguments)
        return Entry(effect.at, "tool", _who(state, effect.at), *call, started=started)


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
    )


def _call(at: Position, call: ToolInvocation, who: str, ran: bool) -> Entry:
    how: How = "done" if call.error is None else "failed" if ran else "refused"
    return Entry(at, "tool", who, call.tool_name, how, call.args_text, call.result_text, call.error)


def _who(state: State, at: Position = ()) -> str:
    """The name of the agent that a position is of; of a step of a workflow, the workflow's."""
    return frame_at(state, at).name


def _model_of(state: State) -> str:
    return names_of_models(state.agent, state.model)


def _changes(event: Resumed, before: State) -> str | None:
    """What a `Resumed` changes, as JSON text; None if it changes nothing."""
    found: dict[str, Any] = {}
    if event.model is not None:
        found["model"] = str(event.model)
    if event.limits is not None:
        old = asdict(before.limits)
        new = {key: value for key, value in asdict(event.limits).items() if value != old[key]}
        found |= {"limits": new} if new else {}
    if event.settings:
        found["settings"] = {key: thaw(value) for key, value in event.settings.items()}
    if event.policy is not None:
        found["policy"] = dumps(event.policy.to_pattern())
    if event.check_results is not None:
        found["check_results"] = event.check_results
    return write_json(found) if found else None


def _priced(entries: Iterable[Entry]) -> Iterator[Entry]:
    """The entries with what their replies cost, as far as it is known."""
    for entry in entries:
        if entry.usage is not None and (cost := _cost(Model.parse(entry.name), entry.usage)):
            yield evolve(entry, cost=cost)
        else:
            yield entry


def _cost(model: Model, usage: Usage) -> Decimal | None:
    provider = find_provider(model)
    if provider is None or not provider.key:  # what is asked without a key costs nothing known
        return None
    try:
        return price_of(model, usage)
    except ConfigurationError:  # prices are not installed
        return None


def _usage(usage: Usage) -> dict[str, int | None]:
    return {"input": usage.input_tokens, "output": usage.output_tokens}


def _read_arguments(text: str | None) -> Json:
    """The arguments of a call; those that are not JSON stay the text that the model wrote."""
    try:
        return None if text is None else read_json(text)
    except ValueError:
        return text
