"""The tree of what happened: entries inside those of the agents and workflows they belong to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

from attrs import evolve, frozen

from ...machine import Usage
from .entries import Entry, Position


@frozen
class Totals:
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


def totals(entries: Iterable[Entry]) -> Totals:
    """What some entries come to, none of which is inside another."""
    requests = calls = 0
    usage, costs, is_known = Usage(0, 0), Decimal(0), True
    for each in entries:
        replies = each.requests if each.is_frame else int(each.kind == "model")
        if each.usage is None or not replies:
            is_answered = each.kind == "tool" and not each.is_open and each.how != "dropped"
            calls += each.tool_calls or is_answered
            continue
        requests += replies
        calls += each.tool_calls or 0
        usage += each.usage
        is_known = is_known and each.cost is not None
        costs += each.cost or 0
    return Totals(requests, calls, usage, costs if requests and is_known else None)


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
    found = totals(children)
    times = [(each.started, each.seconds) for each in children]
    spans = [
        (began, began + took) for began, took in times if began is not None and took is not None
    ]
    began = min((each for each, _ in times if each is not None), default=None)
    return evolve(
        frame,
        usage=found.usage,
        cost=found.cost,
        requests=found.requests,
        tool_calls=found.calls,
        started=began,
        seconds=max(end for _, end in spans) - began if spans and began is not None else None,
        children=tuple(children),
    )
