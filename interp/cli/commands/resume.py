"""``gram resume``: go on with a recorded run."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import click

from gram import GramError

from ...execution import RunLog
from ...history.records import RecordedRun, RunFile, Session, session
from ...history.replaying import Replay
from ...machine import AgentResponse, Status, interrupted_context
from ...running import Run
from ..completion.completing import complete_files
from ..inputs.file_options import json_option
from ..inputs.options import AnsweringOptions, options_of
from ..inputs.reading import hint_at_tools, library_for
from ..inputs.store_option import of_store_instead
from ..process import interruptible, uninterrupted
from ..terminal.answers import Terminal
from ..terminal.json_answers import JsonAnswers
from ..terminal.output import tell
from ..unfinished_turn import expect_session_of, how_to_resume, session_of


@click.command("resume")
@click.argument("file", shell_complete=complete_files)
@of_store_instead("gram runs resume RUN")
@json_option
@options_of(AnsweringOptions)
def command(file: str, as_json: bool, options: AnsweringOptions) -> None:
    """Go on with the run that FILE records, in that file, and print its answer.

    Nothing that is recorded is asked or run again. What the options do not change stays as it was.
    Calls that wait for approval are answered by --approve: all, none, or ask at the terminal.

    If FILE is the unfinished turn of a session, the session is saved and FILE is removed.
    """
    log, kept = RunFile.of(file)
    kept.check()
    path = session_of(file)
    terminal = terminal_of(options, as_json=as_json, session=path)
    with interruptible(), ExitStack() as held:
        talk: Session | None = None
        if path is not None:
            talk = held.enter_context(session(path))
            expect_session_of(kept, talk, path)
        run = resumed(log, kept, options, terminal)

        def keep(response: AgentResponse) -> None:
            if talk is not None:
                with uninterrupted():
                    talk.save(response.context)
                    Path(file).unlink()

        try:
            terminal.show_answer(run, keep)
        except BaseException as failure:  # what tools did is saved, then it is raised again
            terminal.end_line()
            if isinstance(failure, GramError | OSError):
                terminal.show_failure(run.state, failure)
            if run.state.status is not Status.DONE:
                tell(how_to_resume(file, run.state, options))
            if talk is not None and run.state.invocations:
                with uninterrupted():
                    talk.save(interrupted_context(run.state))
            raise


def terminal_of(
    options: AnsweringOptions, *, as_json: bool, session: Path | None = None
) -> Terminal:
    """What prints the answer of a run that is gone on with, and asks the user."""
    if as_json:
        file = None if session is None else str(session)
        return JsonAnswers(is_streaming=False, session=file, is_kept=True)
    return Terminal(
        is_debugging=options.debug, is_kept=True, shows_reasoning=not options.no_reasoning
    )


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
    library = library_for(kept, options.named_tools, options.library)
    if options.asks_before_servers:
        changes["policy"] = options.policy(library)
    changes["approve"] = terminal.ask
    changes["record"] = log
    with hint_at_tools(options.named_tools, options.mcp):
        return Run(kept.state, library, **changes)
