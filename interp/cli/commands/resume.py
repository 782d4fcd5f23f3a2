"""``gram resume``: go on with a recorded run."""

from __future__ import annotations

import click

from gram import GramError

from ...errors import RunTakenError
from ...execution import RunLog
from ...history.records import RecordedRun
from ...history.replaying import Replay
from ...history.stores import Address, StoredRun, open_run
from ...machine import Status
from ...running import Run
from ...workers import tell_workers
from ..inputs.declaring import json_option, options_of
from ..inputs.options import AnsweringOptions
from ..inputs.record_option import default_record, run_argument
from ..keeping import how_to_resume
from ..process import interruptible
from ..terminal.answers import Terminal
from ..terminal.json_answers import JsonAnswers
from ..terminal.output import tell


@click.command("resume")
@run_argument
@json_option
@options_of(AnsweringOptions)
def command(run: str, as_json: bool, options: AnsweringOptions) -> None:
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
