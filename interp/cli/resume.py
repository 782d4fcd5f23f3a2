"""``gram resume``: go on with a recorded run."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import click

from ..execution import Run
from ..machine import Status, interrupted_context
from ..messages import AgentResponse
from ..records import RunFile, Session, session
from ..replaying import Replay
from .completing import complete_files
from .inputs import read_libraries
from .options import RunningOptions, options_of
from .process import interruptible, uninterrupted
from .terminal import Terminal
from .unfinished_turn import expect_session_of


@click.command("resume")
@click.argument("file", shell_complete=complete_files)
@options_of(RunningOptions)
def command(file: str, options: RunningOptions) -> None:
    """Go on with the run that FILE records, in that file, and print its answer.

    Nothing that is recorded is asked or run again. What the options do not change stays as it was.
    Calls that wait for approval are answered by --approve: all, none, or ask at the terminal.

    If FILE is the unfinished turn of a session, the session is saved and FILE is removed.
    """
    run_file, kept = RunFile.of(file)
    terminal = Terminal(is_debugging=options.debug, record=file)
    with interruptible(), ExitStack() as held:
        talk: Session | None = None
        if kept.session is not None:
            talk = held.enter_context(session(Path(file).parent / kept.session))
            expect_session_of(kept, talk)
        run: Run | Replay = Replay(kept)
        if kept.state.status is not Status.DONE:
            changes = options.of_resumed_run(kept.state.limits)
            changes["approve"] = terminal.ask
            changes["record"] = run_file
            run = Run(kept.state, read_libraries(options.tools), **changes)

        def keep(response: AgentResponse) -> None:
            if talk is not None:
                with uninterrupted():
                    talk.save(response.context)
                    Path(file).unlink()

        try:
            terminal.show_answer(run, keep)
        except BaseException:
            if talk is not None and run.state.invocations:
                with uninterrupted():
                    talk.save(interrupted_context(run.state))
            raise
