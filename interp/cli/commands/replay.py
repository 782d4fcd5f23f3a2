"""``gram replay``: show a recorded run again."""

from __future__ import annotations

import click

from gram import GramError

from ...errors import ReplayError
from ...execution import Handler, LiveHandler
from ...history.replaying import Replay, recorded
from ...machine import start_again
from ...programs import the_agent
from ...running import Run
from ..failures import Refused
from ..inputs.file_options import agent_option, json_option, mcp_option, openapi_option
from ..inputs.options import tools_option
from ..inputs.program_files import STDIN
from ..inputs.reading import (
    hint_at_tools,
    library_for,
    read_libraries,
    read_program,
)
from ..inputs.record_option import named_runs, run_argument
from ..process import interruptible
from ..terminal.answers import Terminal
from ..terminal.json_answers import JsonAnswers


@click.command("replay")
@run_argument
@click.option("--program", metavar="FILE", help="Run this program on what was recorded.")
@agent_option
@click.option(
    "--live",
    type=click.Choice(["model", "tools"]),
    multiple=True,
    help="What is real where the recording does not fit: the model, or the tools.",
)
@tools_option
@mcp_option
@openapi_option
@json_option
def command(
    run: str,
    program: str | None,
    agent: str | None,
    live: tuple[str, ...],
    tools: tuple[str, ...],
    mcp: tuple[str, ...],
    openapi: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show a recorded run, as it was shown: no model, key or tool is needed.

    RUN is a run file, all of whose turns are shown; a run of a store such as runs.db#4f2a; an id
    alone in the store that GRAM_RECORD names, or in your own; or - for standard input.

    With --program, a changed program gets the recorded answers up to the first request that
    differs. The difference is shown, unless --live says who answers from there on. Exits with 1 if
    something differs, or if the recording ends before the run does.
    """
    if run == program == STDIN:
        raise click.UsageError("standard input cannot be both the run and the program")
    named = (*tools, *mcp, *openapi)
    if program is None and (live or named or agent):
        raise click.UsageError("--live, --tools, --mcp, --openapi and --agent need --program FILE")
    if named and "tools" not in live:
        raise click.UsageError("--tools, --mcp and --openapi need --live tools")
    terminal = JsonAnswers(is_streaming=False) if as_json else Terminal()
    changed = None if program is None else the_agent(read_program(program), agent, by="replay")
    for kept in named_runs(run):
        if changed is None:
            _replay(Replay(kept), terminal)
            continue
        state = start_again(kept.first, changed).state
        handler: Handler | None = None
        if live:
            library = None
            if "tools" in live:
                library = library_for(kept, named, lambda: read_libraries(tools, mcp, openapi))
            with hint_at_tools(named, mcp):
                handler = LiveHandler.of(state, library, approve=terminal.ask)
        answers = recorded(
            kept,
            model=handler if "model" in live else None,
            tools=handler if "tools" in live else None,
        )
        _replay(Run(state, handler=answers), terminal)


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
