"""``gram trace``: a recorded run as a timeline."""

from __future__ import annotations

from collections.abc import Iterable

import click
from attrs import evolve

from ...history.records import RecordedRun
from ...history.replaying import Timeline, follow, timeline
from ...views import RunLines, lines, run_page, summary
from ..inputs.declaring import json_option
from ..inputs.files import STDIN
from ..inputs.record_option import default_record, named_runs, run_argument
from ..terminal.output import (
    expect_a_name,
    expect_other_file,
    note,
    show,
    show_json,
    show_json_line,
    write_result,
)


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
        view = RunLines(found)
        for entry in ended[shown:]:
            if as_json:
                show_json_line(evolve(entry, children=()).to_json())
            else:
                show(view.line(entry, by_whom=entry.level > 0))
        shown = len(ended)
    if found is not None and as_json:
        show_json_line({**found.to_json(), "entries": []})
    elif found is not None:
        view = RunLines(found)
        for entry in found.waits_for:
            show(view.line(entry, by_whom=entry.level > 0))
        show(summary(found))
