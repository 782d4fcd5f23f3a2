"""A run as data that can be made smaller: a program, what it is given, replies and results."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from attrs import evolve, field, fields_dict, frozen

from gram import Pattern

from ...errors import ReplayError
from ...execution import Handler, LiveHandler, Report
from ...files import File
from ...history.records import RecordedRun, position_text
from ...json_text import Json, read_json, write_json
from ...machine import (
    Ask,
    At,
    CallFailed,
    CallModel,
    CallTool,
    Decided,
    Effect,
    Event,
    Limits,
    Message,
    ModelReplied,
    State,
    ToolCall,
    ToolEffect,
    ToolReturned,
    allow_all,
    call_text,
    context_before,
    start,
)
from ...models import AnyModel, ScriptedModel
from ...tools import ToolLibrary
from .removal import Fields

Known: TypeAlias = tuple[str, str, Event]
"""The name and the arguments of a call, and what answered it."""


class NoResultError(ReplayError):
    """A call has no recorded result, and no stand-in may run."""


class HeldResults:
    """Asks the model, and answers calls as equal ones were answered; no recorded tool is called.

    Equal calls are answered in the order in which they were, and from then on as the last of them.

    Args:
        known: the calls that are answered.
        model: who is asked for replies.
        stand_ins: who performs other calls; None for nobody.
    """

    def __init__(
        self,
        known: Iterable[Known],
        model: Handler,
        stand_ins: Handler | None = None,
    ) -> None:
        self._left: dict[tuple[bool, str, str], deque[Event]] = {}
        for name, arguments, event in known:
            self._left.setdefault(_key(event, name, arguments), deque()).append(event)
        self._model, self._stand_ins = model, stand_ins

    def forget(self, call: ToolEffect) -> None:
        """Take the answer of a call as given."""
        answers = self._left.get(_key(call, call.name, call.arguments), ())
        if len(answers) > 1:
            self._left[_key(call, call.name, call.arguments)].popleft()

    async def perform(self, effect: Effect, report: Report | None) -> Event:
        """Answer an effect.

        Raises:
            NoResultError: it is a call that nothing is known of.
        """
        if isinstance(effect, CallModel):
            return await self._model.perform(effect, report)
        if isinstance(effect, Ask) and effect.may_have_run:
            return Decided(effect.at, allowed=True)  # it has not: nothing was really called
        if answers := self._left.get(_key(effect, effect.name, effect.arguments)):
            answer = evolve(answers[0], at=effect.at)
            self.forget(effect)
            return answer
        if self._stand_ins is None:
            raise no_result(effect)
        return await self._stand_ins.perform(effect, report)


class StandIns:
    """Runs tools in the place of recorded ones, but for those marked ``once``.

    Args:
        tools: the tools.
    """

    def __init__(self, tools: ToolLibrary) -> None:
        self._tools = {name: tool for name, tool in tools.items() if not tool.once}
        self._live = LiveHandler(self._tools, AnyModel(ScriptedModel(())))

    async def perform(self, effect: Effect, report: Report | None) -> Event:
        """Run the tool that a call names.

        Raises:
            NoResultError: no stand-in has the name of the call.
        """
        if isinstance(effect, CallTool) and effect.name in self._tools:
            return await self._live.perform(effect, report)
        raise no_result(effect)


def no_result(effect: Effect) -> NoResultError:
    """The error of an effect that nobody answers."""
    if isinstance(effect, CallModel):
        return NoResultError(f"no reply was recorded at {position_text(effect.at)}")
    what = "decision about" if isinstance(effect, Ask) else "result of"
    return NoResultError(f"no {what} {call_text(effect.name, effect.arguments)}: none was recorded")


def known_call(effect: Effect | None, event: Event) -> Known | None:
    """An answer with the name and arguments of its call; None where it is about no call."""
    if isinstance(effect, CallTool | Ask) and isinstance(
        event, ToolReturned | CallFailed | Decided
    ):
        return effect.name, effect.arguments, event
    return None


def _key(about: ToolEffect | Event, name: str, arguments: str) -> tuple[bool, str, str]:
    return isinstance(about, Ask | Decided), name, json.dumps(read_json(arguments), sort_keys=True)


@frozen
class Spot:
    """What happened at one position, and inside it.

    Attributes:
        says: the words of a reply; an object or an array where they are its JSON.
        arguments: the arguments of a call; a text where they are no JSON.
        result: what a tool returned, or the error of a call that failed.
        inside: the calls of a reply, or the rounds of an agent or a loop, in order.
        nodes: what happened in the nodes of a workflow.
        details: what else is recorded of a reply, such as its tokens.
        reply: the reply, or None.
        call: the call, or None.
        answers: the other events here: of the call, and of the question about it.
    """

    says: Json = ""
    arguments: Json = None
    result: Json = None
    inside: tuple[Spot, ...] = ()
    nodes: Mapping[int | str, Spot] = field(factory=dict)
    details: Mapping[str, Any] = field(factory=dict)
    reply: ModelReplied | None = None
    call: ToolCall | None = None
    answers: tuple[Event, ...] = ()


@frozen
class Scenario:
    """What a run is made of.

    Attributes:
        program: the agent or workflow.
        given: what it is given: a text, or arguments.
        attachments: the files that are attached to it.
        context: the messages before.
        asked: the model and the settings instead of the program's.
        options: the limits and the policy of the run.
        spots: what happened, from the outside in.
        results: the calls that are answered by their names and arguments, where a model is asked.
    """

    program: Pattern
    given: Json
    attachments: tuple[File, ...]
    context: tuple[Message, ...]
    asked: Mapping[str, Any]
    options: Mapping[str, Any]
    spots: Spot
    results: tuple[Spot, ...]

    def start(self) -> State:
        """The State that it begins with.

        Raises:
            ValidationError: the program is not valid, or does not take what it is given.
        """
        given = [self.given, *self.attachments] if self.attachments else self.given
        return start(self.program, given, self.context, **self.asked, **self.options).state

    def handler(self, model: Handler | None, tools: Handler | None) -> Handler:
        """The handler that answers its effects.

        Args:
            model: who is asked, instead of its replies; results are then held by arguments.
            tools: who runs tools: instead of its results, or beside a model where there are none.
        """
        if model is not None:
            return HeldResults(self._known(), model, tools)
        return _Answers(_answers(self.spots, ()), tools)

    def _known(self) -> Iterator[Known]:
        """The calls that are answered by their names and arguments."""
        for spot in self.results:
            assert spot.call
            for event in spot.answers:
                yield spot.call.name, spot.call.arguments, _with_result(event, spot, event.at)


FIELDS: Final = (
    Fields(Scenario, tuple(fields_dict(Scenario))),
    Fields(Spot, ("says", "arguments", "result", "inside", "nodes", "details")),
    Fields(Message, ("content",)),
)
"""What has parts that may go."""

HELD: Final = frozenset({"given", "attachments", "context", "asked", "instruction", "description"})
"""What the recorded replies answer, which is held fixed with them."""

ASKED: Final = frozenset({"asked", "model"})
"""What says which model is asked, which is held where one is."""

_DETAILS: Final = frozenset(fields_dict(ModelReplied)) - {"at", "message", "truncated"}


def scenario_of(run: RecordedRun, *, with_replies: bool) -> Scenario:
    """The scenario of a recorded run.

    Args:
        run: the run.
        with_replies: whether its replies are held fixed; else a model is asked.
    """
    context = run.first.run
    changes = {"model": context.model, "settings": dict(context.settings)}
    options = {
        "limits": (context.limits, Limits()),
        "policy": (context.policy, allow_all),
        "check_results": (context.check_results, True),
    }
    events: dict[At, list[Event]] = {}
    for step in run.steps:
        if step.event.at:
            events.setdefault(step.event.at, []).append(step.event)
    results = []
    for step in run.steps:
        if not with_replies and (known := known_call(step.effect, step.event)):
            name, arguments, event = known
            call = ToolCall("", name, arguments)
            results.append(Spot(result=_result((event,)), call=call, answers=(event,)))
    return Scenario(
        context.program,
        context.given.value,
        context.attachments,
        tuple(context_before(run.first)),
        {key: value for key, value in changes.items() if value},
        {key: value for key, (value, default) in options.items() if value != default},
        _spot((), events, None) if with_replies else Spot(),
        tuple(results),
    )


def _spot(at: At, events: Mapping[At, list[Event]], call: ToolCall | None) -> Spot:
    """What happened at a position."""
    here, length = events.get(at, []), len(at)
    replies = [each for each in here if isinstance(each, ModelReplied)]
    reply = replies[-1] if replies else None  # those before it are summaries
    inner = list(
        dict.fromkeys(each[length] for each in events if len(each) > length and each[:length] == at)
    )
    calls = reply.message.tool_calls if reply else ()
    inside = [_spot((*at, index), events, each) for index, each in enumerate(calls)]
    nodes = dict[int | str, Spot]()
    for key in inner:
        if isinstance(key, int) and key < len(calls):
            continue
        spot = _spot((*at, key), events, None)
        if key == len(inside):  # a round of an agent or a loop, an item of a map
            inside.append(spot)
        else:
            nodes[key] = spot
    kinds = fields_dict(ModelReplied)
    details = {name: getattr(reply, name) for name in sorted(_DETAILS) if reply}
    return Spot(
        _data_or_text(reply.message.content) if reply else "",
        _data_or_text(call.arguments) if call else None,
        _result(here),
        tuple(inside),
        nodes,
        {name: value for name, value in details.items() if value != kinds[name].default},
        reply,
        call,
        tuple(each for each in here if each is not reply and type(each) in _ANSWERED),
    )


def _data_or_text(text: str) -> Json:
    try:
        value = read_json(text)
    except ValueError:
        return text
    return value if isinstance(value, dict | list) else text


def _result(events: Iterable[Event]) -> Json:
    """What a tool returned, or its error, of the events at the position of its call."""
    for each in events:
        if isinstance(each, ToolReturned | CallFailed):
            return read_json(each.result) if isinstance(each, ToolReturned) else each.error
    return None


def _with_result(event: Event, spot: Spot, at: At) -> Event:
    if isinstance(event, ToolReturned):
        return evolve(event, at=at, result=write_json(spot.result))
    return evolve(event, at=at, **({"error": spot.result} if isinstance(event, CallFailed) else {}))


def _answers(spot: Spot, at: At) -> Iterator[Event]:
    """What happened at a position and inside it, with the positions that it has now."""
    for event in spot.answers:
        yield _with_result(event, spot, at)
    if spot.reply is not None:
        calls = [
            evolve(each.call, arguments=_text_of(each.arguments, each.call.arguments))
            for each in spot.inside
            if each.call
        ]
        said = spot.reply.message
        message = evolve(said, content=_text_of(spot.says, said.content), tool_calls=calls)
        yield ModelReplied(at, message, truncated=spot.reply.truncated, **spot.details)
    for key, inner in (*enumerate(spot.inside), *spot.nodes.items()):
        yield from _answers(inner, (*at, key))


def _text_of(value: Json, was: str) -> str:
    """A value as text: as it was written, if it is still the same."""
    if isinstance(value, str):
        return value
    return was if value == _data_or_text(was) else write_json(value)


class _Answers:
    """Answers each effect by what happened at its position.

    Args:
        events: what happened.
        stand_ins: performs calls instead; None for nobody.
    """

    def __init__(self, events: Iterable[Event], stand_ins: Handler | None) -> None:
        self._left: dict[tuple[type, At], deque[Event]] = {}
        for event in events:
            self._left.setdefault((_ANSWERED[type(event)], event.at), deque()).append(event)
        self._stand_ins = stand_ins

    async def perform(self, effect: Effect, report: Report | None) -> Event:
        """Answer an effect.

        Raises:
            NoResultError: nothing happened there.
        """
        if self._stand_ins and isinstance(effect, CallTool):
            return await self._stand_ins.perform(effect, report)
        if left := self._left.get((type(effect), effect.at)):
            return left.popleft()
        raise no_result(effect)


_ANSWERED: Final[Mapping[type[Event], type[Effect]]] = {
    ModelReplied: CallModel,
    ToolReturned: CallTool,
    CallFailed: CallTool,
    Decided: Ask,
}
