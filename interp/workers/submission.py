"""Submitting a run, now or at times: it is in the store then, and a worker takes it.

Schedules are runs that are submitted again and again, at times that a file of gram says. These are
UTC, by the clock of the database. The run of each time has an id made of the schedule's name and
that time, so it is submitted once, however many workers have the file.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, TypedDict, Unpack, cast

from attrs import field, frozen
from pyrsistent import PMap, thaw

import lenses_ext
from gram import Diagnostic, Document, GramError, Pattern, origin, parse as parse_gram
from gram.documents import decode, resolved
from gram.errors import expect
from lenses_ext import Model, ProgramLike
from lenses_ext.schemas import Match

from .. import errors
from ..errors import ConfigurationError, ToolBindingError
from ..execution import current_trace
from ..history.records import Reader, RecordedRun
from ..history.stores import ENDED, RunFacts, RunStore, StoredRun, StoreLike, opened
from ..json_text import write_json
from ..machine import ApprovalPolicy, Given, Limits, State, empty_context, start_again
from ..models import OFFLINE, connect_model, find_provider, unknown_provider
from ..programs import models_of, tools_to_bind
from ..running import BeginOptions, check_options, first_state_of
from ..secrets import without_keys
from ..tools import ToolLibrary, bind_agent_tools, empty_tool_library
from .database_errors import is_of_database, log_event
from .queue import MOST_PRIORITY, RunQueue, expect_procrastinate


def models_asked(state: State) -> tuple[Model, ...]:
    """The models that a run asks: one for all, or those that its program names."""
    return (state.model,) if state.model else models_of(state.agent)


def queue_of(state: State, own_tools: Iterable[str] = ()) -> str:
    """The name of the queue for the runs that need the same as a run.

    Tools are the same if binding cannot tell them apart, however they are written.
    """
    parts = (
        lenses_ext.tool_spec_name,
        lenses_ext.tool_spec_description,
        lenses_ext.tool_spec_schema,
    )
    tools = {  # agents may have different ones of the same name
        write_json(
            [*(lenses_ext.view(part, spec) for part in parts), lenses_ext.result_schema(spec)]
        )
        for spec in tools_to_bind(state.agent)
    }
    models = {f"{model.provider.lower()}/{model.name}" for model in models_asked(state)}
    needed = [*sorted(tools), *sorted(models), *(f"own {each}" for each in sorted(own_tools))]
    return f"runs-{sha256(chr(10).join(needed).encode()).hexdigest()[:32]}"


def why_not(run: RecordedRun, library: ToolLibrary, match: Match) -> str | None:
    """Why a run cannot be driven here, in one line; None if it can.

    It is the same for all runs of a queue, see `queue_of`.
    """
    if reason := why_not_with(run, library, match):
        return reason
    try:
        for model in models_asked(run.first):
            connect_model(model)
    except ConfigurationError as error:
        return _in_one_line(error, run)
    return None


def why_not_with(run: RecordedRun, library: ToolLibrary, match: Match) -> str | None:
    """Why a run cannot be driven with the tools that are here; see `why_not`."""
    try:
        tools = bind_agent_tools(run.first.agent, library, match=match)
    except (ToolBindingError, ConfigurationError) as error:
        return _in_one_line(error, run)
    if agents := [each.name for each in tools if each.agent is not None]:
        return (
            f"{', '.join(agents)}: here this is an agent of the library, and a submitted run calls "
            "only agents of its program: write it into the program"
        )
    if told := run.why_not_with(library):
        return f"{told}: start the worker with the tools that it ran with"
    return None


def _in_one_line(error: ToolBindingError | ConfigurationError, run: RecordedRun) -> str:
    """An error without the place in the run, since it holds for all runs that need the same."""
    reason = without_keys(str(error)).splitlines()[0]
    place = origin(run.first.agent)
    name = place.filename if place else None
    return re.sub(rf"^{re.escape(name)}:\d+:\d+: ", "", reason) if name else reason


class KeptOptions(TypedDict, total=False):
    """The options of a run that are kept with it, see `BeginOptions`; models by their names."""

    agent: str | None
    model: str | Model | None
    settings: Mapping[str, Any] | None
    limits: Limits | None
    policy: ApprovalPolicy | None
    check_results: bool | None
    answer_type: Any
    fallbacks: Sequence[Model | str] | None


_ID: Final = re.compile(r"[\w.:@/+-]{1,100}", re.ASCII)


def submit(
    program: ProgramLike,
    user_input: Given,
    *,
    store: StoreLike,
    run_id: str | None = None,
    conversation: str | None = None,
    tenant: str | None = None,
    priority: int = 0,
    at: datetime | None = None,
    **options: Unpack[KeptOptions],
) -> str:
    """Queue a run for the workers of a store, and return its id.

    When this returns, the run is in the store. Keys are not: each worker has its own.

    Args:
        program: the program, as for `run`.
        user_input: what the user says, or the arguments by name, as for `run`.
        store: a store on Postgres, or its address.
        run_id: an id for the run. Who submits the same again under it gets the same run.
        conversation: the conversation that this is a turn of. Its turns are run one after the
            other, in the order in which they were submitted, each after what was said before.
        tenant: whom it is done for.
        priority: runs with a higher one are taken first.
        at: when it may begin at the earliest, with a time zone; None is now.
        **options: see `KeptOptions`.

    Raises:
        ValidationError: the input is empty or the program is invalid (with its ``faults``).
        ConfigurationError: the store is not on Postgres, Procrastinate is not installed, an option
            cannot be kept with a run, or the provider is unknown.
        StoreError: the store cannot be written, or has another run of this id.
    """
    facts = _facts_of(run_id, tenant=tenant, conversation=conversation, priority=priority)
    expect(at, (datetime, type(None)), "at", by="submit")
    if at is not None and at.tzinfo is None:
        raise ConfigurationError("submit: at needs a time zone, such as datetime.now(UTC)")
    state = to_submit(program, user_input, options, run_id)
    run, due = state.run_id, 0.0 if at is None else at.timestamp()
    with opened(store, must_exist=False) as found:
        queue = RunQueue.of(found)

        def work() -> None:
            StoredRun(found, run, facts=facts, status="queued").begin(state, ())
            queue.add(run, queue_of(state), due)

        try:
            queue.database.together(work)
        except errors.RunExistsError:
            kept = found.recorded(run)
            _expect_same(found, queue, kept.first, state, facts, due)
            if found.row(run).status not in ENDED:
                queue.add(run, queue_of(state, kept.own_tools), due)
    return run


def _facts_of(
    run_id: str | None,
    *,
    tenant: str | None = None,
    conversation: str | None = None,
    priority: int = 0,
) -> RunFacts:
    """What is known of a run that is submitted, if all of it can be kept."""
    expect(run_id, (str, type(None)), "run_id", by="submit")
    if run_id is not None and not _ID.fullmatch(run_id):
        raise ConfigurationError(
            f"submit: run_id is 1 to 100 letters, digits or any of _ . : @ / + -; found {run_id!r}"
        )
    expect(priority, int, "priority", by="submit")
    if abs(priority) > MOST_PRIORITY:
        raise ConfigurationError(
            f"submit: priority is from -{MOST_PRIORITY} to {MOST_PRIORITY}, found {priority}"
        )
    return RunFacts(
        "", tenant=tenant, conversation=conversation, priority=priority, trace=current_trace()
    )


def to_submit(
    program: ProgramLike, user_input: Given, options: KeptOptions, run_id: str | None = None
) -> State:
    """The State in which a submitted run begins, see `submit`."""
    if unkept := sorted(options.keys() - KeptOptions.__annotations__.keys()):
        raise ConfigurationError(
            f"submit: {unkept[0]} is no option that is kept with a run; "
            f"those are {', '.join(KeptOptions.__annotations__)}"
        )
    expect(options.get("model"), (str, Model, type(None)), "model", by="submit")
    chosen = cast(BeginOptions, options)
    check_options(chosen, by="submit")
    state = first_state_of(
        program, user_input, empty_tool_library, empty_context, chosen, by="submit", run_id=run_id
    )
    for model in models_asked(state):
        if model.provider == OFFLINE.provider:
            connect_model(model)  # refuses another offline model than the one there is
        elif find_provider(model) is None:
            raise ConfigurationError(unknown_provider(model))
    return state


def _expect_same(
    store: RunStore, queue: RunQueue, kept: State, state: State, facts: RunFacts, due: float
) -> None:
    """Refuse to go on unless the run that the store has is the one that is submitted."""
    had, when = store.row(state.run_id).facts, queue.due(state.run_id)
    names = ("conversation", "tenant", "priority")
    others = [f"the {name}" for name in names if getattr(had, name) != getattr(facts, name)]
    if start_again(kept, kept.agent, empty_context).state != state:
        others.insert(0, "the program, the input or an option")
    if when is not None and when != due:  # None where it does not matter any more
        others.append("the time")
    if others:
        raise errors.StoreError(
            f"{store.name_of(state.run_id)}: another run was submitted under this id: "
            f"{', '.join(others)} differ{'' if len(others) > 1 else 's'}\n"
            "  hint: give another id, or submit the same"
        )


# --- schedules

_LABEL: Final = "Schedule"
_TEXTS: Final = ("cron", "program", "agent", "model", "tenant", "conversation")
_CHANCE: Final = re.compile(r"(?i)[hr](?![a-z])")
_MADE_UP_FOR: Final = 600.0  # seconds since a time that was missed


@frozen
class Schedule:
    """Runs that are submitted at times.

    Attributes:
        name: names it; it begins the ids of its runs.
        cron: the times, as in a crontab: minute, hour, day of the month, month, day of the week.
        input: what the user says, or the arguments by name.
        options: how to run it.
        facts: ``tenant``, ``conversation`` and ``priority`` of its runs.
    """

    name: str
    cron: str
    program: lenses_ext.Project
    input: Given
    options: KeptOptions = field(factory=lambda: KeptOptions())
    facts: Mapping[str, Any] = field(factory=dict)

    def run_at(self, timestamp: int) -> str:
        """The id of the run of a time."""
        return f"{self.name}-{datetime.fromtimestamp(timestamp, UTC):%Y%m%dT%H%M%SZ}"

    def times(self, after: float | None, until: float) -> Iterator[int]:
        """Its times in some period, without those too long ago to be made up for.

        Args:
            after: when the period begins, in seconds since 1970; None for the last time alone.
            until: when it ends.
        """
        from croniter import croniter  # an extra

        oldest = until - _MADE_UP_FOR
        if after is None:
            after = croniter(self.cron, int(until) + 1).get_prev(float) - 1
        following = croniter(self.cron, max(after, oldest))
        while (timestamp := int(following.get_next(float))) <= until:
            yield timestamp


def submit_due(
    schedules: Iterable[Schedule], store: RunStore, after: float | None, until: float
) -> None:
    """Submit the runs of some schedules for their times in a period, see `Schedule.times`.

    What cannot be submitted is logged.
    """
    for each in schedules:
        for timestamp in each.times(after, until):
            run = each.run_at(timestamp)
            try:
                submit(
                    each.program, each.input, store=store, run_id=run, **each.options, **each.facts
                )
            except GramError as error:
                if is_of_database(error):
                    raise
                told = f"the run cannot be submitted: {without_keys(str(error))}"
                log_event("schedule_failed", told, logging.WARNING, run=run)


def read_schedules(path: str | Path) -> tuple[Schedule, ...]:
    """Read a file of schedules; the programs in it are found from its folder.

    Raises:
        OSError: it cannot be read.
        GramDecodeError: it is not gram.
        ValidationError: it has something else than schedules, or one of them is wrong.
        ConfigurationError: Procrastinate is not installed.
    """
    expect(path, (str, Path), "path", by="read_schedules")
    path = resolved(Path(path))  # refuses what is no path
    document = parse_gram(decode(path.read_bytes(), str(path)), str(path))
    patterns = document.patterns[1:] if document.header is not None else document.patterns
    others = (each for each in patterns if _LABEL not in each.value.labels)
    faults = [_fault(each, "a file of schedules has only [name:Schedule {…}]") for each in others]
    faults += schedule_faults(document)
    if faults:
        raise errors.ValidationError.of(faults)
    return tuple(_schedule(each, path.parent) for each in patterns)


def schedule_faults(document: Document) -> tuple[Diagnostic, ...]:
    """What is wrong with the schedules of a document: their times, their programs, their inputs."""
    expect_procrastinate()
    patterns = [each for each in document.patterns if _LABEL in each.value.labels]
    names = Counter(each.value.identity for each in patterns)
    twice = {name for name, count in names.items() if count > 1}
    folder = Path(document.filename or "").parent
    return tuple(fault for each in patterns for fault in _faults_of(each, twice, folder))


def _faults_of(pattern: Pattern, twice: set[str], folder: Path) -> Iterator[Diagnostic]:
    name = pattern.value.identity
    if not name:
        yield _fault(pattern, "a schedule needs a name: [name:Schedule {…}]")
    elif name in twice:
        yield _fault(pattern, f'there are two schedules "{name}"')
    try:
        cron = _read(pattern)["cron"]
    except errors.ValidationError as error:
        yield from error.faults
        return
    if told := _wrong_time(cron):
        yield _fault(pattern, told, "cron")
    part = "program"
    try:
        schedule = _schedule(pattern, folder)
        to_submit(schedule.program, schedule.input, schedule.options)
        part = "identity"
        _facts_of(schedule.run_at(0), **schedule.facts)
    except OSError as error:
        yield _fault(pattern, f"{error.filename}: {error.strerror}", "program")
    except GramError as error:
        yield _fault(pattern, f"this cannot be submitted: {error}", part)


def _read(pattern: Pattern) -> dict[str, Any]:
    read = Reader(pattern, _LABEL, (*_TEXTS, "input", "priority"))
    said = read.properties.get("input")
    if not isinstance(said, str | PMap | None):
        told = "input of Schedule must be a string, or a map of the arguments"
        read.refuse("ill-typed", told, "input")
    needed = ("cron", "program") if isinstance(said, PMap) else ("cron", "program", "input")
    given = dict.fromkeys((*needed, *filter(read.has, _TEXTS)))
    return read.properties | {key: read.text(key) for key in given}


def _schedule(pattern: Pattern, folder: Path) -> Schedule:
    given = _read(pattern)
    return Schedule(
        pattern.value.identity,
        given["cron"],
        lenses_ext.load_project(folder / given["program"]),
        cast(Given, thaw(given["input"])),
        KeptOptions(agent=given.get("agent"), model=given.get("model")),
        {key: given[key] for key in ("tenant", "conversation", "priority") if key in given},
    )


def _wrong_time(cron: str) -> str | None:
    from croniter import CroniterBadDateError, croniter

    fields = cron.split()
    has_chance = any(_CHANCE.match(each) for each in fields)  # each worker would draw another time
    if not croniter.is_valid(cron) or len(fields) != 5 or has_chance:
        example = '"0 7 * * 1-5" (minute, hour, day, month, day of the week)'
        return f'cron "{cron}" is not like {example}'
    try:
        croniter(cron, 0).get_next(float)
    except CroniterBadDateError:
        return f'cron "{cron}" never comes: no month that it names has such a day'
    return None


def _fault(pattern: Pattern, message: str, key: str | None = None) -> Diagnostic:
    return Diagnostic.of("schedule", message, pattern, key or "identity")
