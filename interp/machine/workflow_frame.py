"""How a workflow goes on: which of its nodes begin, and what their answers lead to.

Each function takes what the run shares, the frame of the workflow and an event, and returns both as
they are then, with what is new to do. A node begins when all nodes whose arrows lead to it have
ended; one to which only dead arrows lead is skipped. The order of answers changes nothing: what a
node is given depends on what the others gave alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Final

from attrs import evolve
from pyrsistent import pmap

from gram import Pattern
from lenses_ext import Workflow, is_tool, workflow_of
from lenses_ext.language import tool_spec_of
from lenses_ext.workflows import FlowArrow, FlowNode, Join, Loop

from ..errors import ValidationError
from ..json_text import Json, JsonText, write_json
from .calls import answered, begun_use, dropped, pattern_of, result_problem, taken_up, waiting
from .effects import Ask, At, CallFailed, CallTool, Decided, Resumed, ToolReturned
from .frames import Begin, BegunNode, EndedNode, Outcome, Status, WorkflowFrame
from .happened import CallAnswered, Ended, Happened, New, WorkflowTaken
from .limits_reached import is_under_an_agent, limit_reached, spent
from .messages import AssistantRole, Message, Usage, UserRole
from .run_context import RunContext


def arrivals(
    flow: Workflow, frame: WorkflowFrame, join: Join
) -> list[tuple[FlowArrow, JsonText]] | None:
    """The arrows of a join that are live, with what they carry; None while one is not decided."""
    found: list[tuple[FlowArrow, JsonText]] = []
    for arrow in join.arrows:
        # what the input is to the arrows that start from it
        given = EndedNode(frame.given, frame.given)
        ended = given if arrow.source is None else frame.ended.get(arrow.source)
        if ended is None:
            return None
        if ended.said is not None and _is_taken(flow, arrow, ended.said):
            found.append((arrow, ended.given if arrow.is_choice and ended.given else ended.said))
    return found


def _is_taken(flow: Workflow, arrow: FlowArrow, said: JsonText) -> bool:
    if arrow.kind == "OTHERWISE":
        tests = (each for each in flow.arrows if (each.kind, each.source) == ("WHEN", arrow.source))
        return not any(_is_taken(flow, each, said) for each in tests)
    return arrow.kind != "WHEN" or arrow.is_for(said.value)


def joined(flow: Workflow, join: Join, arrived: Iterable[tuple[FlowArrow, JsonText]]) -> JsonText:
    """What some live arrows give together: a record, or what the only one carries."""
    if join.is_record:
        return record_of({flow.key_of(arrow): value for arrow, value in arrived})
    ((_, value), *_rest) = arrived
    return value


def record_of(values: Mapping[str, JsonText]) -> JsonText:
    """Some values under their names."""
    return JsonText("{" + ",".join(f"{write_json(key)}:{values[key]}" for key in values) + "}")


def list_of(values: Iterable[JsonText]) -> JsonText:
    """Some values in their order."""
    return JsonText("[" + ",".join(values) + "]")


def is_enough(frame: WorkflowFrame, loop: Loop) -> bool:
    """Whether the nodes that end a loop have said what ends it."""
    said = {name: frame.ended.get(name, EndedNode()).said for name in loop.until}
    return loop.is_ended_by({name: each.value for name, each in said.items() if each is not None})


AT_ONCE: Final = 8
"""How many items of a list are worked on at a time, where the arrow does not say."""


def begin_workflow(run: RunContext, begin: Begin) -> WorkflowTaken:
    """Begin with an input: all nodes that wait for no other begin at once."""
    given = write_json(begin.given)
    files = begin.attachments
    said = Message(UserRole, _said(given), attachments=files)
    context = begin.context if begin.at else begin.context.append(said)
    flow = workflow_of(begin.pattern)
    is_loop = flow.loop is not None
    frame = WorkflowFrame(
        begin.at, begin.pattern, given, context, is_loop=is_loop, attachments=files
    )
    return _advance(run, frame, flow.order)


def workflow_outcome(frame: WorkflowFrame) -> Outcome | None:
    """How a workflow has ended; None while it goes on."""
    if frame.status is Status.DONE:
        return Outcome(frame.result, calls=frame.calls_made, unfinished=frame.unfinished)
    if frame.status is Status.FAILED:
        return Outcome(None, frame.stopped, calls=frame.calls_made)
    return None


# --- what is under way has begun, or has answered


def tool_answered(
    run: RunContext, frame: WorkflowFrame, event: ToolReturned | CallFailed
) -> WorkflowTaken:
    """Take what a tool gave that is a node, or how it failed."""
    return _with_answer(run, frame, waiting(frame, event, CallTool), event)


def decided(run: RunContext, frame: WorkflowFrame, event: Decided) -> WorkflowTaken:
    """Begin a tool that was asked about, or fail because it is denied."""
    ask = waiting(frame, event, Ask)
    if not event.allowed:
        return _with_answer(run, frame, ask, event)
    call = CallTool(ask.at, ask.name, ask.arguments)
    return run, frame.with_waiting(ask.at, call), (call,)


def _with_answer(
    run: RunContext,
    frame: WorkflowFrame,
    call: CallTool | Ask,
    event: ToolReturned | CallFailed | Decided,
) -> WorkflowTaken:
    name, index = frame.node_of(call.at)
    made = answered(run, frame.name, pattern_of(frame, name), call, event)
    outcome = Outcome(made.result_text, made.error, calls=(made,))
    run, frame, new = _item_ended(run, frame, name, index, outcome)
    return run, frame, (CallAnswered(call.at, made), *new)


def inner_ended(
    run: RunContext, frame: WorkflowFrame, place: At, outcome: Outcome
) -> WorkflowTaken:
    """Take what an agent or workflow gave that is a node."""
    return _item_ended(run, frame, *frame.node_of(place), outcome)


def resumed(run: RunContext, frame: WorkflowFrame, event: Resumed) -> WorkflowTaken:
    """Go on where a limit was reached; what is asked about may be decided by another policy."""

    def spec_of(ask: Ask) -> Pattern:
        return tool_spec_of(pattern_of(frame, frame.node_of(ask.at)[0]))

    run, frame, new = taken_up(run, frame, event, spec_of, decided)
    for name in workflow_of(frame.workflow).order:
        if name in frame.live:
            run, frame, more = _begin_items(run, frame, name, frame.live[name])
            new.extend(more)
    return run, frame, tuple(new)


def _item_ended(
    run: RunContext, frame: WorkflowFrame, name: str, index: int, outcome: Outcome
) -> WorkflowTaken:
    """One use of a node has ended: the node has, or its next item may begin."""
    step = frame.live[name]
    if outcome.calls:
        place = (*frame.at, name, index) if step.is_each else (*frame.at, name)
        frame = evolve(frame, made=frame.made.set(place, outcome.calls))
    if outcome.error is not None or outcome.said is None:
        frame = _with_step(frame, name, evolve(step, live=step.live.discard(index)))
        return _failed(run, frame, _step_failed(name, step, index, outcome.error))
    if outcome.unfinished:
        frame = evolve(frame, unfinished=True)
    if not step.is_each:
        if frame.is_loop and outcome.context:
            frame = evolve(frame, kept=frame.kept.set(name, outcome.context))
        return _node_ended(run, frame, name, outcome.said, step.given)
    results = step.results.set(index, outcome.said)
    if len(results) < len(step.items):
        step = evolve(step, live=step.live.discard(index), results=results)
        return _begin_items(run, frame, name, step)
    said = list_of(results[each] for each in range(len(step.items)))
    return _node_ended(run, frame, name, said, step.given)


def _node_ended(
    run: RunContext, frame: WorkflowFrame, name: str, said: JsonText, given: JsonText
) -> WorkflowTaken:
    """A node has given its answer: begin what has waited for it alone."""
    node = workflow_of(frame.workflow).nodes[name]
    passes_on = any(each.is_choice for each in node.outgoing)
    frame = evolve(
        frame,
        live=frame.live.discard(name),
        ended=frame.ended.set(name, EndedNode(said, given if passes_on else None)),
    )
    return _advance(run, frame, _after(node))


def _after(node: FlowNode) -> list[str]:
    return [each.target for each in node.outgoing if each.target is not None]


# --- which nodes begin


def _advance(run: RunContext, frame: WorkflowFrame, names: Iterable[str]) -> WorkflowTaken:
    """Begin those of some nodes that wait for nothing, and skip those that are not reached."""
    flow = workflow_of(frame.workflow)
    new: list[New] = []
    left = deque(names)
    while left and frame.status is Status.AWAITING_STEPS:
        node = flow.nodes[left.popleft()]
        arrived = arrivals(flow, frame, node.input)
        if arrived is None or node.name in frame.live or node.name in frame.ended:
            continue
        if not arrived:
            frame = evolve(frame, ended=frame.ended.set(node.name, EndedNode()))
            left.extend(_after(node))
            continue
        given = joined(flow, node.input, arrived)
        run, frame, more = _begin_node(run, frame, node, given, arrived)
        new.extend(more)
    if frame.status is not Status.AWAITING_STEPS:
        return run, frame, _only_happened(new)
    if len(frame.ended) == len(flow.nodes):
        run, frame, more = _round_over(run, frame, flow)
        new.extend(more)
    return run, frame, tuple(new)


def _only_happened(new: Iterable[New]) -> tuple[Happened, ...]:
    """What has happened in a workflow that has failed; nothing more of it begins."""
    return tuple(each for each in new if isinstance(each, Happened))


def _begin_node(
    run: RunContext,
    frame: WorkflowFrame,
    node: FlowNode,
    given: JsonText,
    arrived: Iterable[tuple[FlowArrow, JsonText]],
) -> WorkflowTaken:
    """Begin a node: once, or once for each item of the list that is mapped."""
    step = BegunNode(given, (given,))
    if node.each is not None:
        items: Json = next((value.value for arrow, value in arrived if arrow is node.each), [])
        if not isinstance(items, list):
            error = f'step "{node.name}" maps over a list, found {write_json(items)[:80]}'
            place = (*frame.at, node.name)
            given = write_json(items)
            refusal = Ended(place, "tool", node.name, frame.name, given, error=error)
            return _failed(run, frame, error, refusal)
        flow = workflow_of(frame.workflow)
        rest = {flow.key_of(each): value for each, value in arrived if each is not node.each}
        others = record_of(rest) if node.input.is_record else None
        step = BegunNode(given, tuple(map(write_json, items)), is_each=True, others=others)
        if not items:
            nothing = list_of(())
            place = (*frame.at, node.name)
            passed = Ended(place, "each", node.name, frame.name, nothing, nothing)
            run, frame, more = _node_ended(run, frame, node.name, nothing, given)
            return run, frame, (passed, *more)
    return _begin_items(run, frame, node.name, step)


def _begin_items(
    run: RunContext, frame: WorkflowFrame, name: str, step: BegunNode
) -> WorkflowTaken:
    """Begin as many uses of a node as may be under way at once; none where a limit is reached.

    An agent or workflow that begins takes its place in the step as soon as it has a frame.
    """
    flow = workflow_of(frame.workflow)
    node, used = flow.nodes[name], pattern_of(frame, name)
    at_once = (node.each.at_once or AT_ONCE) if node.each else 1
    new: list[New] = []
    while step.begun < len(step.items) and step.begun - len(step.results) < at_once:
        after = spent(run, _NO_TOKENS, [used.value.identity]) if is_tool(used) else run
        if limit := run.limit or limit_reached(after):
            frame = _with_step(frame, name, step)
            if run.limits.on_limit == "answer" and is_under_an_agent(frame.place):
                run, frame, more = _failed(run, frame, f"not run: the run has reached {limit}")
                return run, frame, (*_only_happened(new), *more)
            return evolve(run, limit=limit), frame, tuple(new)
        run, index = after, step.begun
        place: At = (*frame.at, name, index) if step.is_each else (*frame.at, name)
        item = step.items[index].value
        if step.others is not None and node.each is not None:
            item = {**step.others.value, flow.key_of(node.each): item}
        try:
            begun = begun_use(run, frame, name, place, item)
        except ValidationError as error:
            tool, given = used.value.identity, write_json(item)
            refusal = Ended(place, "tool", tool, frame.name, given, error=error.message)
            failed = _step_failed(name, step, index, error.message)
            run, frame, more = _failed(run, _with_step(frame, name, step), failed, refusal)
            return run, frame, (*_only_happened(new), *more)
        live = step.live if isinstance(begun, Begin) else step.live.set(index, begun)
        step = evolve(step, begun=index + 1, live=live)
        new.append(begun)
    return run, _with_step(frame, name, step), tuple(new)


def _with_step(frame: WorkflowFrame, name: str, step: BegunNode) -> WorkflowFrame:
    return evolve(frame, live=frame.live.set(name, step))


_NO_TOKENS: Final = Usage(0, 0)


# --- the end


def _round_over(run: RunContext, frame: WorkflowFrame, flow: Workflow) -> WorkflowTaken:
    """All nodes have ended: this is the result, or a loop begins its next round."""
    arrived = arrivals(flow, frame, flow.result)
    loop = flow.loop
    is_last = loop is None or frame.round + 1 >= (loop.max or 1)
    is_finished = loop is None or is_enough(frame, loop)
    if loop is None or is_finished or is_last:
        if not arrived:
            return _failed(run, frame, "no arrow to the result was taken")
        return _done(run, frame, joined(flow, flow.result, arrived), not is_finished)
    fed_back = arrivals(flow, frame, loop.feedback)
    if not fed_back:
        return _failed(run, frame, "nothing was said that the next round could begin with")
    following = joined(flow, loop.feedback, fed_back)
    (passed,) = _round_ended(frame, following)
    frame = evolve(frame, round=frame.round + 1, given=following, ended=pmap(), unfinished=False)
    run, frame, new = _advance(run, frame, flow.order)
    return run, frame, (passed, *new)


def _done(
    run: RunContext, frame: WorkflowFrame, result: JsonText, unfinished: bool
) -> WorkflowTaken:
    if problem := result_problem(run, frame.workflow, result):
        return _failed(run, frame, problem)
    answer = Message(AssistantRole, _said(result))
    frame = evolve(
        frame,
        status=Status.DONE,
        result=result,
        unfinished=unfinished or frame.unfinished,
        context=frame.context if frame.place else frame.context.append(answer),
        ended=pmap(),
        kept=pmap(),
    )
    return run, frame, _round_ended(frame, result)


def _failed(run: RunContext, frame: WorkflowFrame, error: str, *refused: Ended) -> WorkflowTaken:
    """It fails, and nothing of it goes on; what is under way is not waited for.

    Of that it keeps the calls that are answered.
    """
    let_go = dropped(run, frame)
    frame = evolve(
        frame,
        status=Status.FAILED,
        stopped=error,
        unfinished=False,
        live=pmap(),
        ended=pmap(),
        kept=pmap(),
        made=frame.calls_by_place,
    )
    return run, frame, (*refused, *let_go, *_round_ended(frame, error=error))


def _round_ended(
    frame: WorkflowFrame, said: JsonText | None = None, error: str | None = None
) -> tuple[Ended, ...]:
    """The round of a loop that has ended."""
    if not frame.is_loop:
        return ()
    return (Ended(frame.at, "round", frame.name, frame.name, frame.given, said, error),)


def _step_failed(name: str, step: BegunNode, index: int, error: object) -> str:
    item = f" (item {index + 1} of {len(step.items)})" if step.is_each else ""
    return f'step "{name}"{item} failed: {error}'


def _said(value: JsonText) -> str:
    return str(value.value if value.startswith('"') else value)
