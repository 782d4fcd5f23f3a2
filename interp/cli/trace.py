"""``gram trace``: a recorded run as a timeline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import click
from attrs import evolve

from gram import counted

from ..call_text import call_text, shortened
from ..json_text import read_json, write_json
from ..messages import Usage
from ..prices import shown_price
from ..records import RecordedRun, load_run
from ..redaction import redact
from ..replaying import Entry, Timeline, follow, round_name, timeline
from .completing import complete_files
from .file_options import json_option
from .output import Styled, note, show, show_json, show_json_line
from .output_files import expect_other_file, write_result
from .store_option import of_store_instead

follow_option = click.option(
    "--follow", "-f", "is_followed", is_flag=True, help="Show it while it happens."
)

_LONGEST = 100  # characters of what is said and of results; --json has all of it
_WIDEST = 30  # characters of a position that others are aligned with


@click.command("trace")
@click.argument("file", shell_complete=complete_files)
@of_store_instead("gram runs show RUN")
@follow_option
@json_option
@click.option(
    "--html",
    "out",
    metavar="OUT",
    help="Write the run as one page for a browser.",
    shell_complete=complete_files,
)
def command(file: str, is_followed: bool, as_json: bool, out: str | None) -> None:
    """Show the run that FILE records: who was asked, what was called, how long it took.

    FILE is written by gram run --record. A run that is still going on is shown as far as it is;
    with --follow each step is shown as it ends (with --json on a line of its own), and at the end
    what the run came to and waits for.

    A line has the position, the seconds after the run began, the seconds it took, and what it was.
    What happens inside an agent or a workflow stands below it; with --follow it stands before it.
    """
    if out is not None:
        expect_only_html(is_followed=is_followed, as_json=as_json)
        expect_other_file(out, file)
        write_page(load_run(file), out)
        return
    if is_followed:
        show_followed(follow(file), as_json=as_json)
        return
    found = timeline(load_run(file))
    if as_json:
        show_json(found.to_json())
        return
    for line in lines(found):
        show(line)


def write_page(run: RecordedRun, out: str) -> None:
    """Write a run as one page for a browser, which only its owner can read."""
    from ..views import run_page  # imported late: only pages need it

    write_result(out, run_page(run), private=True)
    if out != "-":
        note(f"gram: the page of the run is in {out}")


def expect_only_html(*, is_followed: bool, as_json: bool) -> None:
    """Refuse other forms beside a page.

    Raises:
        click.UsageError: another form is asked for, too.
    """
    if is_followed or as_json:
        raise click.UsageError("--html is for itself, without --follow and --json")


def show_followed(runs: Iterable[RecordedRun], *, as_json: bool) -> None:
    """Show a run while it happens: each step as it ends, and at the end what it came to.

    Args:
        runs: the run, again whenever it has gone on.
        as_json: whether each step is a JSON object on a line of its own.
    """
    shown = 0
    found: Timeline | None = None
    for run in runs:
        found = timeline(run)
        ended = [each for each in found.in_order if not each.is_open]
        for entry in ended[shown:]:
            if as_json:
                show_json_line(evolve(entry, children=()).to_json())
            else:
                show(_line_of(entry, _width(found), by_whom=entry.level > 0))
        shown = len(ended)
    if found is not None and as_json:
        show_json_line({**found.to_json(), "entries": []})
    elif found is not None:
        for entry in found.waits_for:
            show(_line_of(entry, _width(found), by_whom=entry.level > 0))
        show(summary(found))


def lines(found: Timeline) -> list[Styled]:
    """The lines of a timeline: one about the run, then one for each entry."""
    return [summary(found), *_lines_of(found.entries, _width(found))]


def _lines_of(entries: Iterable[Entry], width: int) -> Iterator[Styled]:
    """The lines of some entries, each with those inside it."""
    for entry in entries:
        yield _line_of(entry, width)
        yield from _lines_of(entry.children, width)


def summary(found: Timeline) -> str:
    """The line about the run."""
    parts = [
        found.agent or "the agent",
        found.model,
        found.status.value + (f" ({_reason(found.stopped)})" if found.stopped else ""),
        f"{counted(found.requests, 'request')}, {counted(found.calls, 'call')}",
        _tokens(found.usage),
        _cost(found),
        "" if found.seconds is None else f"{found.seconds:.2f} s",
    ]
    return redact(" · ".join(filter(None, parts)))


def _reason(stopped: str) -> str:
    """What stopped a run, on one line; hints are for whoever ran it."""
    return _short(stopped.partition("\n")[0].rstrip(":"))


def _line_of(entry: Entry, width: int, *, by_whom: bool = False) -> Styled:
    """The line of an entry: where, when, how long, and what."""
    began = "" if entry.started is None else f"+{entry.started:.2f}"
    took = "" if entry.seconds is None else f"{entry.seconds:.2f} s"
    who = f"{redact(entry.who)}: " if by_whom and not entry.is_frame else ""
    place = f"{_position(entry):<{width}}{began:>9}{took:>10}  {'  ' * entry.level}{who}"
    return [(place, ""), *_what(entry)]


def _position(entry: Entry) -> str:
    return redact(".".join(map(str, entry.at)))


def _width(found: Timeline) -> int:
    widths = (len(_position(each)) for each in found.in_order)
    return max((each for each in widths if each <= _WIDEST), default=0) + 1


def _what(entry: Entry) -> list[tuple[str, str]]:
    match entry.kind:
        case "model":
            return _request(entry)
        case "change":
            return [(f"resumed with {_changes(entry.arguments or '{}')}", "")]
        case "each":
            return [(f"{redact(entry.name)}: the list is empty", "")]
        case "stop":
            return [("stopped: ", ""), (_short(entry.error or ""), "failed")]
    if entry.is_frame:
        return _frame(entry)
    named = _short(call_text(entry.name, redact(entry.arguments or "{}")))
    match entry.how:
        case "asked":
            return [(f"waits for approval of {named}", "")]
        case "waiting" | "running":
            return [(f"{'waits for' if entry.how == 'waiting' else 'runs'} {named}", "")]
        case "done":
            allowed = " (allowed)" if entry.approval else ""
            return [(f"{named}{allowed} -> {_short(entry.result or '')}", "")]
    style = "failed" if entry.how == "failed" else "refused"
    return [(f"{named} -> ", ""), (f"error: {_short(entry.error or '')}", style)]


def _frame(entry: Entry) -> list[tuple[str, str]]:
    """What an agent or a workflow came to: its name and summary stay visible, its texts are cut."""
    parts = [counted(entry.requests or 0, "request"), counted(entry.tool_calls or 0, "call")]
    parts += [_tokens(entry.usage)] if entry.usage and entry.requests else []
    parts += filter(None, [_cost(entry)])
    name = round_name(entry) if entry.kind == "round" else entry.name
    line = f"{redact(name)} ({', '.join(parts)})"
    if entry.is_open:
        return [(f"{'waits in' if entry.how == 'waiting' else 'is in'} {line}", "")]
    if entry.how == "done":
        allowed = " (allowed)" if entry.approval else ""
        gave = shortened(_short(entry.result or ""), _LONGEST // 2)
        cut = [(f" ({entry.error})", "failed")] if entry.error else []
        return [(f"{line}{allowed} -> {gave}", ""), *cut]
    style = "failed" if entry.how == "failed" else "refused"
    return [(f"{line} -> ", ""), (f"error: {_short(entry.error or '')}", style)]


def _changes(arguments: str) -> str:
    """What was changed on resuming: ``model X/y; limits iterations=3``."""
    changed = []
    for name, value in read_json(arguments).items():
        parts = value.items() if isinstance(value, dict) else ()
        told = " ".join(f"{key}={write_json(part)}" for key, part in parts)
        changed.append(f"{name} {told or (value if isinstance(value, str) else write_json(value))}")
    return _short("; ".join(changed), 3 * _LONGEST)


def _request(entry: Entry) -> list[tuple[str, str]]:
    if entry.is_open:
        return [(f"{'waits for' if entry.how == 'waiting' else 'asks'} {entry.name}", "")]
    if entry.how in ("failed", "dropped"):
        return [("model: ", ""), (f"error: {_short(entry.error or '')}", "failed")]
    said = f'"{_short(entry.result)}"' if entry.result else ""
    calls = f"calls {', '.join(entry.calls)}" if entry.calls else ""
    spent = [] if entry.usage is None else [_tokens(entry.usage), _cost(entry)]
    used = f"({', '.join(filter(None, spent))})" if spent else ""
    where = f"from {_short(entry.server)}" if entry.server else ""
    cut = [(f" ({entry.error})", "failed")] if entry.error else []
    return [(" ".join(filter(None, ("model:", said, calls, used, where))), ""), *cut]


def _cost(found: Entry | Timeline) -> str:
    if found.cost is None:
        return "cost unknown" if found.was_asked_elsewhere else ""
    return f"${shown_price(found.cost)}"


def _tokens(usage: Usage) -> str:
    if usage.total_tokens is None:
        return "tokens unknown"
    return f"{usage.input_tokens}+{usage.output_tokens} tokens"


def _short(text: str, most: int = _LONGEST) -> str:
    return shortened(" ".join(redact(text).split()), most)
