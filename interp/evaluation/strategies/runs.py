"""Runs of an agent with a model, tools, people and an order of events that are drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, Union, cast

from attrs import frozen
from hypothesis import strategies as st

from gram import Pattern, dumps, origin
from lenses_ext import ProgramLike, tool_spec_name, view
from lenses_ext.strategies import json_values

from ...errors import AgentError, ToolBindingError, ToolError
from ...execution import startable
from ...history.records import RecordedRun, RecordedStep, Replayer
from ...json_text import write_json
from ...machine import (
    ApprovalPolicy,
    Ask,
    CallFailed,
    CallModel,
    CallTool,
    Decided,
    Effect,
    Event,
    Limits,
    Message,
    ModelReplied,
    TimeUp,
    ToolReturned,
    allow_all,
    start,
    waits_for,
)
from ...models import read_reply
from ...programs import the_agent, tools_to_bind
from ...tools import LibraryLike, Tool, ToolResult, call_tool, explain_binding, library_of
from .arguments import results_of
from .models import replies_to

Library: TypeAlias = Union[LibraryLike, Callable[[], LibraryLike]]
"""The tools of runs: a library, or a function that makes a fresh one for each run."""

_OUTCOMES = ["returns", "returns", "returns", "fails", "times out", "odd"]

_TIMED_OUT = "timed out; it may have been done"


def runs(
    program: ProgramLike,
    library: Library = None,
    *,
    agent: str | None = None,
    inputs: st.SearchStrategy[str] | None = None,
    policy: ApprovalPolicy = allow_all,
    limits: Limits = Limits(iterations=4),
    hostile: bool = True,
) -> st.SearchStrategy[RecordedRun]:
    """Runs of an agent, to their end or to where something stops them; short ones first.

    What the model replies, what tools answer, who allows what, which of several calls ends first
    and when the time is up are drawn, so the smallest run that breaks an invariant is found.

    Args:
        program: the program, as for `run`.
        library: implementations that are called, or a function that makes fresh ones for each
            run; a tool that it lacks gives drawn results.
        agent: the name of the agent, where the program has several.
        inputs: what the user says; "hello" by default.
        policy: which tools may be run, and which are asked about.
        limits: how much a run may do.
        hostile: whether the model misbehaves (see `replies_to`), tools fail, and time runs out.

    Raises:
        ValidationError: the program is invalid.
        ToolBindingError: the library does not implement a tool as it is written.
    """
    pattern = the_agent(program, agent, by="runs")
    is_made = callable(library) and not isinstance(library, Tool)
    make = cast(Callable[[], LibraryLike], library if is_made else lambda: library)
    drawn = _Drawn(
        pattern, make, st.just("hello") if inputs is None else inputs, policy, limits, hostile
    )
    drawn.tools()  # so that a library that does not fit is told of before anything is drawn
    return _runs(drawn)


@frozen(repr=False)
class _Drawn:
    """What runs are drawn of; its short repr is what Hypothesis shows."""

    agent: Pattern
    library: Callable[[], LibraryLike]
    inputs: st.SearchStrategy[str]
    policy: ApprovalPolicy
    limits: Limits
    hostile: bool

    def __repr__(self) -> str:
        return self.agent.value.identity

    @property
    def specs(self) -> dict[str, Pattern]:
        """The specifications of its tools, also of those in the agents and workflows in it."""
        return {_name(each): each for each in tools_to_bind(self.agent)}

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
    first, effects, _ = start(
        drawn.agent, text, limits=drawn.limits, policy=drawn.policy, run_id="drawn"
    )
    handler = _DrawnHandler(draw, drawn)
    ends_after = draw(st.none() | st.integers(0, 9)) if drawn.hostile else None
    replayer, waiting = Replayer(first), list(effects)
    steps: list[RecordedStep] = []
    while effect := _next(draw, waiting):
        if not waits_for(replayer.state, effect):  # a workflow failed that it was a part of
            continue
        event: Event | None
        if len(steps) == ends_after:
            event, waiting = TimeUp(), []
        else:
            event = handler.perform(effect)
        if event is None:  # the model failed: the run stops, and could be resumed
            break
        steps.append(replayer.take(event))
        waiting += steps[-1].effects
    read = origin(drawn.agent)
    return RecordedRun(
        first, tuple(steps), read.source.text if read else dumps(drawn.agent), None, ()
    )


def _next(draw: st.DrawFn, waiting: list[Effect]) -> Effect | None:
    """Take out one of the effects that may be under way: whichever ends first."""
    may_end = startable(waiting)
    if not may_end:
        return None
    index = draw(st.integers(0, len(may_end) - 1)) if len(may_end) > 1 else 0
    waiting.remove(may_end[index])
    return may_end[index]


class _DrawnHandler:
    """Performs effects with what is drawn, and with the tools that are there."""

    def __init__(self, draw: st.DrawFn, drawn: _Drawn) -> None:
        self._draw = draw
        self._hostile = drawn.hostile
        self._specs = drawn.specs
        self._tools = drawn.tools()
        self._last: Any = None

    def perform(self, effect: Effect) -> Event | None:
        """The event that answers an effect; None where the model fails."""
        match effect:
            case CallModel():
                return self._replied(effect)
            case Ask():
                return Decided(effect.at, self._draw(st.booleans()))
            case CallTool():
                return self._called(effect)

    def _replied(self, effect: CallModel) -> Event | None:
        may_repeat = (
            self._hostile and isinstance(self._last, Message) and bool(self._last.tool_calls)
        )
        if not (may_repeat and self._draw(st.booleans())):
            self._last = self._draw(replies_to(effect.request, hostile=self._hostile))
        try:
            read = read_reply(self._last, effect.request)
        except AgentError:
            return None
        return ModelReplied(effect.at, read.message, read.usage, read.truncated)

    def _called(self, effect: CallTool) -> Event:
        outcome = self._draw(st.sampled_from(_OUTCOMES)) if self._hostile else "returns"
        if outcome == "fails":
            return CallFailed(effect.at, "the tool is out of order")
        tool = self._tools.get(effect.name)
        if tool is None:
            is_odd = outcome == "odd"
            results = json_values() if is_odd else results_of(self._specs[effect.name])
            result = ToolResult(write_json(self._draw(results)))
        else:
            try:
                result = call_tool(tool, effect.args)
            except ToolError as error:
                return CallFailed(effect.at, str(error), error.__cause__ or error)
        if outcome == "times out":
            return CallFailed(effect.at, _TIMED_OUT)
        return ToolReturned(effect.at, *result)


def _name(spec: Pattern) -> str:
    return view(tool_spec_name, spec)
