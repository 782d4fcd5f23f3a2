"""``gram trace``: a recorded run as a timeline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import click
from attrs import evolve

from gram.words import counted

from ...history.records import RecordedRun
from ...history.replaying import Entry, Timeline, follow, round_name, timeline
from ...json_text import read_json, write_json
from ...machine import Usage, call_text, shown_price
from ...shown import shortened, visible_text
from ...views import run_page
from ..inputs.declaring import json_option
from ..inputs.files import STDIN
from ..inputs.record_option import default_record, named_runs, run_argument
from ..terminal.output import (
    Styled,
    expect_a_name,
    expect_other_file,
    note,
    show,
    show_json,
    show_json_line,
    write_result,
)

_LONGEST = 100  # characters of what is said and of results; --json has all of it
_WIDEST = 30  # characters of a position that others are aligned with


@click.command("trace")
@run_argument
@click.option("--follow", "-f", "is_followed", is_flag=True, help="Show it while it happens.")
@json_option
@click.option("--html", "out", metavar="OUT", help="Write the run as one page for a browser.")
def command(run: str, is_followed: bool, as_json: bool, out: str | None) -> None:
    """Show a recorded run: who was asked, what was called, how long it took.

    RUN is a run file, all of whose turns are shown; a run of a store such as runs.db#4f2a; an id
    alone in the store that GRAM_RECORD names, or in your own; or - for standard input.

    A run that is still going on is shown as far as it is; with --follow each step is shown as it
    ends (with --json on a line of its own), and at the end what the run came to and waits for.

    A line has the position, the seconds after the run began, the seconds it took, and what it was.
    What happens inside an agent or a workflow stands below it; with --follow it stands before it.
    """
    if out is not None:
        expect_a_name(out, "--html")
        expect_other_file(out)
        if is_followed or as_json:
            raise click.UsageError("--html is for itself, without --follow and --json")
        _write_page(named_runs(run)[-1], out)
    elif is_followed:
        if run == STDIN:
            raise click.UsageError("--follow needs the name of a run, and - is standard input")
        show_followed(follow(run, record=default_record()), as_json=as_json)
    else:
        found = [timeline(each) for each in named_runs(run)]
        if as_json:
            show_json(found[0].to_json() if len(found) == 1 else [each.to_json() for each in found])
            return
        for each in found:
            for line in lines(each):
                show(line)


def _write_page(run: RecordedRun, out: str) -> None:
    """Write a run as one page for a browser, which only its owner can read."""
    write_result(out, run_page(run), private=True)
    if out != "-":
        note(f"gram: the page of the run is in {out}")


def show_followed(timelines: Iterable[Timeline], *, as_json: bool) -> None:
    """Show a run while it happens: each step as it ends, and at the end what it came to.

    Args:
        timelines: the run, again whenever it has gone on.
        as_json: whether each step is a JSON object on a line of its own.
    """
    shown = 0
    found: Timeline | None = None
    for found in timelines:
        ended = [each for each in found.in_order if not each.is_open]
        view = _Lines(found)
        for entry in ended[shown:]:
            if as_json:
                show_json_line(evolve(entry, children=()).to_json())
            else:
                show(view.line(entry, by_whom=entry.level > 0))
        shown = len(ended)
    if found is not None and as_json:
        show_json_line({**found.to_json(), "entries": []})
    elif found is not None:
        view = _Lines(found)
        for entry in found.waits_for:
            show(view.line(entry, by_whom=entry.level > 0))
        show(summary(found))


def lines(found: Timeline) -> list[Styled]:
    """The lines of a timeline: the one about the run, then one for each entry."""
    attached = [f"attached: {file}" for file in found.attachments]
    return [summary(found), *attached, *_Lines(found).of(found.entries)]


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
        _cost(found),
        "" if found.seconds is None else f"{found.seconds:.2f} s",
    ]
    return " · ".join(filter(None, parts))


class _Lines:
    """How the entries of a timeline are shown."""

    def __init__(self, found: Timeline) -> None:
        widths = (len(_position(each)) for each in found.in_order)
        self._width = max((each for each in widths if each <= _WIDEST), default=0) + 1

    def of(self, entries: Iterable[Entry]) -> Iterator[Styled]:
        """The lines of some entries, each with those inside it."""
        for entry in entries:
            if entry.reasoning:
                blank = " " * (self._width + 19) + "  " * (entry.level + 1)
                yield [(f"{blank}reasoning: {_shortened(entry.reasoning)}", "reasoning")]
            yield self.line(entry)
            yield from self.of(entry.children)

    def line(self, entry: Entry, *, by_whom: bool = False) -> Styled:
        """The line of an entry: where, when, how long, and what."""
        began = "" if entry.started is None else f"+{entry.started:.2f}"
        took = "" if entry.seconds is None else f"{entry.seconds:.2f} s"
        who = f"{entry.who}: " if by_whom and not entry.is_frame else ""
        place = f"{_position(entry):<{self._width}}{began:>9}{took:>10}  {'  ' * entry.level}{who}"
        return [(place, ""), *self._what(entry)]

    def _what(self, entry: Entry) -> list[tuple[str, str]]:
        match entry.kind:
            case "model":
                return self._request(entry)
            case "change":
                return [(f"resumed with {self._changes(entry.arguments or '{}')}", "")]
            case "each":
                return [(f"{entry.name}: the list is empty", "")]
            case "stop":
                return [("stopped: ", ""), (_shortened(entry.error or ""), "failed")]
        if entry.is_frame:
            return self._frame(entry)
        named = _shortened(call_text(entry.name, entry.arguments or "{}"))
        match entry.how:
            case "asked":
                named = visible_text(named)
                if entry.may_have_run:
                    return [(f"may have run already, asks whether to run again: {named}", "")]
                return [(f"waits for approval of {named}", "")]
            case "waiting" | "running":
                return [(f"{'waits for' if entry.how == 'waiting' else 'runs'} {named}", "")]
            case "done":
                allowed = " (allowed)" if entry.approval else ""
                return [(f"{named}{allowed} -> {_shortened(entry.result or '')}", "")]
        style = "failed" if entry.how == "failed" else "refused"
        return [(f"{named} -> ", ""), (f"error: {_problem(entry.error or '')}", style)]

    def _frame(self, entry: Entry) -> list[tuple[str, str]]:
        """What an agent or a workflow came to: name and summary stay visible, texts are cut."""
        parts = [counted(entry.requests or 0, "request"), counted(entry.tool_calls or 0, "call")]
        parts += [_tokens(entry.usage)] if entry.usage and entry.requests else []
        parts += filter(None, [_cost(entry)])
        name = round_name(entry) if entry.kind == "round" else entry.name
        line = f"{name} ({', '.join(parts)})"
        if entry.is_open:
            return [(f"{'waits in' if entry.how == 'waiting' else 'is in'} {line}", "")]
        if entry.how == "done":
            allowed = " (allowed)" if entry.approval else ""
            gave = shortened(_shortened(entry.result or ""), _LONGEST // 2)
            cut = [(f" ({entry.error})", "failed")] if entry.error else []
            return [(f"{line}{allowed} -> {gave}", ""), *cut]
        style = "failed" if entry.how == "failed" else "refused"
        return [(f"{line} -> ", ""), (f"error: {_problem(entry.error or '')}", style)]

    def _changes(self, arguments: str) -> str:
        """What was changed on resuming: ``model X/y; limits iterations=3``."""
        changed = []
        for name, value in read_json(arguments).items():
            parts = value.items() if isinstance(value, dict) else ()
            told = " ".join(f"{key}={write_json(part)}" for key, part in parts)
            changed.append(
                f"{name} {told or (value if isinstance(value, str) else write_json(value))}"
            )
        return _shortened("; ".join(changed), 3 * _LONGEST)

    def _request(self, entry: Entry) -> list[tuple[str, str]]:
        if entry.is_open:
            return [(f"{'waits for' if entry.how == 'waiting' else 'asks'} {entry.name}", "")]
        if entry.how in ("failed", "dropped"):
            return [("model: ", ""), (f"error: {_problem(entry.error or '')}", "failed")]
        said = _shortened(entry.result or "")
        said = f'"{said}"' if said and not said.startswith('"') else said
        calls = f"calls {', '.join(entry.calls)}" if entry.calls else ""
        spent = [] if entry.usage is None else [_tokens(entry.usage), _cost(entry)]
        used = f"({', '.join(filter(None, spent))})" if spent else ""
        where = f"from {_shortened(entry.server)}" if entry.server else ""
        cut = [(f" ({entry.error})", "failed")] if entry.error else []
        who = "summary:" if entry.is_summary else "model:"
        return [(" ".join(filter(None, (who, said, calls, used, where))), ""), *cut]


def _position(entry: Entry) -> str:
    return ".".join(map(str, entry.at))


def _cost(found: Entry | Timeline) -> str:
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
