"""``gram replay``: show a recorded run again."""

from __future__ import annotations

import click

from ..execution import LiveWorld, Run, World
from ..machine import begun_with
from ..programs import the_agent
from ..records import load_run
from ..replaying import Replay, recorded
from .completing import complete_files
from .file_options import agent_option
from .inputs import read_document, read_libraries
from .options import tools_option
from .process import interruptible
from .terminal import Terminal


@click.command("replay")
@click.argument("file", shell_complete=complete_files)
@click.option("--program", metavar="FILE", help="Run this program on what was recorded.")
@agent_option
@click.option(
    "--live",
    type=click.Choice(["model", "tools"]),
    multiple=True,
    help="Ask the real model, or run the real tools, where the recording does not fit.",
)
@tools_option
def command(
    file: str,
    program: str | None,
    agent: str | None,
    live: tuple[str, ...],
    tools: tuple[str, ...],
) -> None:
    """Show the run that FILE records, as it was shown: no model, key or tool is needed.

    With --program, a changed program gets the recorded answers up to the first request that
    differs. The difference is shown, unless --live says who answers from there on.
    """
    kept = load_run(file)
    terminal = Terminal()
    if program is None:
        if live or tools or agent:
            raise click.UsageError("--live, --tools and --agent need --program FILE")
        with interruptible():
            terminal.show_answer(Replay(kept), lambda _: None)
        return
    state = begun_with(kept.first, the_agent(read_document(program), agent, by="replay"))
    world: World | None = None
    if live:
        world = LiveWorld.of(state, read_libraries(tools), {"approve": terminal.ask})
    answers = recorded(
        kept,
        model=world if "model" in live else None,
        tools=world if "tools" in live else None,
    )
    with interruptible():
        terminal.show_answer(Run(state, world=answers), lambda _: None)
