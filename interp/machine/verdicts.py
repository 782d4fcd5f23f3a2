"""What is said of calls, results and answers when they are taken, for those that lose their keys.

What a run's record has instead of a key need not fit where the key did, or fits where it did not.
So a record says how it was taken, and it is taken so again.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from ..json_text import JsonText
from ..messages import ToolCall, ToolInvocation
from .answers import answer_problem
from .call_checks import ASK, RUN, checked_call, result_problem
from .effects import CallTool, Event, ModelReplied, ToolReturned
from .frames import AgentFrame
from .node_calls import pattern_of
from .offers import offers_of
from .readings import frame_at
from .requests import answer_schema_of
from .shared import Shared
from .state import State


def with_verdicts(before: State, event: Event) -> Event:
    """An event that says how it is taken.

    Args:
        before: the State that it is folded into.
        event: the event.
    """
    frame, shared = frame_at(before, event.at), before.shared
    if isinstance(event, ToolReturned) and event.verdict is None:
        result = JsonText.read(event.result)
        if isinstance(frame, AgentFrame):
            call = frame.under_way(event.at)
            name = call.name if isinstance(call, CallTool) else ""
            offer = offers_of(shared.program, frame.agent).by_name.get(name)
            pattern = None if offer is None else offer.pattern
        else:
            node = frame.node_at(event.at)
            pattern = None if node is None else pattern_of(frame, node[0])
        problem = None if pattern is None else result_problem(shared, pattern, result)
        return evolve(event, verdict=problem or "")
    if isinstance(event, ModelReplied) and isinstance(frame, AgentFrame):
        if calls := event.message.tool_calls:
            frame = frame.changed(calls=calls, truncated=event.truncated)
            message = evolve(event.message, tool_calls=tuple(_judged(shared, frame)))
            return evolve(event, message=message)
        schema = None if event.message.refused else answer_schema_of(frame.agent)
        if schema is not None and event.verdict is None:
            return evolve(event, verdict=answer_problem(schema, event.message.content) or "")
    return event


def _judged(shared: Shared, frame: AgentFrame) -> Iterator[ToolCall]:
    """The calls of a reply, each with its verdict."""
    offers = offers_of(shared.program, frame.agent)
    for index, call in enumerate(frame.calls):
        taken = checked_call(shared, frame, offers, index, call)
        if isinstance(taken, ToolInvocation):
            yield evolve(call, verdict=taken.error)
        else:
            yield evolve(call, verdict=RUN if isinstance(taken, CallTool) else ASK)
