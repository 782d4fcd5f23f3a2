"""A judge that is an agent: it scores answers without knowing whose they are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Unpack

from attrs import evolve

from gram import dumps
from lenses_ext import Model, ProgramLike, agent_answer, agent_model, view

from ...errors import AgentError, ConfigurationError
from ...execution import Spending, named_model
from ...history.stores import Address, StoredRun, open_store
from ...json_text import Json, write_json
from ...machine import ApprovalPolicy, Effect, Event, Limits, Step
from ...programs import the_agent
from ...running import RunOptions, begin
from ...tools import LibraryLike, library_of
from ..testing import file_name
from .comparing import Better
from .metrics import Metric
from .plan import described, tool_entry
from .trials import Score, Trial


def judged_by(
    program: ProgramLike,
    tools: LibraryLike = None,
    *,
    name: str = "judged",
    better: Better = "higher",
    **options: Unpack[RunOptions],
) -> Metric:
    """A metric that asks an agent about each answer.

    The judge is told the input, what the case expects and the answer, as JSON. It sees neither
    the arm, nor the order, nor another answer. Its program declares the type of its verdict: a
    boolean, a number, or a record with a field ``score`` of one of them. Each verdict is a run of
    its own, which is recorded beside the one that it judges.

    Args:
        program: the judge.
        tools: its tools.
        name: the name of the metric.
        better: whether higher or lower scores are better.
        **options: how to run it, see `RunOptions`.

    Raises:
        ValidationError: the program is not valid.
        ConfigurationError: the program declares no type for its answer.

    """
    library = library_of(tools, by="judged_by")
    agent = the_agent(program, by="judged_by")
    if view(agent_answer, agent) is None:
        raise ConfigurationError(
            "a judge must declare the type of its answer, such as (:Answer:Boolean)"
        )
    begin(agent, "a first answer", library, **options)  # it binds, and its model is known
    asked = named_model(options.get("model")) or view(agent_model, agent)

    async def measure(trial: Trial) -> Score:
        told = {"input": trial.case.input, "answer": trial.content}
        if trial.case.has_expected:
            told["expected"] = trial.case.expected
        chosen: RunOptions = {**options}
        if trial.run:
            run_of_judge = f"{beginning_of_judge(trial.run, name)}{os.urandom(4).hex()}"
            store = open_store(trial.run.place)
            chosen["record"] = StoredRun(store, run_of_judge, closes_store=True)
        spending, theirs = Spending(), options.get("watch")

        async def watch(effect: Effect | None, event: Event, step: Step) -> None:
            spending.count(effect, event)
            told = theirs(effect, event, step) if theirs else None
            if told is not None:
                await told

        chosen["watch"] = watch
        run = begin(agent, write_json(told), library, **chosen)
        try:
            score = _verdict((await run.afinish()).value)
        except AgentError as error:
            score = Score(None, f"the judge failed: {error}")
        return evolve(score, usage=run.state.usage, cost=spending.cost(asked))

    written = [dumps(tool_entry(each)) for each in library.values()]
    chosen_before = [f"{key}={_told(value)}" for key, value in sorted(options.items())]
    details = "\0".join([dumps(agent), *written, *chosen_before])
    return Metric(name, measure, better, judge=str(asked), details=details)


def _told(option: Any) -> str:
    """What a plan can know of an option: the same in another process."""
    is_told = isinstance(option, str | int | float | Mapping | Model | Limits | ApprovalPolicy)
    return str(option) if is_told or option is None else described(option)


def _verdict(value: Json) -> Score:
    reason: Any = None
    if isinstance(value, dict):
        reason = value.get("reason")
        value = value.get("score")
    if isinstance(value, bool | int | float):
        return Score(value, reason if isinstance(reason, str) else None)
    return Score(None, f"the judge's verdict is neither a boolean nor a number: {value!r}")


def beginning_of_judge(run: Address, name: str) -> str:
    """How the ids of the runs of a judge begin: with that of the run that they judge.

    Args:
        run: the run that is judged.
        name: the name of the metric.
    """
    return f"{run.run}.{file_name(name)}:"
