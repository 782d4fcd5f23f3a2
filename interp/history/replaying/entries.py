"""What happened in a run, as data.

What `gram trace` prints, with and without ``--json``, and the page of a run are views of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from attrs import evolve, field, fields, frozen

from ...files import File
from ...json_text import json_or_text, read_json
from ...machine import At, Status, Usage
from ...shown import NOTEBOOK, short_repr

Kind: TypeAlias = Literal["model", "tool", "agent", "workflow", "round", "each", "change", "stop"]
"""A request to a model, a call of a tool, an agent or a workflow that was called or was a step of
one, a round of a loop, a step over a list that was empty, a change by the caller, an early end."""

How: TypeAlias = Literal["done", "failed", "refused", "dropped", "asked", "running", "waiting"]
"""How something ended: refused calls were not run, and dropped is what nobody waited for any more
when another step had failed. What is asked, running (it began) or waiting has not ended."""


@frozen
class Entry:
    """One thing that happened in a run, or that the run waits for.

    Attributes:
        at: its position.
        kind: what it is.
        who: the name of the agent that asked or called; of a step, the name of its workflow.
        name: the model that was asked; the tool, agent or workflow that was called, or ran.
        how: how it ended.
        arguments: those of a call, what a step was given, or what a change sets, as JSON text.
        result: the words of a model, or the result of a call or a step as JSON text.
        error: what went wrong, or why a call was refused.
        files: the files that a tool returned; the result says in words where each of them was.
        calls: the names of the tools that a reply calls.
        approval: whether somebody allowed the call; None if nobody was asked.
        may_have_run: whether a call is asked about because it had begun when the run was stopped.
        started: when it began, in seconds after the run began; None if it is not known.
        seconds: how long it took; None if it is not known.
        usage: the tokens of a reply, or of all replies inside.
        cost: what that cost in US dollars; None if it is not known.
        finish_reason: why the model stopped, in its provider's word; "" if it did not say.
        served_model: the model that answered, as its provider names it; "" if it did not say.
        server: the address of the server that answered, if it is not the provider's own.
        reasoning: what the model showed of its reasoning; "" if it showed nothing.
        is_summary: whether the model was asked for a summary of the conversation.
        retries: why the request was sent again, each time.
        requests: how many replies there were inside; None for what has no inside.
        tool_calls: how many calls of tools were answered inside; None for what has no inside.
        level: how many agents and workflows inside the run it is in.
        children: what happened inside an agent or a workflow, in order.
    """

    at: At
    kind: Kind
    who: str
    name: str
    how: How
    arguments: str | None = field(default=None, repr=short_repr)
    result: str | None = field(default=None, repr=short_repr)
    error: str | None = field(default=None, repr=short_repr)
    files: tuple[File, ...] = ()
    calls: tuple[str, ...] = ()
    approval: bool | None = None
    may_have_run: bool = False
    started: float | None = None
    seconds: float | None = None
    usage: Usage | None = None
    cost: Decimal | None = None
    finish_reason: str = ""
    served_model: str = ""
    server: str = ""
    reasoning: str = field(default="", repr=short_repr)
    is_summary: bool = False
    retries: tuple[str, ...] = ()
    requests: int | None = None
    tool_calls: int | None = None
    level: int = 0
    children: tuple[Entry, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self.how in ("asked", "running", "waiting")

    @property
    def was_asked_elsewhere(self) -> bool:
        """Whether the cost is unknown because another server than the provider's own answered."""
        inside = any(each.was_asked_elsewhere for each in self.children)
        return self.cost is None and (bool(self.server) or inside)

    @property
    def is_frame(self) -> bool:
        """Whether it is an agent, a workflow or a round of one, in which something happens."""
        return self.kind in ("agent", "workflow", "round")

    def to_json(self) -> dict[str, Any]:
        """The entry as a JSON object; what is unknown or empty is left out."""
        result = read_json(self.result) if self.result and self.kind != "model" else self.result
        found = _json_of(self) | {
            "arguments": None if self.arguments is None else json_or_text(self.arguments),
            "result": result,
            "may_have_run": self.may_have_run or None,
            "is_summary": self.is_summary or None,
            "level": None,
        }
        kept = {"at"} if self.result is None else {"at", "result"}
        return {
            key: each for key, each in found.items() if each not in (None, "", []) or key in kept
        }


def round_name(entry: Entry) -> str:
    """What a round of a loop is called, counted from 1: ``round 2 of refine``."""
    number = entry.at[-1]
    return f"round {number + 1 if isinstance(number, int) else number} of {entry.name}"


@frozen
class Timeline:
    """What happened in a run.

    Attributes:
        agent: the name of the agent.
        model: the model that it asks.
        run_id: the name of the run.
        program: the name of the program's file; "" if it had none.
        input: what the user said.
        attachments: the files that went along with it.
        status: what the run waits for.
        stopped: the limit that was reached, what is wrong with the answer or stopped it last.
        started: when it began, or None if that is not recorded.
        answer: the content of the answer; None if the run is not done.
        entries: what happened, in the order in which it ended; then what the run waits for. What
            happened inside an agent or a workflow is in its entry.
        in_order: all entries, also those inside others, as they ended; then those that have not.
        usage: the tokens of all replies.
        cost: what the replies cost together in US dollars; None if it is not known of each.
        requests: how many replies there were.
        calls: how many calls of tools were answered.
        seconds: how long something went on; None if it is not known.
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
    in_order: tuple[Entry, ...] = field(repr=False)
    usage: Usage
    cost: Decimal | None
    requests: int
    calls: int
    seconds: float | None
    attachments: tuple[File, ...] = ()

    @property
    def standing(self) -> str:
        """How the run stands, in words: what has stopped it says more than what it waits for."""
        if not self.stopped or not self.status.name.startswith("AWAITING"):
            return self.status.value
        return "waiting" if any(each.how == "asked" for each in self.in_order) else "stopped"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return NOTEBOOK["run"](self)

    @property
    def was_asked_elsewhere(self) -> bool:
        """Whether the cost is unknown because another server than the provider's own answered."""
        return any(each.was_asked_elsewhere for each in self.entries)

    @property
    def waits_for(self) -> tuple[Entry, ...]:
        """What the run waits for: requests, calls and questions."""
        return tuple(each for each in self.in_order if each.is_open and not each.is_frame)

    def to_rows(self) -> list[dict[str, Any]]:
        """What happened as rows of one table, such as for ``pandas.DataFrame``, in order.

        A row has what the entry has in JSON; what is inside an entry has rows of its own.
        """
        flat = (evolve(each, children=()) for each in self.in_order)
        return [each.to_json() | {"level": each.level} for each in flat]

    def to_json(self) -> dict[str, Any]:
        """The timeline as a JSON object."""
        found = _json_of(self) | {"waits_for": [each.to_json() for each in self.waits_for]}
        del found["in_order"]
        return {"run": found.pop("run_id")} | found


def _json_of(made: Any) -> dict[str, Any]:
    return {each.name: _json(getattr(made, each.name)) for each in fields(type(made))}


def _json(value: Any) -> Any:
    match value:
        case tuple():
            return [_json(each) for each in value]
        case Decimal():
            return float(value)
        case datetime():
            return value.isoformat()
        case Status():
            return value.name.lower()
        case Entry() | File() | Usage():
            return value.to_json()
    return value


def totals(entries: Sequence[Entry]) -> tuple[Usage, Decimal | None, int, int]:
    """The sums of entries, none of which is inside another.

    Returns:
        The tokens of the replies; what these cost in US dollars, None if it is not known of each;
        how many replies there were; and how many calls of tools were answered.
    """
    replies = [each for each in entries if each.usage and (each.requests or each.kind == "model")]
    costs = [each.cost for each in replies if each.cost is not None]
    calls = (each for each in entries if each.kind == "tool" and not each.is_open)
    return (
        sum((each.usage for each in replies if each.usage), Usage(0, 0)),
        sum(costs, Decimal(0)) if len(costs) == len(replies) else None,
        sum(1 if each.requests is None else each.requests for each in replies),
        sum(each.how != "dropped" for each in calls)
        + sum(each.tool_calls or 0 for each in entries),
    )


def nested(entries: Iterable[Entry]) -> tuple[tuple[Entry, ...], tuple[Entry, ...]]:
    """Entries as a tree, and all of them in the order in which they came.

    Args:
        entries: the entries; one of an agent or a workflow comes after those inside it.
    """
    found = tuple(entries)
    frames = {each.at for each in found if each.is_frame}
    inside: dict[At | None, list[Entry]] = {None: []}
    in_order = []
    for each in found:
        befores = (each.at[:size] for size in range(1, len(each.at)))
        around: list[At | None] = [None, *(before for before in befores if before in frames)]
        each = evolve(each, level=len(around) - 1)
        if each.is_frame:
            each = _with_children(each, inside.pop(each.at, []))
        inside.setdefault(around[-1], []).append(each)
        in_order.append(each)
    return tuple(inside[None]), tuple(in_order)


def _with_children(frame: Entry, children: Sequence[Entry]) -> Entry:
    """An agent or a workflow with what happened inside it, and what that comes to."""
    usage, cost, requests, calls = totals(children)
    began = min((each.started for each in children if each.started is not None), default=None)
    ends = [
        each.started + each.seconds
        for each in children
        if each.started is not None and each.seconds is not None
    ]
    return evolve(
        frame,
        usage=usage,
        cost=cost,
        requests=requests,
        tool_calls=calls,
        started=began,
        seconds=round(max(ends) - began, 6) if ends and began is not None else None,
        children=tuple(children),
    )
