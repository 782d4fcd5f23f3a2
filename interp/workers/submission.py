"""Submitting a run: it is in the store then, and a worker takes it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any, Final, TypedDict, Unpack, cast

from gram import origin
from gram.errors import expect
from lenses_ext import (
    Model,
    ProgramLike,
    result_schema,
    tool_spec_description,
    tool_spec_name,
    tool_spec_schema,
    view,
)
from lenses_ext.schemas import Match

from ..errors import ConfigurationError, RunExistsError, StoreError, ToolBindingError
from ..execution import current_trace
from ..history.records import RecordedRun
from ..history.stores import (
    ENDED,
    PostgresDatabase,
    RunFacts,
    RunStore,
    StoredRun,
    StoreLike,
    open_store,
)
from ..json_text import write_json
from ..machine import ApprovalPolicy, Given, Limits, State, empty_context, start_again
from ..models import OFFLINE, connect_model, find_provider, unknown_provider
from ..programs import models_of, tools_to_bind
from ..running import BeginOptions, first_state_of
from ..secrets import without_keys
from ..tools import ToolLibrary, bind_agent_tools, empty_tool_library
from .queue import MOST_PRIORITY, RunQueue


def models_asked(state: State) -> tuple[Model, ...]:
    """The models that a run asks: one for all, or those that its program names."""
    return (state.model,) if state.model else models_of(state.agent)


def queue_of(state: State, own_tools: Iterable[str] = ()) -> str:
    """The name of the queue for the runs that need the same as a run.

    Tools are the same if binding cannot tell them apart, however they are written.

    Args:
        state: the run as it begins.
        own_tools: the names of the tools of its own that it was recorded with.
    """
    tools = {  # agents may have different ones of the same name
        write_json(
            [
                view(tool_spec_name, spec),
                view(tool_spec_description, spec),
                view(tool_spec_schema, spec),
                result_schema(spec),
            ]
        )
        for spec in tools_to_bind(state.agent)
    }
    models = {f"{model.provider.lower()}/{model.name}" for model in models_asked(state)}
    needed = [*sorted(tools), *sorted(models), *(f"own {each}" for each in sorted(own_tools))]
    return f"runs-{sha256(chr(10).join(needed).encode()).hexdigest()[:32]}"


def why_not(run: RecordedRun, library: ToolLibrary, match: Match) -> str | None:
    """Why a run cannot be driven here, in one line; None if it can.

    It is the same for all runs of a queue, see `queue_of`.

    Args:
        run: the run.
        library: the implementations of tools that are here.
        match: how closely they have to match.
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
    """The options of a run that are kept with it, see `RunOptions`.

    Attributes:
        agent: the name of the agent to run; None for the only one.
        model: which model to ask instead of the program's, by its name.
        settings: settings of the model instead of those that the program has.
        limits: how much the run may do.
        policy: which tools it may run, and which it asks about.
        check_results: whether a tool's result has to be of the type that the program declares.
        answer_type: the Python type of the answer, which is put into the program.
        fallbacks: models to ask in turn where others cannot be; they are put into the program.
    """

    agent: str | None
    model: str | Model | None
    settings: Mapping[str, Any] | None
    limits: Limits | None
    policy: ApprovalPolicy | None
    check_results: bool | None
    answer_type: Any
    fallbacks: Sequence[Model | str] | None


_NAME: Final = re.compile(r"[\w.:@/+-]{1,100}", re.ASCII)


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
    _check_names(run_id=run_id, conversation=conversation, tenant=tenant)
    expect(priority, int, "priority", by="submit")
    if abs(priority) > MOST_PRIORITY:
        raise ConfigurationError(
            f"submit: priority is from -{MOST_PRIORITY} to {MOST_PRIORITY}, found {priority}"
        )
    expect(at, (datetime, type(None)), "at", by="submit")
    if at is not None and at.tzinfo is None:
        raise ConfigurationError("submit: at needs a time zone, such as datetime.now(UTC)")
    state = to_submit(program, user_input, options, run_id)
    facts = RunFacts(
        "", tenant=tenant, conversation=conversation, priority=priority, trace=current_trace()
    )
    if isinstance(store, RunStore):
        return _submitted(store, state, facts, at)
    with open_store(store) as opened:
        return _submitted(opened, state, facts, at)


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
    state = first_state_of(
        program,
        user_input,
        empty_tool_library,
        empty_context,
        cast(BeginOptions, options),
        by="submit",
        run_id=run_id,
    )
    for model in models_asked(state):
        if model.provider == OFFLINE.provider:
            connect_model(model)  # refuses another offline model than the one there is
        elif find_provider(model) is None:
            raise ConfigurationError(unknown_provider(model))
    return state


def postgres_of(store: RunStore) -> PostgresDatabase:
    """The database of a store that can have workers, with the tables of both.

    Raises:
        ConfigurationError: it is not on Postgres, or Procrastinate is not installed.
        StoreError: it cannot be reached.
    """
    if not isinstance(store.database, PostgresDatabase):
        raise ConfigurationError(
            f"{store.name}: workers need a store on Postgres, which tells them of new runs\n"
            "  hint: give --record postgresql://user@host/database (store= in Python)"
        )
    store.ready()
    RunQueue(store.database)  # makes the tables
    return store.database


def _submitted(store: RunStore, state: State, facts: RunFacts, at: datetime | None) -> str:
    database = postgres_of(store)
    queue = RunQueue(database)
    run, due = state.run_id, None if at is None else at.timestamp()

    def work() -> None:
        StoredRun(store, run, facts=facts, status="queued").begin(state, ())
        queue.add(run, queue_of(state), due)

    try:
        database.together(work)
    except RunExistsError:
        kept = store.recorded(run)
        _expect_same(store, queue, kept.first, state, facts, due)
        if store.row(run).status not in ENDED:
            queue.add(run, queue_of(state, kept.own_tools), due)
    return run


def _expect_same(
    store: RunStore,
    queue: RunQueue,
    kept: State,
    state: State,
    facts: RunFacts,
    due: float | None,
) -> None:
    """Refuse to go on unless the run that the store has is the one that is submitted."""
    had, when = store.row(state.run_id).facts, queue.due(state.run_id)
    others = [
        f"the {name}"
        for name in ("conversation", "tenant", "priority")
        if getattr(had, name) != getattr(facts, name)
    ]
    if start_again(kept, kept.agent, empty_context).state != state:
        others.insert(0, "the program, the input or an option")
    if when is not None and when != (due or 0.0):  # None where it does not matter any more
        others.append("the time")
    if others:
        raise StoreError(
            f"{store.name_of(state.run_id)}: another run was submitted under this id: "
            f"{', '.join(others)} differ{'' if len(others) > 1 else 's'}\n"
            "  hint: give another id, or submit the same"
        )


def _check_names(**names: str | None) -> None:
    for name, value in names.items():
        expect(value, (str, type(None)), name, by="submit")
        if value is not None and not _NAME.fullmatch(value):
            raise ConfigurationError(
                f"submit: {name} is 1 to 100 letters, digits or any of _ . : @ / + -; "
                f"found {value!r}"
            )
