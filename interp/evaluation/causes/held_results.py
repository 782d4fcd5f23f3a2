"""A handler for runs that are tried again: tools answer as they did, by name and arguments."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable
from typing import TypeAlias

from attrs import evolve

from ...errors import ReplayError
from ...execution import Handler, LiveHandler, Report
from ...history.records import position_text
from ...json_text import read_json
from ...machine import (
    Ask,
    CallFailed,
    CallModel,
    CallTool,
    Decided,
    Effect,
    Event,
    ToolEffect,
    ToolReturned,
    call_text,
)
from ...models import AnyModel, ScriptedModel
from ...tools import ToolLibrary

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
