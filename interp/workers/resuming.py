"""Going on with a run that was kept: as a State, as gram, in a file or in a store."""

from __future__ import annotations

import os
from typing import Any, TypeVar, Unpack, overload

from gram.errors import expect

from ..errors import ConfigurationError
from ..execution import RunLog
from ..history.records import RunFile, read_run
from ..history.stores import StoreLike, run_of
from ..machine import AgentResponse, State, Status, response
from ..running import Run, RunOptions, check_options, declared_answer, with_value
from ..tools import LibraryLike, library_of
from .queue import tell_workers

V = TypeVar("V")


@overload
def resume_run(
    state: State | str | os.PathLike[str],
    tools: LibraryLike = None,
    *,
    answer_type: type[V],
    **options: Unpack[RunOptions],
) -> AgentResponse[V]: ...
@overload
def resume_run(
    state: State | str | os.PathLike[str],
    tools: LibraryLike = None,
    *,
    answer_type: Any = None,
    **options: Unpack[RunOptions],
) -> AgentResponse[Any]: ...
def resume_run(
    state: State | str | os.PathLike[str],
    tools: LibraryLike = None,
    *,
    answer_type: Any = None,
    **options: Unpack[RunOptions],
) -> AgentResponse[Any]:
    """Go on with a run that was kept, to the end.

    Args:
        state: the State; or the run as gram, such as the ``log`` of the error that stopped it; or
            the file that it is recorded in; or, with ``store=``, its id in the store. It goes on
            where it was, and nothing that is recorded is asked or run again.
        tools: the implementations of the agent's tools, if it has some: a `ToolLibrary`, or a
            list of tools and functions.
        answer_type: the Python type of the answer, as where the run began.
        **options: see `RunOptions`; what differs from the state changes it. ``record`` writes the
            whole of the run to a new file.

    Raises:
        ReplayError: the record has an event that does not fit the run.
        StoreError: there is no such run in the store, or somebody else has claimed it.
        AgentError: see `run`.
    """
    library = library_of(tools, by="resume_run")
    expect(state, (State, str, os.PathLike), "state", by="resume_run")
    check_options(options, by="resume_run")
    if options.get("conversation"):
        raise ConfigurationError("a run that is resumed is a turn of the conversation it began in")
    store, log = options.pop("store", None), None
    if isinstance(state, str) and store is None and state.lstrip().startswith(("[:Run", "(:Run")):
        state = read_run(state).state
    if not isinstance(state, State):
        log, state = _kept(state, store)
        if options.get("record"):
            raise ConfigurationError("a run that is resumed from its file is recorded there")
        options["record"] = log
    if state.status is Status.DONE:
        answer = declared_answer(state.agent, answer_type, by="resume_run")
        return with_value(response(state), answer)
    ended = Run(state, library, answer_type=answer_type, **options).finish()
    if log is not None and store is not None:
        tell_workers(store, state.run_id)
    return ended


def _kept(run: str | os.PathLike[str], store: StoreLike | None) -> tuple[RunLog, State]:
    """What a run is recorded in, and the State that it is in."""
    if store is None:
        log, kept = RunFile.of(run)
        return log, kept.state
    expect(run, str, "state", by="resume_run")
    stored, kept = run_of(store, str(run))
    return stored, kept.state
