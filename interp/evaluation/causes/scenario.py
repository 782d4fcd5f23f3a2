"""A run as data that can be made smaller: a program, what it is given, replies and results."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from attrs import evolve, field, frozen

from gram import Pattern

from ... import machine
from ...errors import ReplayError
from ...execution import Handler, LiveHandler, Report
from ...files import File
from ...history.records import RecordedRun, position_text
from ...json_text import Json, read_json, write_json
from ...machine import Ask, At, CallModel, CallTool, Effect, Event, ModelReplied, State, ToolCall
from ...models import AnyModel, ScriptedModel
from ...tools import ToolLibrary

Key: TypeAlias = tuple[Any, ...]
"""What tells whether an event answers an effect."""


class NoResultError(ReplayError):
    """A call has no recorded result, and no stand-in may run."""


def by_call(about: Effect | Event, name: str, arguments: str) -> Key:
    """The key of a call: its name and its arguments, wherever it is."""
    written = json.dumps(read_json(arguments), sort_keys=True)
    return isinstance(about, Ask | machine.Decided), name, written


class Answers:
    """Answers effects as equal ones were answered; no recorded tool is called.

    Equal ones are answered in the order in which they were, and from then on as the last of them.

    Tools, but those marked ``once``, run for calls that were not recorded, or instead of what is
    known. Where a model is asked for replies, calls are equal by name and arguments; else effects
    are by their positions.
    """

    def __init__(
        self,
        known: Iterable[tuple[Key, Event]],
        tools: ToolLibrary | None,
        model: Handler | None = None,
        *,
        tools_first: bool = False,
    ) -> None:
        self._left: dict[Key, deque[Event]] = {}
        for key, event in known:
            self._left.setdefault(key, deque()).append(event)
        allowed = {name: tool for name, tool in (tools or {}).items() if not tool.once}
        self._stand_ins = LiveHandler(allowed, AnyModel(ScriptedModel(())))
        self._model, self._tools_first = model, tools_first

    def take(self, effect: Effect) -> Event | None:
        """Take the answer of an effect as given; None where none is known."""
        if self._model is None or isinstance(effect, CallModel):
            answers = self._left.get((type(effect), effect.at))
        else:
            answers = self._left.get(by_call(effect, effect.name, effect.arguments))
        if not answers:
            return None
        return answers.popleft() if len(answers) > 1 else answers[0]

    async def perform(self, effect: Effect, report: Report | None) -> Event:
        """Answer an effect.

        Raises:
            NoResultError: nothing is known of it, and no stand-in runs.
        """
        if self._model and isinstance(effect, CallModel):
            return await self._model.perform(effect, report)
        if isinstance(effect, Ask) and effect.may_have_run:
            return machine.Decided(effect.at, allowed=True)  # it has not: nothing was really called
        is_call = isinstance(effect, CallTool)
        answer = None if self._tools_first and is_call else self.take(effect)
        if answer is not None:
            return evolve(answer, at=effect.at)
        if isinstance(effect, CallModel):
            raise NoResultError(f"no reply was recorded at {position_text(effect.at)}")
        if is_call and effect.name in self._stand_ins.tools:
            return await self._stand_ins.perform(effect, report)
        what = "result of" if is_call else "decision about"
        call = machine.call_text(effect.name, effect.arguments)
        raise NoResultError(f"no {what} {call}: none was recorded")


@frozen
class Spot:
    """What happened at one position, and inside it.

    Attributes:
        says: the words of a reply; an object or an array where they are its JSON.
        arguments: the arguments of a call; a text where they are no JSON.
        result: what a tool returned, or the error of a call that failed.
        inside: the calls of a reply, or the rounds of an agent or a loop, in order.
        nodes: what happened in the nodes of a workflow.
        reply: the reply, or None.
        call: the call, or None.
        answers: the other events here: of the call, and of the question about it.
    """

    says: Json = ""
    arguments: Json = None
    result: Json = None
    inside: tuple[Spot, ...] = ()
    nodes: Mapping[int | str, Spot] = field(factory=dict)
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
    context: tuple[machine.Message, ...]
    asked: Mapping[str, Any]
    options: Mapping[str, Any]
    spots: Spot = Spot()
    results: tuple[Spot, ...] = ()

    def start(self) -> State:
        """The State that it begins with.

        Raises:
            ValidationError: the program is not valid, or does not take what it is given.
        """
        given = [self.given, *self.attachments] if self.attachments else self.given
        return machine.start(self.program, given, self.context, **self.asked, **self.options).state

    def handler(self, model: Handler | None, tools: ToolLibrary | None) -> Handler:
        """The handler that answers its effects; with a model, results are held by arguments.

        Without a model, tools run instead of its results; with one, where it has no result.
        """
        if model is None:
            events = _answers(self.spots, ())
            placed = (((_ANSWERED[type(each)], each.at), each) for each in events)
            return Answers(placed, tools, tools_first=tools is not None)
        calls = (
            (by_call(event, spot.call.name, spot.call.arguments), _with_result(event, spot, ()))
            for spot in self.results
            for event in spot.answers
            if spot.call
        )
        return Answers(calls, tools, model)


def scenario_of(run: RecordedRun, *, with_replies: bool) -> Scenario:
    """The scenario of a recorded run, in which its replies are held fixed or a model is asked."""
    context = run.first.run
    changes = {"model": context.model, "settings": dict(context.settings)}
    options = {
        "limits": (context.limits, machine.Limits()),
        "policy": (context.policy, machine.allow_all),
        "check_results": (context.check_results, True),
    }
    events: dict[At, list[Event]] = {}
    results = []
    for step in run.steps:
        if step.event.at:
            events.setdefault(step.event.at, []).append(step.event)
        if not with_replies and isinstance(step.effect, machine.ToolEffect):
            call, event = ToolCall("", step.effect.name, step.effect.arguments), step.event
            results.append(Spot(result=_result((event,)), call=call, answers=(event,)))
    return Scenario(
        context.program,
        context.given.value,
        context.attachments,
        tuple(machine.context_before(run.first)),
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
    inside_it = (each for each in events if len(each) > length and each[:length] == at)
    calls = reply.message.tool_calls if reply else ()
    inside = [_spot((*at, index), events, each) for index, each in enumerate(calls)]
    nodes = dict[int | str, Spot]()
    for key in dict.fromkeys(each[length] for each in inside_it):
        if isinstance(key, int) and key < len(calls):
            continue
        spot = _spot((*at, key), events, None)
        if key == len(inside):  # a round of an agent or a loop, an item of a map
            inside.append(spot)
        else:
            nodes[key] = spot
    return Spot(
        _data_or_text(reply.message.content) if reply else "",
        _data_or_text(call.arguments) if call else None,
        _result(here),
        tuple(inside),
        nodes,
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
        if isinstance(each, machine.ToolReturned | machine.CallFailed):
            return read_json(each.result) if isinstance(each, machine.ToolReturned) else each.error
    return None


def _with_result(event: Event, spot: Spot, at: At) -> Event:
    if isinstance(event, machine.ToolReturned):
        return evolve(event, at=at, result=write_json(spot.result))
    error = {"error": spot.result} if isinstance(event, machine.CallFailed) else {}
    return evolve(event, at=at, **error)


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
        yield evolve(spot.reply, at=at, message=message)
    for key, inner in (*enumerate(spot.inside), *spot.nodes.items()):
        yield from _answers(inner, (*at, key))


def _text_of(value: Json, was: str) -> str:
    """A value as text: as it was written, if it is still the same."""
    if isinstance(value, str):
        return value
    return was if value == _data_or_text(was) else write_json(value)


_ANSWERED: Final[Mapping[type[Event], type[Effect]]] = {
    ModelReplied: CallModel,
    machine.ToolReturned: CallTool,
    machine.CallFailed: CallTool,
    machine.Decided: Ask,
}
