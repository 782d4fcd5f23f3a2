"""Going on with a run that was kept: as a State, as gram, in a file or in a store."""

from __future__ import annotations

import os
from typing import Any, TypeVar, Unpack, cast, overload

from gram.errors import expect

from ..errors import ConfigurationError
from ..history.records import read_run
from ..history.stores import RunStore, StoredRun, StoreLike, open_run
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
            its address, such as ``hello.run.gram`` or ``runs.db#4f2a``; or its id in the store that
            ``record`` is. It goes on where it was, and nothing that is recorded is asked or run
            again.
        tools: the implementations of the agent's tools, if it has some: a `ToolLibrary`, or a
            list of tools and functions.
        answer_type: the Python type of the answer, as where the run began.
        **options: see `RunOptions`; what differs from the state changes it. ``record``
            writes the whole of a run that is given as a State or as gram to a new place.

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
    log = None
    if isinstance(state, str) and state.lstrip().startswith(("[:Run", "(:Run")):
        state = read_run(state).state
    if not isinstance(state, State):
        record = options.pop("record", None)
        expect(record, (RunStore, str, os.PathLike, type(None)), "record", by="resume_run")
        log, kept = open_run(state, cast("StoreLike | None", record))
        state, options["record"] = kept.state, log
    if state.status is Status.DONE:
        answer = declared_answer(state.agent, answer_type, by="resume_run")
        return with_value(response(state), answer)
    ended = Run(state, library, answer_type=answer_type, **options).finish()
    if isinstance(log, StoredRun):
        tell_workers(log.store, state.run_id)
    return ended
