"""``gram replay``: show a recorded run again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from gram import GramError

from ...errors import ReplayError
from ...execution import Handler, LiveHandler
from ...history.records import RecordedRun
from ...history.replaying import Replay, recorded
from ...machine import start_again
from ...programs import the_agent
from ...running import Run
from ..completion.completing import complete_files
from ..failures import Refused
from ..inputs.file_options import agent_option, json_option, mcp_option, openapi_option
from ..inputs.options import tools_option
from ..inputs.program_files import STDIN
from ..inputs.reading import (
    hint_at_tools,
    library_for,
    read_document,
    read_libraries,
    read_record,
)
from ..inputs.store_option import of_store_instead
from ..process import interruptible
from ..terminal.answers import Terminal
from ..terminal.json_answers import JsonAnswers

_OPTIONS = (
    click.option(
        "--program",
        metavar="FILE",
        shell_complete=complete_files,
        help="Run this program on what was recorded.",
    ),
    agent_option,
    click.option(
        "--live",
        type=click.Choice(["model", "tools"]),
        multiple=True,
        help="Ask the real model, or run the real tools, where the recording does not fit.",
    ),
    tools_option,
    mcp_option,
    openapi_option,
    json_option,
)


def replay_options(command: Callable[..., None]) -> Callable[..., None]:
    """Decorate a command with the options that `show_again` takes."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command("replay")
@click.argument("file", shell_complete=complete_files)
@of_store_instead("gram runs replay RUN")
@replay_options
def command(file: str, **options: Any) -> None:
    """Show the run that FILE records, as it was shown: no model, key or tool is needed.

    FILE may be - for standard input.

    With --program, a changed program gets the recorded answers up to the first request that
    differs. The difference is shown, unless --live says who answers from there on. Exits with 1 if
    something differs, or if the recording ends before the run does.
    """
    if file == options["program"] == STDIN:
        raise click.UsageError("standard input cannot be both the run and the program")
    show_again(read_record(file), **options)


def show_again(
    kept: RecordedRun,
    *,
    program: str | None,
    agent: str | None,
    live: tuple[str, ...],
    tools: tuple[str, ...],
    mcp: tuple[str, ...],
    openapi: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show a recorded run as it was shown, or what a changed program makes of it.

    Args:
        kept: the run.
        program: the file of the changed program.
        agent: the name of its agent.
        live: what is real where the recording does not fit: ``model``, ``tools``.
        tools: files of tools.
        mcp: MCP servers.
        openapi: OpenAPI documents.
        as_json: whether the answer is printed as a JSON object.

    Raises:
        click.UsageError: the options do not fit together.
        Refused: the program makes another request than the recorded one.
    """
    named = (*tools, *mcp, *openapi)
    terminal = JsonAnswers(is_streaming=False, session=None) if as_json else Terminal()
    if program is None:
        if live or named or agent:
            raise click.UsageError(
                "--live, --tools, --mcp, --openapi and --agent need --program FILE"
            )
        _replay(Replay(kept), terminal)
        return
    state = start_again(kept.first, the_agent(read_document(program), agent, by="replay")).state
    if named and "tools" not in live:
        raise click.UsageError("--tools, --mcp and --openapi need --live tools")
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
            terminal.show_answer(run, lambda _: None)
    except (GramError, OSError) as error:
        failure = Refused(str(error)) if isinstance(error, ReplayError) else error
        terminal.end_line()
        terminal.show_failure(run.state, failure, named=type(error).__name__)
        raise failure from None
