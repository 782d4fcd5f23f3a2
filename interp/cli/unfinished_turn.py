"""The turn that a session is in: a run file beside the session's, until the turn has its answer.

So a turn whose tools have run is not lost, whatever ends it: `gram resume` goes on with it.
"""

from __future__ import annotations

import errno
from pathlib import Path
from shlex import quote

from gram import GramError

from ..errors import RunTakenError, ValidationError
from ..history.records import (
    RecordedRun,
    RunFile,
    Session,
    has_nothing_begun,
    is_recorded,
    load_run,
)
from ..machine import State, Status, interrupted_context
from .inputs.options import RunningOptions
from .terminal.output import tell
from .terminal.output_files import TURN


class UnfinishedTurn:
    """The file of the turn that a session is in.

    An unfinished turn of an earlier process is told. It is kept until the next turn begins, if the
    session has what its tools did.

    Args:
        path: the file of the session.
        session: the session.

    Attributes:
        path: the file of the turn.

    Raises:
        OSError: there is an unfinished turn, and the session does not have what it did.
    """

    def __init__(self, path: str, session: Session) -> None:
        self.path = Path(path + TURN)
        self._name = Path(path).name
        if not self.path.exists() or has_nothing_begun(self.path):
            return
        kept = None if is_recorded(self.path) else _loaded(self.path)
        if kept and not kept.steps:
            return
        resume = f"gram resume {quote(str(self.path))}"
        told = f"the last turn of this conversation is unfinished: {resume} goes on"
        if kept is None or session.context == kept.first.context[:-1] or not is_of(kept, session):
            hint = "\n  hint: delete the file to give the turn up"
            raise FileExistsError(errno.EEXIST, told + hint, str(self.path))
        tell(f"{told}; a new message gives it up, and its tool calls stay in the conversation")

    def file(self) -> RunFile:
        """A new file to record a turn in."""
        self.forget()
        return RunFile(self.path)

    def forget(self) -> None:
        """Remove the file: the session has the turn, or nothing has happened in it."""
        self.path.unlink(missing_ok=True)


def may_go_on(state: State, failure: BaseException) -> bool:
    """Whether a run of a store did not end here, and is nobody else's."""
    return state.status is not Status.DONE and not isinstance(failure, RunTakenError)


def how_to_resume(
    file: str, state: State, options: RunningOptions, *, store: str | None = None
) -> str:
    """What to tell of a run that is kept in a file, or in a store, and did not end well.

    Args:
        file: the file, or "".
        state: the last State of the run.
        options: how it was run; what it does not keep of them is written again to go on.
        store: the store, or None.
    """
    is_over = state.status in (Status.FAILED, Status.UNUSABLE)
    told = f"the run is kept in {file if store is None else store}: gram "
    if store is None:
        told += f"{'trace' if is_over else 'resume'} {quote(file)}"
    else:
        told += f"runs {'show' if is_over else 'resume'} {state.run_id} --store {quote(store)}"
    if is_over:
        return f"{told} shows it"
    told += f"{options.words_to_resume} goes on"
    if state.status is Status.LIMITED:
        told += ", with a higher --limit"
    return f"{told}; --approve all or --approve none answers what it asks" if state.asks else told


def _loaded(path: Path) -> RecordedRun | None:
    try:
        return load_run(path)
    except (GramError, OSError):
        return None


def is_of(run: RecordedRun, session: Session) -> bool:
    """Whether a session is where it was when a turn began, or has what was done in it."""
    states = (run.first, *(step.state for step in run.steps))
    return session.context == run.first.context[:-1] or any(
        session.context == interrupted_context(state) for state in states
    )


def session_of(file: str) -> Path | None:
    """The file of the session that a run is the unfinished turn of, by the name of the run's."""
    is_turn = file.endswith(TURN) and Path(file).name != TURN
    return Path(file.removesuffix(TURN)) if is_turn else None


def expect_session_of(run: RecordedRun, session: Session, path: Path) -> None:
    """Check that a session has not gone on since a turn of it was left.

    Raises:
        ValidationError: it has, so that the turn does not follow it.
    """
    if not is_of(run, session):
        raise ValidationError(
            f"{path}: the conversation has gone on since this turn was left, and is not "
            "changed\n  hint: delete the file of the turn to give it up"
        )
