"""The tree of what happened: entries inside those of the agents and workflows they belong to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import NamedTuple

from attrs import evolve

from ...machine import Usage
from .entries import Entry, Position


class Totals(NamedTuple):
    """What some entries come to together.

    Attributes:
        requests: how many replies there were.
        calls: how many calls of tools were answered.
        usage: the tokens of the replies.
        cost: what the replies cost in US dollars; None if it is not known of each.
    """

    requests: int
    calls: int
    usage: Usage
    cost: Decimal | None


def totals(entries: Sequence[Entry]) -> Totals:
    """What some entries come to, none of which is inside another."""
    replies = [each for each in entries if each.usage and (each.requests or each.kind == "model")]
    costs = [each.cost for each in replies if each.cost is not None]
    calls = (each for each in entries if each.kind == "tool" and not each.is_open)
    return Totals(
        sum(1 if each.requests is None else each.requests for each in replies),
        sum(each.how != "dropped" for each in calls)
        + sum(each.tool_calls or 0 for each in entries),
        sum((each.usage for each in replies if each.usage), Usage(0, 0)),
        sum(costs, Decimal(0)) if len(costs) == len(replies) else None,
    )


def nested(entries: Iterable[Entry]) -> tuple[tuple[Entry, ...], tuple[Entry, ...]]:
    """Entries as a tree, and all of them in the order in which they came.

    Args:
        entries: those of an agent or a workflow come after those inside it.
    """
    found = tuple(entries)
    frames = {each.at for each in found if each.is_frame}
    inside: dict[Position | None, list[Entry]] = {None: []}
    in_order = []
    for each in found:
        around = _around(each.at, frames)
        level = sum(each.at[:size] in frames for size in range(len(each.at))) if around else 0
        each = evolve(each, level=level) if level else each
        if each.is_frame:
            each = _with_children(each, inside.pop(each.at, []))
        inside.setdefault(around, []).append(each)
        in_order.append(each)
    return tuple(inside[None]), tuple(in_order)


def _around(at: Position, frames: set[Position]) -> Position | None:
    """The position of the innermost agent or workflow that a position is in."""
    sizes = range(len(at) - 1, 0, -1) if frames else ()
    return next((at[:size] for size in sizes if at[:size] in frames), None)


def _with_children(frame: Entry, children: Sequence[Entry]) -> Entry:
    """An agent or a workflow with what happened inside it, and what that comes to."""
    requests, calls, usage, cost = totals(children)
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
        seconds=max(ends) - began if ends and began is not None else None,
        children=tuple(children),
    )
