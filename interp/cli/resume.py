"""``gram resume``: go on with a recorded run."""

from __future__ import annotations

import click

from ..execution import Run
from ..machine import Status
from ..records import RunFile
from ..replaying import Replay
from .completing import complete_files
from .inputs import read_libraries
from .options import RunningOptions, options_of
from .process import interruptible
from .terminal import Terminal


@click.command("resume")
@click.argument("file", shell_complete=complete_files)
@options_of(RunningOptions)
def command(file: str, options: RunningOptions) -> None:
    """Go on with the run that FILE records, in that file, and print its answer.

    Nothing that is recorded is asked or run again. What the options do not change stays as it was.
    Calls that wait for approval are answered by --approve: all, none, or ask at the terminal.
    """
    run_file, kept = RunFile.of(file)
    terminal = Terminal(is_debugging=options.debug, record=file)
    run: Run | Replay = Replay(kept)
    if kept.state.status is not Status.DONE:
        changes = options.of_resumed_run(kept.state.limits)
        changes["approve"] = terminal.ask
        changes["record"] = run_file
        run = Run(kept.state, read_libraries(options.tools), **changes)
    with interruptible():
        terminal.show_answer(run, lambda _: None)
