"""What people do with runs that are kept: resume, cancel, decide, export, import."""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias, Union, Unpack, cast

from attrs import frozen

from gram.errors import expect
from gram.words import did_you_mean

from ..errors import ConfigurationError, RunExistsError, StoreError, ValidationError
from ..execution import CANCELLED, Stopped
from ..history.records import PathLike, RecordedRun, Replayer, load_turns, note_line, read_run
from ..history.stores import ENDED, RunFacts, RunStore, StoredRun, StoreLike, open_run
from ..json_text import Json, write_json
from ..machine import AgentResponse, Ask, At, Decided, Event, State, Status, ToolReturned, response
from ..running import Run, RunOptions, TypeOfAnswer, V, check_options, declared_answer, with_value
from ..tools import LibraryLike, library_of
from .queue import tell_workers


def resume_run(
    state: State | str | os.PathLike[str],
    tools: LibraryLike = None,
    *,
    answer_type: TypeOfAnswer[V] = None,
    **options: Unpack[RunOptions],
) -> AgentResponse[V]:
    """Go on with a run that was kept, to the end.

    Args:
        state: the State; or the run as gram, such as the ``log`` of the error that stopped it; or
            its address, such as ``hello.run.gram`` or ``runs.db#4f2a``; or its id in the store that
            ``record`` is. Nothing that is recorded is asked or run again.
        tools: the implementations of the agent's tools, see `run`.
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
        return with_value(
            response(state), declared_answer(state.agent, answer_type, by="resume_run")
        )
    ended = Run(state, library, answer_type=answer_type, **options).finish()
    if isinstance(log, StoredRun):
        tell_workers(log.store, state.run_id)
    return ended


def cancel_run(store: RunStore, run: str) -> None:
    """Cancel a run: nothing more of it is recorded, and nothing goes on with it.

    What is under way elsewhere may still end; its process is refused when it records the result.

    Args:
        run: the id of the run.

    Raises:
        StoreError: there is no such run, it has ended, or the store cannot be written.
    """
    expect(store, RunStore, "store", by="cancel_run")
    expect(run, str, "run", by="cancel_run")
    row = store.row(run)
    if row.status in ENDED:
        raise StoreError(f"{store.name_of(run)} is {row.status}: nothing is left to cancel")
    claim = store.take_over(run)
    claim.append(note_line(Stopped(CANCELLED)))
    claim.let_go("cancelled", reason=CANCELLED)
    tell_workers(store, run)


@frozen
class Result:
    """The result of a call that was made by other means, instead of making it.

    Attributes:
        value: the result, a JSON value.
    """

    value: Json


Decision: TypeAlias = Union[bool, str, Result]
"""Yes, no, no and why, or the result of the call."""


def decide_run(
    store: RunStore, run: str, decisions: Mapping[At, Decision] | bool | str
) -> tuple[Ask, ...]:
    """Answer calls that a run waits for approval of; it can be resumed then.

    A call may also be asked about because it had begun when the run was stopped, and its tool is
    to run only once. Yes runs it again, a `Result` is taken as what it gave.

    Args:
        run: the id of the run.
        decisions: the answer to each call by its position, or one answer to all.

    Returns:
        The calls that still wait.

    Raises:
        ValidationError: no call waits, or none at one of the positions.
        RunTakenError: somebody goes on with the run.
        StoreError: there is no such run, or the store cannot be written.
    """
    expect(store, RunStore, "store", by="decide_run")
    expect(run, str, "run", by="decide_run")
    expect(decisions, (Mapping, bool, str), "decisions", by="decide_run")
    log, kept = StoredRun.of(store, run)
    state = kept.state
    if isinstance(decisions, Mapping):
        for at, decision in decisions.items():
            expect(at, tuple, "the position of a decision", by="decide_run")
            expect(decision, (bool, str, Result), f"decisions[{at}]", by="decide_run")
    elif state.asks:
        decisions = {ask.at: decisions for ask in state.asks}
    else:
        status = store.row(run).status
        raise ValidationError(f"no call of run {run} waits for approval: the run is {status}")
    waiting = dict.fromkeys(_shown(ask.at) for ask in state.asks)
    events = (each for at, answer in decisions.items() for each in _events(waiting, at, answer))
    replayer = Replayer(state)
    answers = [replayer.take(event) for event in events]
    if answers:
        with log.held(lambda: replayer.state):
            log.append_all(answers)
        tell_workers(store, run)
    return replayer.state.asks


def _events(waiting: Collection[str], at: At, decision: Decision) -> Iterator[Event]:
    if _shown(at) not in waiting:
        hint = did_you_mean(_shown(at), waiting) or (
            f"calls wait at {', '.join(waiting)}" if waiting else "the run waits for no approval"
        )
        raise ValidationError(f"no call waits for approval at {_shown(at)}; {hint}")
    if isinstance(decision, Result):
        yield Decided(at, True)
        yield ToolReturned(at, write_json(decision.value))
    elif isinstance(decision, str):
        yield Decided(at, False, decision)
    else:
        yield Decided(at, decision)


def _shown(at: At) -> str:
    return ".".join(map(str, at))


def export_run(store: RunStore, run: str, path: PathLike) -> None:
    """Write a run of a store to a new file (mode 0600), which can be resumed and replayed.

    A file has neither its tenant, priority and parent nor the conversation that it is a turn of.

    Args:
        run: the id of the run.

    Raises:
        StoreError: there is no such run, or the store cannot be read.
        OSError: the file exists, or cannot be written; nothing of it is left then.
    """
    expect(store, RunStore, "store", by="export_run")
    expect(run, str, "run", by="export_run")
    expect(path, (str, os.PathLike), "path", by="export_run")
    content = "".join(f"{each}\n" for each in store.whole_entries(run)).encode()
    try:
        with open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(content)
    except FileExistsError:
        reason = "exists already; a run is exported to a new file"
        raise FileExistsError(errno.EEXIST, reason, str(path)) from None
    except OSError:
        Path(path).unlink(missing_ok=True)
        raise


def import_run(store: RunStore, path: PathLike, *, tenant: str | None = None) -> str:
    """Take the run of a file into a store, up to its last whole entry; the file stays.

    Nothing is done where the store has these entries already.

    Args:
        tenant: whom the run was done for.

    Returns:
        The id of the run; of the last one, where the file has several turns.

    Raises:
        OSError: the file cannot be read.
        GramDecodeError, ValidationError, ReplayError: what is recorded is no run.
        StoreError: the store has other entries of the run, or cannot be written.
    """
    return imported(store, path, tenant=tenant)[-1][0]


def imported(
    store: RunStore, path: PathLike, *, tenant: str | None = None
) -> list[tuple[str, bool]]:
    """The ids of the runs that `import_run` took, and whether the store had their entries."""
    expect(store, RunStore, "store", by="import_run")
    expect(path, (str, os.PathLike), "path", by="import_run")
    expect(tenant, (str, type(None)), "tenant", by="import_run")
    runs = load_turns(path).runs
    ends = [*(each.start for each in runs[1:]), None]
    return [_take(store, path, *turn, tenant) for turn in zip(runs, ends, strict=True)]


def _take(
    store: RunStore, path: PathLike, found: RecordedRun, end: int | None, tenant: str | None
) -> tuple[str, bool]:
    """Take one turn of a file: it becomes a run of its own, with all that it begins with."""
    assert found.source is not None, "it was read from a file"
    _, *entries = found.source.text[found.start : end].removesuffix("\n").split("\n")
    entries = [each for each in entries if not each.startswith("(:TakenBack ")]
    if len(entries) != len(found.entries):
        raise ValidationError(f"{path}: each entry has to be on a line of its own")
    run = found.first.run_id or os.urandom(8).hex()
    log = StoredRun(store, run, facts=RunFacts("", tenant=tenant))
    last = found.entries[-1] if found.entries else None
    try:
        log.begin(
            found.state,
            found.library,
            entries,
            stopped_by=last.error if isinstance(last, Stopped) else None,
            started=found.started,
        )
    except RunExistsError:
        kept = store.recorded(run)
        if kept.first == found.first and store.entries(run)[1 : 1 + len(entries)] == entries:
            return run, True
        told = f"{store.name} has run {run} already, with other entries than this file"
        hint = "`gram runs export` writes those of the store to a new file"
        raise RunExistsError(f"{path}: {told}\n  hint: {hint}") from None
    return run, False
