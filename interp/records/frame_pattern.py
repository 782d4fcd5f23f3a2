"""Converts the frames of a State to patterns and back.

.. code-block:: text

    [:AgentFrame {at: [2, 0], status: "awaiting_tools", turn: 1} |
      [helper:Agent …], [:Conversation | …],
      [:Calls | (:ToolCall {…})], [:Waiting | …], [:Answered | …], [:Invocations | …]]
    [:WorkflowFrame {at: [], given: "…", status: "awaiting_steps"} |
      [newsroom:Workflow …], [:Conversation | …],
      [:Live | [:Step {node: "writer", given: "…", items: [json`"…"`]} | [:Running | …]]],
      [:Ended | (:Node {node: "researcher", said: "…"})], [:Kept | …],
      [:Made | [:Calls {at: ["count"]} | (:ToolInvocation {…})]]]
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import starmap
from typing import TypeAlias

from attrs import evolve
from pyrsistent import PVector, pmap, pvector

from gram import Pattern, Subject, TaggedString, Value
from lenses_ext import is_loop

from ..json_text import JsonText
from ..machine import (
    AgentFrame,
    Ask,
    At,
    Called,
    CallTool,
    ConversationContext,
    Ended,
    Frame,
    LongTuple,
    Status,
    Step,
    ToolEffect,
    ToolInvocation,
    WorkflowFrame,
    indexed,
)
from .conversation_pattern import (
    call_from_pattern,
    call_to_pattern,
    context_from_pattern,
    context_to_pattern,
)
from .pattern_parts import (
    Reader,
    Written,
    expect_one_of,
    without_empty,
    write_json_text,
    write_json_value,
    write_text,
)
from .response_pattern import invocation_from_pattern, invocation_to_pattern

Properties: TypeAlias = dict[str, Written | None]

AGENT_PARTS = ("Calls", "Waiting", "Answered", "Invocations")
AGENT_KEYS = ("status", "turn", "stopped", "truncated", "corrected")
_WORKFLOW_KEYS = ("at", "given", "status", "round", "result", "stopped", "unfinished")
_STEP_KEYS = ("node", "given", "items", "each", "others", "begun")
_FRAMES = ("AgentFrame", "WorkflowFrame")


def frame_to_pattern(frame: Frame) -> Pattern:
    """Convert a frame, with the frames in it."""
    if isinstance(frame, WorkflowFrame):
        return _workflow_to_pattern(frame)
    properties = {"at": frame.place, **agent_properties(frame)}
    elements = [frame.agent, context_to_pattern(frame.context), *agent_elements(frame)]
    return Pattern(Subject("", {"AgentFrame"}, without_empty(properties)), elements)


def frame_from_pattern(pattern: Pattern) -> Frame:
    """Read a frame.

    Raises:
        ValidationError: the pattern is not a frame; the fault has its place.
    """
    if expect_one_of(_FRAMES, pattern) == "WorkflowFrame":
        return _workflow_from_pattern(pattern)
    read = Reader(pattern, "AgentFrame", ["at", *AGENT_KEYS])
    if len(pattern.elements) != 2 + len(AGENT_PARTS):
        read.refuse("no-frame", f"an AgentFrame must have {2 + len(AGENT_PARTS)} elements")
    agent, context, *parts = pattern.elements
    return read_agent(read, read.position(), agent, context_from_pattern(context), parts)


# --- agents


def agent_properties(frame: AgentFrame) -> Properties:
    """What an agent's frame has as properties."""
    return {
        "status": frame.status.name.lower(),
        "turn": frame.turn,
        "stopped": None if frame.stopped is None else write_text(frame.stopped),
        "truncated": frame.truncated,
        "corrected": frame.corrected,
    }


def agent_elements(frame: AgentFrame) -> Iterable[Pattern]:
    """Its calls, and what has become of them."""
    parts = (
        map(call_to_pattern, frame.calls),
        starmap(_item_to_pattern, frame.waiting),
        starmap(_with_index, frame.answers),
        map(invocation_to_pattern, frame.invocations),
    )
    return (_group(label, each) for label, each in zip(AGENT_PARTS, parts, strict=True))


def read_agent(
    read: Reader,
    place: At,
    agent: Pattern,
    context: ConversationContext,
    parts: Iterable[Pattern],
) -> AgentFrame:
    """The frame of an agent, of its properties and elements."""
    calls, waiting, answers, invocations = (
        _elements(part, label) for part, label in zip(parts, AGENT_PARTS, strict=True)
    )
    at = (*place, read.number("turn"))
    return AgentFrame(
        place,
        agent,
        context,
        read_status(read),
        read.number("turn"),
        tuple(map(call_from_pattern, calls)),
        read.flag("truncated"),
        indexed(dict(_called_from_pattern(each, at) for each in waiting)),
        indexed(dict(map(_indexed_invocation, answers))),
        LongTuple(map(invocation_from_pattern, invocations)),
        read.text("stopped") if read.has("stopped") else None,
        read.flag("corrected"),
    )


def read_status(read: Reader) -> Status:
    """The status that a property names."""
    names = {status.name.lower(): status for status in Status}
    name = read.text("status")
    if name not in names:
        read.refuse("unknown-status", f'"{name}" is not a status; known: {", ".join(names)}')
    return names[name]


# --- workflows


def _workflow_to_pattern(frame: WorkflowFrame) -> Pattern:
    properties: Properties = {
        "at": frame.place,
        "status": frame.status.name.lower(),
        "round": frame.round,
        "result": None if frame.result is None else _value(frame.result),
        "stopped": None if frame.stopped is None else write_text(frame.stopped),
        "unfinished": frame.unfinished,
    }
    elements = [
        frame.workflow,
        context_to_pattern(frame.context),
        _group("Live", (_step_to_pattern(name, frame.live[name]) for name in sorted(frame.live))),
        _group("Ended", (_ended(name, frame.ended[name]) for name in sorted(frame.ended))),
        _group("Kept", (_kept(name, frame.kept[name]) for name in sorted(frame.kept))),
        _group("Made", (_made(at, frame.made[at]) for at in sorted(frame.made, key=str))),
    ]
    given = {"given": _value(frame.given)}
    return Pattern(Subject("", {"WorkflowFrame"}, {**without_empty(properties), **given}), elements)


def _workflow_from_pattern(pattern: Pattern) -> WorkflowFrame:
    read = Reader(pattern, "WorkflowFrame", _WORKFLOW_KEYS)
    if len(pattern.elements) != 6:
        read.refuse("no-frame", "a WorkflowFrame must have 6 elements")
    workflow, context, live, ended, kept, made = pattern.elements
    frame = WorkflowFrame(
        read.position(),
        workflow,
        read.json_value("given"),
        context_from_pattern(context),
        read_status(read),
        read.number("round"),
        ended=pmap(dict(map(_read_ended, _elements(ended, "Ended")))),
        kept=pmap(dict(map(_read_kept, _elements(kept, "Kept")))),
        result=read.json_value("result") if read.has("result") else None,
        stopped=read.text("stopped") if read.has("stopped") else None,
        unfinished=read.flag("unfinished"),
        is_loop=is_loop(workflow),
        made=pmap(dict(map(_read_made, _elements(made, "Made")))),
    )
    at = frame.at
    return evolve(frame, live=pmap(dict(_read_step(each, at) for each in _elements(live, "Live"))))


def _step_to_pattern(name: str, step: Step) -> Pattern:
    properties: dict[str, Value] = {
        "node": write_text(name),
        "given": _value(step.given),
        "items": pvector(map(_value, step.items)),
        **without_empty({"each": step.is_each, "begun": step.begun}),
    }
    if step.others is not None:
        properties["others"] = _value(step.others)
    running = (_item_to_pattern(index, step.live[index]) for index in sorted(step.live))
    results = (_result(index, step.results[index]) for index in sorted(step.results))
    elements = [_group("Running", running), _group("Results", results)]
    return Pattern(Subject("", {"Step"}, properties), elements)


def _read_step(pattern: Pattern, at: At) -> tuple[str, Step]:
    read = Reader(pattern, "Step", _STEP_KEYS)
    if len(pattern.elements) != 2:
        read.refuse("no-step", "a Step must have two elements, Running and Results")
    running, results = pattern.elements
    name, is_each = read.text("node"), read.flag("each")
    items = pattern.value.properties.get("items")
    if not isinstance(items, PVector):
        read.refuse("ill-typed", "items of Step must be an array", "items")
    live = {}
    for element in _elements(running, "Running"):
        index = _index(element)
        place: At = (*at, name, index) if is_each else (*at, name)
        live[index] = _item_from_pattern(element, place)
    return name, Step(
        read.json_value("given"),
        tuple(_read_item(read, each) for each in items),
        is_each,
        read.json_value("others") if read.has("others") else None,
        read.number("begun"),
        pmap(live),
        pmap(dict(map(_read_result, _elements(results, "Results")))),
    )


def _read_item(read: Reader, value: Value) -> JsonText:
    holder = Pattern(Subject("", {"Item"}, {"value": value}))
    if isinstance(value, str | TaggedString):
        return Reader(holder, "Item", ["value"]).json_value("value")
    read.refuse("ill-typed", "an item of Step must be JSON", "items")


def _ended(name: str, ended: Ended) -> Pattern:
    properties: dict[str, Value] = {"node": write_text(name)}
    if ended.said is not None:
        properties["said"] = _value(ended.said)
    if ended.given is not None:
        properties["given"] = _value(ended.given)
    return Pattern(Subject("", {"Node"}, properties))


def _read_ended(pattern: Pattern) -> tuple[str, Ended]:
    read = Reader(pattern, "Node", ["node", "said", "given"])
    read.without_elements()
    said = read.json_value("said") if read.has("said") else None
    return read.text("node"), Ended(said, read.json_value("given") if read.has("given") else None)


def _kept(name: str, context: ConversationContext) -> Pattern:
    subject = Subject("", {"Node"}, {"node": write_text(name)})
    return Pattern(subject, [context_to_pattern(context)])


def _read_kept(pattern: Pattern) -> tuple[str, ConversationContext]:
    read = Reader(pattern, "Node", ["node"])
    if len(pattern.elements) != 1:
        read.refuse("no-conversation", "a kept Node must have one element, its Conversation")
    return read.text("node"), context_from_pattern(pattern.elements[0])


def _made(at: At, calls: Iterable[ToolInvocation]) -> Pattern:
    return Pattern(Subject("", {"Calls"}, {"at": at}), map(invocation_to_pattern, calls))


def _read_made(pattern: Pattern) -> tuple[At, tuple[ToolInvocation, ...]]:
    calls = tuple(map(invocation_from_pattern, pattern.elements))
    return Reader(pattern, "Calls", ["at"]).position(), calls


def _result(index: int, result: JsonText) -> Pattern:
    return Pattern(Subject("", {"Result"}, {"index": index, "said": _value(result)}))


def _read_result(pattern: Pattern) -> tuple[int, JsonText]:
    read = Reader(pattern, "Result", ["index", "said"])
    read.without_elements()
    return read.number("index"), read.json_value("said")


def _value(text: JsonText) -> Value:
    return write_json_value(text)


# --- what is under way


def _item_to_pattern(index: int, item: CallTool | Ask | Called | Frame) -> Pattern:
    if isinstance(item, Called):
        properties = {"index": index, **_effect_properties(item.call)}
        return Pattern(Subject("", {"Called"}, properties), [frame_to_pattern(item.frame)])
    if isinstance(item, CallTool | Ask):
        properties = {"index": index, **_effect_properties(item)}
        return Pattern(Subject("", {type(item).__name__}, properties))
    return Pattern(Subject("", {"Within"}, {"index": index}), [frame_to_pattern(item)])


def _effect_properties(effect: ToolEffect) -> dict[str, Value]:
    properties: dict[str, Value] = {
        "tool": write_text(effect.name),
        "args": write_json_text(effect.arguments),
    }
    if isinstance(effect, Ask) and effect.may_have_run:
        properties["mayHaveRun"] = True
    return properties


def _called_from_pattern(pattern: Pattern, at: At) -> tuple[int, CallTool | Ask | Called]:
    index = _index(pattern)
    if expect_one_of(("CallTool", "Ask", "Called"), pattern) != "Called":
        return index, _effect_from_pattern(pattern, (*at, index))
    call = _effect_from_pattern(Pattern(pattern.value), (*at, index), "Called")
    assert isinstance(call, CallTool)
    return index, Called(call, _only_frame(pattern, "Called"))


def _item_from_pattern(pattern: Pattern, at: At) -> CallTool | Ask | Frame:
    if expect_one_of(("CallTool", "Ask", "Within"), pattern) == "Within":
        return _only_frame(pattern, "Within")
    return _effect_from_pattern(pattern, at)


def _only_frame(pattern: Pattern, label: str) -> Frame:
    if len(pattern.elements) != 1:
        Reader(pattern, label, pattern.value.properties).refuse(
            "no-frame", f"a {label} must have one element, its frame"
        )
    return frame_from_pattern(pattern.elements[0])


def _effect_from_pattern(pattern: Pattern, at: At, label: str | None = None) -> CallTool | Ask:
    label = label or expect_one_of(("CallTool", "Ask"), pattern)
    more = ["mayHaveRun"] if label == "Ask" else []
    read = Reader(pattern, label, ["index", "tool", "args", *more])
    read.without_elements()
    arguments = read.json_text("args")
    read.parsed(arguments, "args")
    parts = (at, read.text("tool"), arguments)
    return Ask(*parts, read.flag("mayHaveRun")) if more else CallTool(*parts)


def _index(pattern: Pattern) -> int:
    label = expect_one_of(("CallTool", "Ask", "Called", "Within"), pattern)
    return Reader(pattern, label, pattern.value.properties).number("index")


def _with_index(index: int, invocation: ToolInvocation) -> Pattern:
    return Pattern(Subject("", {"Answer"}, {"index": index}), [invocation_to_pattern(invocation)])


def _indexed_invocation(pattern: Pattern) -> tuple[int, ToolInvocation]:
    read = Reader(pattern, "Answer", ["index"])
    if len(pattern.elements) != 1:
        read.refuse("no-answer", "an Answer must have one element, its ToolInvocation")
    return read.number("index"), invocation_from_pattern(pattern.elements[0])


def _group(label: str, elements: Iterable[Pattern]) -> Pattern:
    return Pattern(Subject("", {label}), elements)


def _elements(pattern: Pattern, label: str) -> Iterable[Pattern]:
    Reader(pattern, label)
    return pattern.elements
