"""The keywords of `run` and of the other functions that run an agent."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypedDict, _SpecialForm

from typing_extensions import TypeVar

from gram import ArgumentError, Pattern, walk
from gram.errors import expect
from gram.extras import install
from gram.words import did_you_mean
from lenses_ext import Model, agent_models, agent_settings, each_agent, over, put, view
from lenses_ext.schemas import Match
from lenses_ext.weak_cache import memo

from .. import execution
from ..errors import ConfigurationError
from ..machine import ApprovalPolicy, Limits, LimitsLike, State, limits_of
from ..models import Dialect, context_window, cost_at, find_provider
from ..programs import fallbacks_of, models_of

if TYPE_CHECKING:
    from ..history.stores import RecordLike

V = TypeVar("V", default=Any)
V_co = TypeVar("V_co", covariant=True, default=Any)


class RunOptions(TypedDict, total=False):
    """The keywords of every way to run an agent.

    What a State keeps (``model`` by its name, ``limits``, ``policy``, ``settings`` and
    ``check_results``) need not be given again when a run is resumed; what is given changes it.

    Attributes:
        model: which model to ask instead of the program's.
        base_url: where to ask for the model instead of its provider's own address.
        dialect: the dialect to speak to its server, see `OpenAIModel`, instead of its provider's.
        settings: settings of the model instead of those that the program has, such as
            ``{"temperature": 0.2}``; None as a value leaves one out.
        limits: how much the run may do: `Limits`, or some by name, as ``{"iterations": 3}``.
        match: how closely tools have to match, see `bind_tool`.
        check_results: whether a tool's result has to be of the type that the program declares;
            the model is told of one that is not.
        policy: which tools it may run, and which it asks about; with an approver alone it asks
            about all.
        approve: decides about a call that the policy asks about, by True, False or the reason for
            a no; None leaves it open.
        on_tool_error: ``tell`` the model of a tool that raised (the default), or ``raise`` its
            ToolError, whose cause is what the tool raised.
        observe: called with every effect and the event that answered it.
        watch: the same with the step that the event led to, see `Watcher`.
        at_once: how many effects may be under way at once; None is no limit. With 1, all plain
            tools of the run are called in one thread: with ``tool_seconds=None`` in the one that
            waits for the run.
        record: what the run is recorded in, so that it can be resumed and replayed: a new run file,
            a store such as ``runs.db`` or ``postgresql://…`` (or one that is open), or a log.
        conversation: the conversation that the run is a turn of: its name in the store, or True for
            the last one with this program, or for the one of a run file. Its messages are the
            context, and an answer adds to them.
        handler: what performs the effects, instead of one made of the library and the options.
        telemetry: makes OpenTelemetry spans of the run, see `interp.execution.telemetry`.
        cost_of: what tokens of a model cost in US dollars, for ``Limits(cost=…)``: called with a
            `Model` and a `Usage`. None means the prices that ``gram-agents[prices]`` keeps;
            servers on this machine cost nothing.
    """

    model: execution.ModelChoice
    base_url: str | None
    dialect: Dialect | None
    settings: Mapping[str, Any] | None
    limits: LimitsLike | None
    match: Match
    check_results: bool | None
    policy: ApprovalPolicy | None
    approve: execution.Approver | None
    on_tool_error: execution.OnToolError
    observe: execution.Observer | None
    watch: execution.Watcher | None
    at_once: int | None
    record: RecordLike | None
    conversation: str | bool | None
    handler: execution.Handler | None
    telemetry: execution.Telemetry | None
    cost_of: execution.CostOf | None


class _UnionOf(Protocol[V_co]):
    """A union such as ``int | str``: whatever type checkers make of it, its values are of any."""

    @property
    def __args__(self) -> tuple[V_co, ...]: ...


TypeOfAnswer: TypeAlias = type[V] | _UnionOf[V] | _SpecialForm | None
"""The Python type of an answer."""


class BeginOptions(RunOptions, Generic[V], total=False):
    """The keywords of what begins a run: those of `RunOptions`, and which agent.

    Attributes:
        agent: the name of the agent to run; None for the only one.
        answer_type: a Python type that the answer has to be of, such as a pydantic model, a
            dataclass or ``list[str]``, see `answer_of`; the response's ``value`` is of it. It is
            put into the program, so that it is refused where this declares another one.
        fallbacks: models to ask in turn where the program's cannot be reached, are overloaded or
            are unknown to their servers; they are written into the program that is run.
    """

    agent: str | None
    answer_type: TypeOfAnswer[V]
    fallbacks: Sequence[Model | str] | None


def check_options(options: RunOptions | BeginOptions, *, by: str) -> None:
    """Refuse options of the wrong type, before anything is done with them.

    Raises:
        ArgumentError: an option is of the wrong type, or there is none of its name.
        ConfigurationError: ``on_tool_error`` or ``at_once`` has a value that it cannot have.
    """
    for name, value in options.items():
        if value is not None and (kind := _KINDS.get(name)) is not None:
            expect(value, kind, name, by=by)
    record = options.get("record")
    if record is not None and not hasattr(record, "held"):  # what has that is a log of runs
        from ..history.stores import RunStore  # imported late: most runs are not recorded

        expect(record, (RunStore, str, os.PathLike), "record", by=by)
    handler = options.get("handler")
    if handler is not None and not hasattr(handler, "perform"):
        raise ArgumentError(f"{by}: handler must have perform, got {type(handler).__name__}")
    if options.get("conversation") and record is None:
        raise ConfigurationError("a conversation is kept somewhere: give record, too")
    if (at_once := options.get("at_once")) is not None and at_once < 1:
        raise ConfigurationError(f"at_once is at least 1, found {at_once}")
    if unknown := sorted(options.keys() - _NAMES.keys()):
        hint = did_you_mean(unknown[0], _NAMES)
        raise ArgumentError(f"{by}: there is no option {unknown[0]}; {hint or 'see RunOptions'}")
    if (found := options.get("on_tool_error", "tell")) not in ("tell", "raise"):
        raise ConfigurationError(f'on_tool_error must be "tell" or "raise", found {found!r}')


_NAMES = {**RunOptions.__annotations__, **BeginOptions.__annotations__}

_KINDS: Mapping[str, Any] = {
    "limits": (Limits, Mapping),
    "settings": Mapping,
    "policy": ApprovalPolicy,
    **dict.fromkeys(("approve", "observe", "watch", "cost_of"), Callable),
    "at_once": int,
    "base_url": str,
    "dialect": str,
    "conversation": (str, bool),
    "agent": str,
    "telemetry": execution.Telemetry,
}


def with_windows(program: Pattern) -> Pattern:
    """A program whose agents that summarise say how long their conversations may be.

    What is not written comes from the row of the model's provider or from the package of prices,
    and is written into the program that is run, so that its record has it.

    Raises:
        ConfigurationError: the window of a model is not known.
    """
    return over(each_agent, _with_window, program) if _summarises(program) else program


@memo  # most programs have no such agent, and each run asks
def _summarises(program: Pattern) -> bool:
    return any(
        "compactAt" in str(each.value.properties.get("settings")) for _, each in walk(program)
    )


def _with_window(agent: Pattern) -> Pattern:
    settings = view(agent_settings, agent)
    if not settings or "compactAt" not in settings or "contextWindow" in settings:
        return agent
    windows = []
    for model in view(agent_models, agent):
        row = find_provider(model)
        window = (row and row.context_window) or context_window(model)
        if window is None:
            raise ConfigurationError(
                f"compactAt is a share of the context window, and that of {model} is not known\n"
                f"  hint: write contextWindow beside it, or {install('prices')}"
            )
        windows.append(window)
    return put(agent_settings, settings.with_changes({"contextWindow": min(windows)}), agent)


def budget_of(state: State, options: RunOptions) -> execution.Budget | None:
    """What knows the cost of a run; None where it is not limited and nobody gives prices.

    Raises:
        ConfigurationError: the cost is limited, and the price of a model is not known.
    """
    limits = limits_of(options.get("limits"), state.limits) or state.limits
    cost_of = options.get("cost_of")
    if limits.cost is None and cost_of is None:
        return None
    named = execution.named_model(options.get("model")) or state.model
    models = (named,) if named else (*models_of(state.agent), *fallbacks_of(state.agent))
    rows = {each: find_provider(each) for each in models}
    given = options.get("base_url")
    addresses = {each: given or (row.address if row else "") for each, row in rows.items()}
    budget = execution.Budget(cost_of or cost_at(addresses))
    if limits.cost is not None:
        budget.check(models)
    return budget
