"""A judge that is an agent: it scores answers without knowing whose they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Unpack

from gram import dumps, expect
from lenses_ext import ProgramLike, agent_answer, view

from ..errors import AgentError, ConfigurationError
from ..execution import RunOptions, begin
from ..json_text import Json, write_json
from ..programs import the_agent
from ..tools import ToolLibrary, empty_tool_library
from .comparing import Better
from .metrics import Metric
from .trials import Score, Trial


def judged_by(
    program: ProgramLike,
    library: ToolLibrary = empty_tool_library,
    *,
    name: str = "judged",
    better: Better = "higher",
    **options: Unpack[RunOptions],
) -> Metric:
    """A metric that asks an agent about each answer.

    The judge is told the input, what the case expects and the answer, as JSON. It sees neither
    the arm, nor the order, nor another answer. Its program declares the type of its verdict: a
    boolean, a number, or a record with a field ``score`` of one of them. Each verdict is a run of
    its own, which is recorded beside the run that it judges.

    Args:
        program: the judge.
        library: its tools.
        name: the name of the metric.
        better: whether higher or lower scores are better.
        **options: how to run it, see `RunOptions`.

    Raises:
        ValidationError: the program is not valid.
        ConfigurationError: the program declares no type for its answer.

    """
    expect(library, ToolLibrary, "library", by="judged_by")
    agent = the_agent(program, by="judged_by")
    if view(agent_answer, agent) is None:
        raise ConfigurationError(
            "a judge must declare the type of its answer, such as (:Answer:Boolean)"
        )
    begin(agent, "a first answer", library, **options)  # it binds, and its model is known

    async def measure(trial: Trial) -> Score:
        told = {"input": trial.case.input, "answer": trial.content}
        if trial.case.has_expected:
            told["expected"] = trial.case.expected
        chosen: RunOptions = {**options}
        chosen["record"] = _record_beside(trial.file, name)
        try:
            response = await begin(agent, write_json(told), library, **chosen).afinish()
        except AgentError as error:
            return Score(None, f"the judge failed: {error}")
        return _verdict(response.value)

    details = "\0".join([dumps(agent), *map(str, options.values())])
    return Metric(name, measure, better, details=details)


def _verdict(value: Json) -> Score:
    reason: Any = None
    if isinstance(value, dict):
        reason = value.get("reason")
        value = value.get("score")
    if isinstance(value, bool | int | float):
        return Score(value, reason if isinstance(reason, str) else None)
    return Score(None, f"the judge's verdict is neither a boolean nor a number: {value!r}")


def _record_beside(file: Path | None, name: str) -> Path | None:
    if file is None:
        return None
    stem = file.name.removesuffix(".run.gram")
    record = file.with_name(f"{stem}.{slug(name)}.run.gram")
    record.unlink(missing_ok=True)  # of a judge that was interrupted
    return record


def slug(name: str) -> str:
    """A name as a part of the name of a file."""
    return "".join(each if each.isalnum() or each in "-_" else "-" for each in name)[:24]
