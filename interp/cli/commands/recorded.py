"""Recorded runs: ``resume`` goes on with one, ``replay`` and ``trace`` show one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import click
from attrs import evolve

from gram import GramError

from ...errors import ReplayError, RunTakenError
from ...execution import Handler, LiveHandler, RunLog
from ...history.records import RecordedRun
from ...history.replaying import Replay, Timeline, follow, recorded, timeline
from ...history.stores import Address, StoredRun, open_run
from ...machine import Status, start_again
from ...programs import the_agent
from ...running import Run
from ...views import RunLines, lines, run_page, summary
from ...workers import tell_workers
from ..failures import Refused
from ..inputs.declaring import agent_option, given_by, json_option, option, options_of
from ..inputs.files import STDIN, read_program
from ..inputs.libraries import ToolOptions
from ..inputs.options import AnsweringOptions
from ..inputs.record_option import default_record, named_runs, run_argument
from ..process import interruptible
from ..talk import how_to_resume
from ..terminal import console
from ..terminal.answers import JsonAnswers, Terminal
from ..terminal.console import forbid, show, show_json_line, tell


@click.command("resume")
@run_argument
@json_option
@options_of(AnsweringOptions)
def resume_command(run: str, as_json: bool, options: AnsweringOptions) -> None:
    """Go on with a recorded run where it is recorded, and print its answer.

    RUN is a run file, a run of a store such as runs.db#4f2a, or an id alone in the store that
    GRAM_RECORD names, or in your own. Of a file with several turns the last one is meant.

    Nothing that is recorded is asked or run again. What the options do not change stays as it was.
    Calls that wait for approval are answered by --approve: all, none, or ask at the terminal.
    """
    log, kept = open_run(run, default_record())
    kept.check()
    shows = not options.no_reasoning
    kind = JsonAnswers if as_json else Terminal
    terminal = kind(is_debugging=options.debug, is_kept=True, shows_reasoning=shows)
    with interruptible():
        going_on: Run | Replay = Replay(kept)  # it is done, and shown again
        if kept.state.status is not Status.DONE:
            going_on = _resumed(log, kept, options, terminal)
        try:
            terminal.show_answer(going_on)
        except BaseException as failure:  # how to resume is told, then it is raised again
            terminal.end_line()
            if isinstance(failure, GramError | OSError):
                terminal.show_failure(going_on.state, failure)
            is_open = going_on.state.status is not Status.DONE
            if is_open and not isinstance(failure, RunTakenError):
                tell(how_to_resume(str(Address.of(run)), going_on.state, options))
            raise
    if isinstance(log, StoredRun):
        tell_workers(log.store, log.id)


def _resumed(log: RunLog, kept: RecordedRun, options: AnsweringOptions, terminal: Terminal) -> Run:
    """A run that goes on where it is recorded."""
    changes = options.of_resumed_run(kept.state.limits)
    library = options.library_for(kept)
    if options.asks_before_servers:
        changes["policy"] = options.policy(library)
    changes["approve"], changes["record"] = terminal.ask, log
    with options.hinting():
        return Run(kept.state, library, **changes)


class _ReplayOptions(ToolOptions):
    """The options of ``gram replay``."""

    program: str | None = option("Run this program on what was recorded.", "FILE")
    agent: str | None = given_by(agent_option)
    live: tuple[Literal["model", "tools"], ...] = option(
        "What is real where the recording does not fit: the model, or the tools."
    )
    as_json: bool = given_by(json_option)

    def __attrs_post_init__(self) -> None:
        if self.program is None and (self.live or self.named_tools or self.agent):
            raise click.UsageError(
                "--live, --tools, --mcp, --openapi and --agent need --program FILE"
            )
        if self.named_tools and "tools" not in self.live:
            raise click.UsageError("--tools, --mcp and --openapi need --live tools")


@click.command("replay")
@run_argument
@options_of(_ReplayOptions)
def replay_command(run: str, options: _ReplayOptions) -> None:
    """Show a recorded run, as it was shown: no model, key or tool is needed.

    RUN is a run file, all of whose turns are shown; a run of a store such as runs.db#4f2a; an id
    alone in the store that GRAM_RECORD names, or in your own; or - for standard input.

    With --program, a changed program gets the recorded answers up to the first request that
    differs. The difference is shown, unless --live says who answers from there on. Exits with 1 if
    something differs, or if the recording ends before the run does.
    """
    program = options.program
    forbid(run == program == STDIN, "standard input cannot be both the run and the program")
    terminal = JsonAnswers() if options.as_json else Terminal()
    changed = program and the_agent(read_program(program), options.agent, by="replay")
    for kept in named_runs(run):
        if not changed:
            _replay(Replay(kept), terminal)
            continue
        state = start_again(kept.first, changed).state
        real: dict[str, Handler] = {}
        if options.live:
            library = options.library_for(kept) if "tools" in options.live else None
            with options.hinting():
                handler = LiveHandler.of(state, library, approve=terminal.ask)
            real = dict.fromkeys(options.live, handler)
        _replay(Run(state, handler=recorded(kept, **real)), terminal)


def _replay(run: Run | Replay, terminal: Terminal) -> None:
    """Show a run; the answer is no if it differs from what was recorded."""
    try:
        with interruptible():
            terminal.show_answer(run)
    except (GramError, OSError) as error:
        failure = Refused(str(error)) if isinstance(error, ReplayError) else error
        terminal.end_line()
        terminal.show_failure(run.state, failure, named=type(error).__name__)
        raise failure from None


@click.command("trace")
@run_argument
@click.option("--follow", "-f", "is_followed", is_flag=True, help="Show it while it happens.")
@json_option
@click.option("--html", "out", metavar="OUT", help="Write the run as one page for a browser.")
def trace_command(run: str, is_followed: bool, as_json: bool, out: str | None) -> None:
    """Show a recorded run: who was asked, what was called, how long it took.

    RUN is a run file, all of whose turns are shown; a run of a store such as runs.db#4f2a; an id
    alone in the store that GRAM_RECORD names, or in your own; or - for standard input.

    A run that is still going on is shown as far as it is; with --follow each step is shown as it
    ends (with --json on a line of its own), and at the end what the run came to and waits for.

    A line has the position, the seconds after the run began, the seconds it took, and what it was.
    What happens inside an agent or a workflow is shown below it; with --follow it comes first.
    """
    if out is not None:
        console.expect_a_name(out, "--html")
        console.expect_other_file(out)
        forbid(is_followed or as_json, "--html is for itself, without --follow and --json")
        console.write_result(out, run_page(named_runs(run)[-1]), private=True)
        if out != "-":
            console.note(f"gram: the page of the run is in {out}")
    elif is_followed:
        forbid(run == STDIN, "--follow needs the name of a run, and - is standard input")
        show_followed(follow(run, record=default_record()), as_json=as_json)
    else:
        found = [timeline(each) for each in named_runs(run)]
        values = [each.to_json() for each in found] if as_json else []
        value = values[0] if len(values) == 1 else values
        console.show_result(as_json, value, (line for each in found for line in lines(each)))


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
        for entry in found.waits_for:
            show(view.line(entry, by_whom=entry.level > 0))
        show(summary(found))
