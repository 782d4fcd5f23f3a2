"""Recorded runs: ``resume`` goes on with one, ``replay`` shows one again."""

from __future__ import annotations

import click
from attrs import frozen

from gram import GramError

from ...errors import ReplayError, RunTakenError
from ...execution import Handler, LiveHandler, RunLog
from ...history.records import RecordedRun
from ...history.replaying import Replay, recorded
from ...history.stores import Address, StoredRun, open_run
from ...machine import Status, start_again
from ...programs import the_agent
from ...running import Run
from ...workers import tell_workers
from ..failures import Refused
from ..inputs.declaring import agent_option, given_by, json_option, option, options_of
from ..inputs.files import STDIN, read_program
from ..inputs.libraries import ToolOptions
from ..inputs.options import AnsweringOptions
from ..inputs.record_option import default_record, named_runs, run_argument
from ..keeping import how_to_resume
from ..process import interruptible
from ..terminal.answers import JsonAnswers, Terminal
from ..terminal.output import tell


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
    terminal = (
        JsonAnswers(is_streaming=False, is_kept=True)
        if as_json
        else Terminal(is_debugging=options.debug, is_kept=True, shows_reasoning=shows)
    )
    with interruptible():
        going_on = resumed(log, kept, options, terminal)
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


def resumed(
    log: RunLog, kept: RecordedRun, options: AnsweringOptions, terminal: Terminal
) -> Run | Replay:
    """A run that goes on where it is recorded; one that is done is shown again.

    Args:
        log: what it is recorded in.
        kept: what is recorded of it.
        options: what changes it.
        terminal: asks the user.

    Raises:
        ToolBindingError: the library does not implement the tools as they are written, or the run
            had others and none are named.
        ConfigurationError: the provider is unknown, or its key is missing.
    """
    if kept.state.status is Status.DONE:
        return Replay(kept)
    changes = options.of_resumed_run(kept.state.limits)
    library = options.library_for(kept)
    if options.asks_before_servers:
        changes["policy"] = options.policy(library)
    changes["approve"] = terminal.ask
    changes["record"] = log
    with options.hinting():
        return Run(kept.state, library, **changes)


@frozen(kw_only=True, slots=False)
class Options(ToolOptions):
    """The options of ``gram replay``."""

    program: str | None = option("Run this program on what was recorded.", "FILE")
    agent: str | None = given_by(agent_option)
    live: tuple[str, ...] = option(
        "What is real where the recording does not fit: the model, or the tools.",
        type=click.Choice(["model", "tools"]),
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
@options_of(Options)
def replay_command(run: str, options: Options) -> None:
    """Show a recorded run, as it was shown: no model, key or tool is needed.

    RUN is a run file, all of whose turns are shown; a run of a store such as runs.db#4f2a; an id
    alone in the store that GRAM_RECORD names, or in your own; or - for standard input.

    With --program, a changed program gets the recorded answers up to the first request that
    differs. The difference is shown, unless --live says who answers from there on. Exits with 1 if
    something differs, or if the recording ends before the run does.
    """
    program = options.program
    if run == program == STDIN:
        raise click.UsageError("standard input cannot be both the run and the program")
    terminal = JsonAnswers(is_streaming=False) if options.as_json else Terminal()
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
