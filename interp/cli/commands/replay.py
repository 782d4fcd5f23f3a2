"""``gram replay``: show a recorded run again."""

from __future__ import annotations

import click
from attrs import frozen

from gram import GramError

from ...errors import ReplayError
from ...execution import Handler, LiveHandler
from ...history.replaying import Replay, recorded
from ...machine import start_again
from ...programs import the_agent
from ...running import Run
from ..failures import Refused
from ..inputs.declaring import agent_option, given_by, json_option, option, options_of
from ..inputs.libraries import ToolOptions
from ..inputs.program_files import STDIN
from ..inputs.reading import read_program
from ..inputs.record_option import named_runs, run_argument
from ..process import interruptible
from ..terminal.answers import Terminal
from ..terminal.json_answers import JsonAnswers


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
def command(run: str, options: Options) -> None:
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
