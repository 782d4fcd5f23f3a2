"""A judge that is an agent: it scores answers without knowing whose they are."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Mapping
from typing import Any, Unpack, cast

from attrs import evolve

from gram import dumps
from lenses_ext import Model, ProgramLike, agent_model, view

from ...errors import AgentError
from ...execution import Spending, named_model
from ...history.stores import StoredRun, open_store
from ...machine import ApprovalPolicy, Effect, Event, Limits
from ...running import BeginOptions, RunOptions, begin
from ...tools import LibraryLike, library_of
from ..cases.judging import judge_of, question_of, verdict_in
from ..testing import file_name
from .comparing import Better
from .metrics import Metric, Score, Trial
from .plan import described, tool_entry


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
    agent = judge_of(program)
    begin(agent, "a first answer", library, **options)  # it binds, and its model is known
    asked = named_model(options.get("model")) or view(agent_model, agent)

    async def measure(trial: Trial) -> Score:
        spending, theirs = Spending(), options.get("observe")

        def observe(effect: Effect, event: Event) -> Awaitable[None] | None:
            spending.count(effect, event)
            return theirs(effect, event) if theirs else None

        chosen = cast(BeginOptions, {**options, "observe": observe})
        if trial.run:
            own = f"{trial.run.run}.{file_name(name)}:{os.urandom(4).hex()}"
            store = open_store(trial.run.place)
            chosen["record"] = StoredRun(store, own, closes_store=True)
        run = begin(agent, question_of(trial.case, answer=trial.content), library, **chosen)
        try:
            value, reason = verdict_in((await run.afinish()).value)
            score = Score(value, reason)
            if not isinstance(value, bool | int | float):
                told = f"the judge's verdict is neither a boolean nor a number: {value!r}"
                score = Score(None, told)
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
