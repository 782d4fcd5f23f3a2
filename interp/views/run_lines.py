"""A run as lines: what was asked, called and answered, where, when, and how long it took.

A line is a text, or its parts, each with the name of a style or "".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias, Union

from gram.words import counted

from ..history.replaying import Entry, Timeline, round_name
from ..json_text import read_json, write_json
from ..machine import Usage, call_text, shown_price
from ..shown import shortened, visible_text

Line: TypeAlias = Union[str, list[tuple[str, str]]]

_LONGEST: Final = 100  # characters of what is said and of results
_WIDEST: Final = 30  # characters of a position that others are aligned with


def lines(found: Timeline) -> list[Line]:
    """The lines of a timeline: the one about the run, then one for each entry."""
    attached = [f"attached: {file}" for file in found.attachments]
    return [summary(found), *attached, *RunLines(found).of(found.entries)]


def summary(found: Timeline) -> str:
    """The line about the run."""
    reason = (found.stopped or "").partition("\n")[0].rstrip(":")  # hints are for who ran it
    why = f" ({_shortened(reason)})" if found.stopped else ""
    parts = [
        found.agent or "the agent",
        found.model,
        found.standing + why,
        f"{counted(found.requests, 'request')}, {counted(found.calls, 'call')}",
        _tokens(found.usage),
        cost_of(found),
        "" if found.seconds is None else f"{found.seconds:.2f} s",
    ]
    return " · ".join(filter(None, parts))


class RunLines:
    """How the entries of a timeline are shown."""

    def __init__(self, found: Timeline) -> None:
        widths = (len(position_of(each)) for each in found.in_order)
        self._width = max((each for each in widths if each <= _WIDEST), default=0) + 1

    def of(self, entries: Iterable[Entry]) -> Iterator[Line]:
        """The lines of some entries, each with those inside it."""
        for entry in entries:
            if entry.reasoning:
                blank = " " * (self._width + 19) + "  " * (entry.level + 1)
                yield [(f"{blank}reasoning: {_shortened(entry.reasoning)}", "reasoning")]
            yield self.line(entry)
            yield from self.of(entry.children)

    def line(self, entry: Entry, *, by_whom: bool = False) -> Line:
        """The line of an entry: where, when, how long, and what."""
        began = "" if entry.started is None else f"+{entry.started:.2f}"
        took = "" if entry.seconds is None else f"{entry.seconds:.2f} s"
        who = f"{entry.who}: " if by_whom and not entry.is_frame else ""
        place = (
            f"{position_of(entry):<{self._width}}{began:>9}{took:>10}  {'  ' * entry.level}{who}"
        )
        return [(place, ""), *said_of(entry)]


def said_of(entry: Entry) -> list[tuple[str, str]]:
    """What an entry was, in words."""
    match entry.kind:
        case "model":
            return _request(entry)
        case "change":
            return [(f"resumed with {_changes(entry.arguments or '{}')}", "")]
        case "each":
            return [(f"{entry.name}: the list is empty", "")]
        case "stop":
            return [("stopped: ", ""), (_shortened(entry.error or ""), "failed")]
    named = _shortened(call_text(entry.name, entry.arguments or "{}"))
    waits, goes = "waits for", "runs"
    if entry.is_frame:  # its name and what it spent stay visible, texts are cut
        parts = [counted(entry.requests or 0, "request"), counted(entry.tool_calls or 0, "call")]
        parts += [_tokens(entry.usage)] if entry.usage and entry.requests else []
        parts += filter(None, [cost_of(entry)])
        name = round_name(entry) if entry.kind == "round" else entry.name
        named, waits, goes = f"{name} ({', '.join(parts)})", "waits in", "is in"
    elif entry.how == "asked":
        named = visible_text(named)
        if entry.may_have_run:
            return [(f"may have run already, asks whether to run again: {named}", "")]
        return [(f"waits for approval of {named}", "")]
    if entry.is_open:
        return [(f"{waits if entry.how == 'waiting' else goes} {named}", "")]
    if entry.how == "done":
        allowed, gave = " (allowed)" if entry.approval else "", _shortened(entry.result or "")
        if not entry.is_frame:
            return [(f"{named}{allowed} -> {gave}", "")]
        cut = [(f" ({entry.error})", "failed")] if entry.error else []
        return [(f"{named}{allowed} -> {shortened(gave, _LONGEST // 2)}", ""), *cut]
    style = "failed" if entry.how == "failed" else "refused"
    return [(f"{named} -> ", ""), (f"error: {_problem(entry.error or '')}", style)]


def _changes(arguments: str) -> str:
    """What was changed on resuming: ``model X/y; limits iterations=3``."""
    changed = []
    for name, value in read_json(arguments).items():
        parts = value.items() if isinstance(value, dict) else ()
        told = " ".join(f"{key}={write_json(part)}" for key, part in parts)
        changed.append(f"{name} {told or (value if isinstance(value, str) else write_json(value))}")
    return _shortened("; ".join(changed), 3 * _LONGEST)


def _request(entry: Entry) -> list[tuple[str, str]]:
    if entry.is_open:
        return [(f"{'waits for' if entry.how == 'waiting' else 'asks'} {entry.name}", "")]
    if entry.how in ("failed", "dropped"):
        return [("model: ", ""), (f"error: {_problem(entry.error or '')}", "failed")]
    said = _shortened(entry.result or "")
    said = f'"{said}"' if said and not said.startswith('"') else said
    calls = f"calls {', '.join(entry.calls)}" if entry.calls else ""
    spent = [] if entry.usage is None else [_tokens(entry.usage), cost_of(entry)]
    used = f"({', '.join(filter(None, spent))})" if spent else ""
    where = f"from {_shortened(entry.server)}" if entry.server else ""
    cut = [(f" ({entry.error})", "failed")] if entry.error else []
    who = "summary:" if entry.is_summary else "model:"
    return [(" ".join(filter(None, (who, said, calls, used, where))), ""), *cut]


def position_of(entry: Entry) -> str:
    """Where something happened, in one word."""
    return ".".join(map(str, entry.at))


def cost_of(found: Entry | Timeline) -> str:
    """What the replies cost; "" where nothing was asked of a server that takes money."""
    if found.cost is None:
        return "cost unknown" if found.was_asked_elsewhere else ""
    return f"${shown_price(found.cost)}"


def _tokens(usage: Usage) -> str:
    if usage.total_tokens is None:
        return "tokens unknown"
    parts = [
        f"{number} {word}"
        for number, word in ((usage.cached_tokens, "cached"), (usage.reasoning_tokens, "reasoning"))
        if number
    ]
    more = f" ({', '.join(parts)})" if parts else ""
    return f"{usage.input_tokens}+{usage.output_tokens} tokens{more}"


def _problem(error: str) -> str:
    """An error on one line: its hint is for who ran it."""
    return _shortened(error.partition("\n  hint:")[0])


def _shortened(text: str, most: int = _LONGEST) -> str:
    return shortened(" ".join(text.split()), most)
