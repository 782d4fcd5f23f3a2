"""Runs of an agent that are drawn, and invariants that are held against many of them."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, Union, cast

from attrs import evolve, frozen
from hypothesis import HealthCheck, Phase, given, settings, strategies as st

from gram import ArgumentError, Pattern, dumps, origin
from gram.documents import resolved
from gram.errors import expect
from lenses_ext import ProgramLike, tool_spec_name, view
from lenses_ext.strategies import json_values

from ... import machine
from ...errors import AgentError, ToolBindingError, ToolError
from ...execution import startable
from ...history.records import PathLike, RecordedRun, RecordedStep, Replayer, RunFile
from ...json_text import Json, write_json
from ...machine import Ask, At, CallFailed, CallModel, CallTool, Effect, Event, Message
from ...models import read_reply
from ...programs import the_agent, tools_to_bind
from ...tools import LibraryLike, Tool, call_tool, explain_binding, library_of, returned_unfinished
from .worlds import replies_with, results_of, words_for

Library: TypeAlias = Union[LibraryLike, Callable[[], LibraryLike]]
"""The tools of runs: a library, or a function that makes a fresh one for each run."""

_OUTCOMES = ["returns", "returns", "returns", "fails", "times out", "odd"]

_MOST_ROUNDS = 8  # replies that may call tools; those after them are words alone


def runs(
    program: ProgramLike,
    tools: Library = None,
    *,
    agent: str | None = None,
    inputs: st.SearchStrategy[str] | None = None,
    policy: machine.ApprovalPolicy = machine.allow_all,
    limits: machine.LimitsLike = machine.Limits(iterations=4),
    hostile: bool = True,
) -> st.SearchStrategy[RecordedRun]:
    """Runs of an agent, to their end or to where something stops them; short ones first.

    What the model replies, what tools answer, who allows what, which of several calls ends first
    and when the time is up are drawn, so the smallest run that breaks an invariant is found.

    Args:
        program: the program, as for `run`.
        tools: implementations that are called, or a function that makes fresh ones for each
            run; a tool that it lacks gives drawn results.
        agent: the name of the agent, where the program has several.
        inputs: what the user says; "hello" by default.
        policy: which tools may be run, and which are asked about.
        limits: how much a run may do, as for `run`.
        hostile: whether the model misbehaves (see `replies_to`), tools fail, and time runs out.

    Raises:
        ArgumentError: an argument is of the wrong type.
        ValidationError: the program is invalid.
        ToolBindingError: the library does not implement a tool as it is written.
    """
    expect(policy, machine.ApprovalPolicy, "policy", by="runs")
    expect(inputs, (st.SearchStrategy, type(None)), "inputs", by="runs")
    expect(limits, (machine.Limits, Mapping), "limits", by="runs")
    most = machine.limits_of(limits, machine.Limits(iterations=4))
    assert most  # limits were given
    pattern = the_agent(program, agent, by="runs")
    is_made = callable(tools) and not isinstance(tools, Tool)
    make = cast(Callable[[], LibraryLike], tools if is_made else lambda: tools)
    said = st.just("hello") if inputs is None else inputs
    drawn = _Drawn(pattern, make, said, policy, most, hostile)
    drawn.tools()  # so that a library that does not fit is told of before anything is drawn
    return _runs(drawn)


@frozen(repr=False)
class _Drawn:
    """What runs are drawn of; its short repr is what Hypothesis shows."""

    agent: Pattern
    library: Callable[[], LibraryLike]
    inputs: st.SearchStrategy[str]
    policy: machine.ApprovalPolicy
    limits: machine.Limits
    hostile: bool

    def __repr__(self) -> str:
        return self.agent.value.identity

    @property
    def specs(self) -> dict[str, Pattern]:
        """The specifications of its tools, also of those in the agents and workflows in it."""
        return {view(tool_spec_name, each): each for each in tools_to_bind(self.agent)}

    def tools(self) -> Mapping[str, Tool]:
        """The implementations that are there, by the names of the specifications."""
        library = library_of(self.library(), by="runs")
        there = {name: spec for name, spec in self.specs.items() if name in library}
        problems = [found for spec in there.values() if (found := explain_binding(spec, library))]
        if problems:
            raise ToolBindingError(problems)
        return {name: library[name] for name in there}


@st.composite
def _runs(draw: st.DrawFn, drawn: _Drawn) -> RecordedRun:
    text = draw(drawn.inputs)
    how: Any = {"limits": drawn.limits, "policy": drawn.policy, "run_id": "drawn"}
    first, effects, _ = machine.start(drawn.agent, text, **how)
    handler = _DrawnHandler(draw, drawn)
    ends_after = draw(st.sampled_from([None] * 10 + [*range(10)])) if drawn.hostile else None
    replayer, waiting = Replayer(first), list(effects)
    steps: list[RecordedStep] = []
    while effect := _next(draw, waiting):
        if not machine.waits_for(replayer.state, effect):  # a workflow failed that it was a part of
            continue
        event: Event | None
        if len(steps) == ends_after:
            event, waiting = machine.TimeUp(), []
        else:
            event = handler.perform(effect)
        if event is None:  # the model failed: the run stops, and could be resumed
            break
        steps.append(replayer.take(event))
        waiting += steps[-1].effects
    read = origin(drawn.agent)
    written = read.source.text if read else dumps(drawn.agent)
    return RecordedRun(first, tuple(steps), written, None, ())


def _next(draw: st.DrawFn, waiting: list[Effect]) -> Effect | None:
    """Take out one of the effects that may be under way: whichever ends first."""
    if not (may_end := startable(waiting)):
        return None
    index = draw(st.integers(0, len(may_end) - 1)) if len(may_end) > 1 else 0
    waiting.remove(may_end[index])
    return may_end[index]


class _DrawnHandler:
    """Performs effects with what is drawn, and with the tools that are there."""

    def __init__(self, draw: st.DrawFn, drawn: _Drawn) -> None:
        self._draw = draw
        self._drawn = drawn
        self._tools = drawn.tools()
        self._last: Any = None
        # The number comes first: the search lowers it, and leaves out one of what it counts.
        self._rounds = draw(st.integers(0, _MOST_ROUNDS))
        self._fates: dict[At, _Fate] = {}

    def perform(self, effect: Effect) -> Event | None:
        """The event that answers an effect; None where the model fails."""
        match effect:
            case CallModel():
                return self._replied(effect)
            case Ask():
                return machine.Decided(effect.at, self._fate(effect).allowed)
            case CallTool():
                return self._called(effect)

    def _fate(self, effect: CallTool | Ask) -> _Fate:
        """What becomes of a call; a step of a workflow was called by no reply."""
        if effect.at not in self._fates:
            self._fates[effect.at] = self._draw(_fate(self._drawn, self._tools, effect.name))
        return self._fates[effect.at]

    def _replied(self, effect: CallModel) -> Event | None:
        if self._rounds:
            self._rounds -= 1
            drawn = _round(self._drawn, self._tools, effect.request, self._last)
            self._last, fates = self._draw(drawn)
            self._fates |= {(*effect.at, index): each for index, each in enumerate(fates)}
        else:
            self._last = self._draw(words_for(effect.request))
        try:
            read = read_reply(self._last, effect.request)
        except AgentError:
            return None
        return machine.ModelReplied(effect.at, read.message, read.usage, read.truncated)

    def _called(self, effect: CallTool) -> Event:
        fate = self._fate(effect)
        if fate.outcome == "fails":
            return CallFailed(effect.at, "the tool is out of order")
        tool = self._tools.get(effect.name)
        result: tuple[Any, ...] = (write_json(fate.result),)
        if tool is not None:
            try:
                result = call_tool(tool, effect.args)
            except ToolError as error:
                return CallFailed(effect.at, str(error), error.__cause__ or error)
        if fate.outcome == "times out":
            return CallFailed(effect.at, "timed out; it may have been done")
        return machine.ToolReturned(effect.at, *result)


@frozen
class _Fate:
    """What is drawn of a call before it is made."""

    outcome: str
    allowed: bool
    result: Json = None


@st.composite
def _round(
    draw: st.DrawFn, drawn: _Drawn, tools: Mapping[str, Tool], request: machine.Request, last: Any
) -> tuple[Any, list[_Fate]]:
    """A reply, and what becomes of its calls: one piece, which is left out as a whole."""
    # How many calls of the last reply come again: none, some, or all.
    again = draw(st.sampled_from([0] * 4 + [1, 2] + [3] * 4)) if drawn.hostile else 0
    beside = partial(_fate, drawn, tools)
    if again and isinstance(last, Message) and (calls := last.tool_calls[:again]):
        return evolve(last, tool_calls=calls), [draw(beside(each.name)) for each in calls]
    return draw(replies_with(request, beside, hostile=drawn.hostile))


@st.composite
def _fate(draw: st.DrawFn, drawn: _Drawn, tools: Mapping[str, Tool], name: str) -> _Fate:
    outcome = draw(st.sampled_from(_OUTCOMES)) if drawn.hostile else "returns"
    allowed = draw(st.booleans())
    spec = drawn.specs.get(name)
    if spec is None or name in tools:
        return _Fate(outcome, allowed)
    return _Fate(outcome, allowed, draw(json_values() if outcome == "odd" else results_of(spec)))


def check_runs(
    program: ProgramLike,
    invariant: Callable[[RecordedRun], object],
    tools: Library = None,
    *,
    failing: PathLike | None = None,
    **how: Any,
) -> None:
    """Hold an invariant against many runs of an agent.

    How many is what the profile of Hypothesis says (``max_examples``).

    Args:
        program: the program, as for `run`.
        invariant: takes a run, see `interp.history.RecordedRun`; it raises (such as by
            ``assert``) or returns False where the run breaks it.
        tools: the implementations of tools, see `runs`.
        failing: a file for the smallest run that breaks the invariant, which `gram replay` and
            `gram trace` show; such a file is written anew each time, and removed when none does.
        **how: the other keywords of `runs`.

    Raises:
        ArgumentError: the invariant is no function, or a coroutine or generator function.
        OSError: ``failing`` is another file than a run's, or its folder does not exist.
        AssertionError: a run returned False. What the invariant raises comes as it is, with a note
            of where the run is.
    """
    expect(invariant, Callable, "invariant", by="check_runs")
    if kind := returned_unfinished(invariant):
        raise ArgumentError(f"check_runs: invariant must be a plain function, got {kind}")
    expect(failing, (str, os.PathLike, type(None)), "failing", by="check_runs")
    if failing is not None:
        _forget(Path(failing))
    broken: list[RecordedRun] = []

    def holds(run: RecordedRun) -> None:
        try:
            kept = invariant(run)
            name = getattr(invariant, "__name__", "the invariant")
            assert kept is not False, f"{name} does not hold"
        except BaseException:  # of the user's invariant: the run is kept, then it is raised again
            broken[:] = [run]  # the last that Hypothesis tries is the smallest
            raise

    quiet = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    # Several failures would come as a group, and explaining one runs it many times more.
    run = settings(
        report_multiple_bugs=False,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=quiet,
    )(given(runs(program, tools, **how))(holds))
    try:
        run()
    except Exception as error:
        if broken and failing is not None:
            Path(failing).unlink(missing_ok=True)
            RunFile(failing).begin(broken[0].state, ())
            error.add_note(f"the smallest run that breaks it: {failing}  (gram trace {failing})")
        raise


def _forget(path: Path) -> None:
    """Remove the run that an earlier check has left, and nothing else."""
    if not resolved(path).parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such directory", str(path.parent))
    with suppress(FileNotFoundError):
        if (content := path.read_bytes()) and not content.startswith(b"[:Run "):
            reason = "exists, and is not the record of a run; not overwritten"
            raise FileExistsError(errno.EEXIST, reason, str(path))
        path.unlink()
