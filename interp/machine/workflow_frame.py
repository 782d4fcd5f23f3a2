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
from lenses_ext import Workflow, is_agent, is_tool, workflow_of
from lenses_ext.language import tool_spec_of, written_signature
from lenses_ext.workflows import FlowArrow, FlowNode, Join, Loop

from ..errors import ValidationError
from ..json_text import Json, JsonText, write_json
from .calls import allowed_call, answered, checked, dropped, result_problem
from .contracts import parameters_of
from .effects import Ask, CallFailed, CallTool, Decided, ToolReturned
from .messages import AssistantRole, Message, Usage, UserRole, empty_context
from .requests import arguments_of, input_of
from .run_context import RunContext
from .state import (
    Begin,
    BegunNode,
    CallAnswered,
    Ended,
    EndedNode,
    Happened,
    New,
    Outcome,
    Status,
    WorkflowFrame,
    WorkflowTaken,
)


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
    context = begin.context if begin.call else begin.context.append(said)
    flow = workflow_of(begin.pattern)
    frame = WorkflowFrame(
        begin.pattern,
        context,
        begin.call,
        given=given,
        is_loop=flow.loop is not None,
        attachments=files,
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


def called_by(_: RunContext, frame: WorkflowFrame, call: CallTool | Ask) -> Pattern:
    """The tool that a call is of."""
    return _pattern_of(frame, frame.node_of(call.at))


def _pattern_of(frame: WorkflowFrame, name: str) -> Pattern:
    """The agent, tool or workflow that a node uses."""
    used = workflow_of(frame.pattern).nodes[name].pattern
    assert used is not None, "a program is checked before it runs"
    return used


def allowed(run: RunContext, frame: WorkflowFrame, call: CallTool) -> WorkflowTaken:
    """Begin a tool that is allowed."""
    return run, frame.with_part(call.at, call), (call,)


def with_answer(
    run: RunContext,
    frame: WorkflowFrame,
    call: CallTool | Ask,
    event: ToolReturned | CallFailed | Decided,
) -> WorkflowTaken:
    """Take what a tool gave that is a node, how it failed, or that it is denied."""
    made = answered(run, frame, called_by(run, frame, call), call, event)
    outcome = Outcome(made.result_text, made.error, calls=(made,))
    run, frame, new = inner_ended(run, frame, call, outcome)
    return run, frame, (CallAnswered(call.at, made), *new)


def resumed(run: RunContext, frame: WorkflowFrame) -> WorkflowTaken:
    """Go on where a limit was reached."""
    new: list[New] = []
    for name in workflow_of(frame.pattern).order:
        if name in frame.live:
            run, frame, more = _begin_items(run, frame, name)
            new.extend(more)
    return run, frame, tuple(new)


def inner_ended(
    run: RunContext, frame: WorkflowFrame, call: CallTool | Ask, outcome: Outcome
) -> WorkflowTaken:
    """One use of a node has ended: the node has, or its next item may begin."""
    place, name = call.at, frame.node_of(call.at)
    step = frame.live[name]
    index = int(place[-1]) if step.is_each else 0
    frame = evolve(frame, waiting=frame.waiting.discard(place))
    if outcome.calls:
        frame = evolve(frame, made=frame.made.set(place, outcome.calls))
    if outcome.error is not None or outcome.said is None:
        return _failed(run, frame, _step_failed(name, step, index, outcome.error))
    if outcome.unfinished:
        frame = evolve(frame, unfinished=True)
    if not step.is_each:
        if frame.is_loop and outcome.context:
            frame = evolve(frame, kept=frame.kept.set(name, outcome.context))
        return _node_ended(run, frame, name, outcome.said, step.given)
    results = step.results.set(index, outcome.said)
    if len(results) < len(step.items):
        return _begin_items(run, _with_step(frame, name, evolve(step, results=results)), name)
    said = list_of(results[each] for each in range(len(step.items)))
    return _node_ended(run, frame, name, said, step.given)


def _node_ended(
    run: RunContext, frame: WorkflowFrame, name: str, said: JsonText, given: JsonText
) -> WorkflowTaken:
    """A node has given its answer: begin what has waited for it alone."""
    node = workflow_of(frame.pattern).nodes[name]
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
    flow = workflow_of(frame.pattern)
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
    step, name, place = BegunNode(given, (given,)), node.name, (*frame.at, node.name)
    if node.each is not None:
        items: Json = next((value.value for arrow, value in arrived if arrow is node.each), [])
        if not isinstance(items, list):
            found = write_json(items)
            error = f'step "{name}" maps over a list, found {found[:80]}'
            refusal = Ended(place, "tool", name, frame.name, found, error=error)
            return _failed(run, frame, error, refusal)
        if not items:
            nothing = list_of(())
            passed = Ended(place, "each", name, frame.name, nothing, nothing)
            run, frame, more = _node_ended(run, frame, name, nothing, given)
            return run, frame, (passed, *more)
        flow = workflow_of(frame.pattern)
        rest = {flow.key_of(each): value for each, value in arrived if each is not node.each}
        others = record_of(rest) if node.input.is_record else None
        step = BegunNode(given, tuple(map(write_json, items)), is_each=True, others=others)
    return _begin_items(run, _with_step(frame, name, step), name)


def _begin_items(run: RunContext, frame: WorkflowFrame, name: str) -> WorkflowTaken:
    """Begin as many uses of a node as may be under way at once; none where a limit is reached."""
    step, used = frame.live[name], _pattern_of(frame, name)
    each = workflow_of(frame.pattern).nodes[name].each
    at_once = (each.at_once or AT_ONCE) if each else 1
    new: list[New] = []
    while step.begun < len(step.items) and step.begun - len(step.results) < at_once:
        after = run.spent(_NO_TOKENS, [used.value.identity]) if is_tool(used) else run
        if limit := run.limit or after.limit_reached():
            if run.limits.on_limit == "answer" and frame.is_under_an_agent:
                run, frame, more = _failed(run, frame, f"not run: the run has reached {limit}")
                return run, frame, (*_only_happened(new), *more)
            return evolve(run, limit=limit), frame, tuple(new)
        run, index = after, step.begun
        call = CallTool(frame.place_of(name, index), name, step.items[index])
        try:
            begun = _begun_use(run, frame, call, step)
        except ValidationError as error:
            failed = _step_failed(name, step, index, error.message)
            given = write_json(_item_of(frame, call, step))
            refusal = Ended(
                call.at, "tool", used.value.identity, frame.name, given, error=error.message
            )
            run, frame, more = _failed(run, frame, failed, refusal)
            return run, frame, (*_only_happened(new), *more)
        step = evolve(step, begun=index + 1)
        frame = _with_step(frame, name, step)
        if not isinstance(begun, Begin):  # what begins is in the frame when it has one
            frame = frame.with_part(begun.at, begun)
        new.append(begun)
    return run, frame, tuple(new)


def _item_of(frame: WorkflowFrame, call: CallTool, step: BegunNode) -> Json:
    """What one use of a node is given."""
    flow, item = workflow_of(frame.pattern), JsonText.read(call.arguments).value
    each = flow.nodes[call.name].each
    if each is None or step.others is None:
        return item
    return {**step.others.value, flow.key_of(each): item}


def _begun_use(
    run: RunContext, frame: WorkflowFrame, call: CallTool, step: BegunNode
) -> CallTool | Ask | Begin:
    """What is to be done for one use of a node.

    Raises:
        ValidationError: it may not be used, or not with what it is given.
    """
    used, given = _pattern_of(frame, call.name), _item_of(frame, call, step)
    if is_tool(used):
        args = _arguments(used, given)
        return allowed_call(run, frame, call.at, used.value.identity, args, used)
    kept = frame.kept.get(call.name, empty_context)
    if not kept and written_signature(used) is not None:
        given = input_of(used, _arguments(used, given))
    is_first = not frame.round and has_files(workflow_of(frame.pattern), call.name)
    return Begin(used, given, kept, frame.attachments if is_first else (), call)


def _arguments(used: Pattern, given: Json) -> dict[str, Json]:
    """The arguments of what is used, with defaults."""
    args, name = arguments_of(used, given), used.value.identity
    if not isinstance(args, dict):
        raise ValidationError(f'"{name}" takes a record, found {write_json(args)[:80]}')
    return checked(name, parameters_of(tool_spec_of(used)), args)


def has_files(flow: Workflow, name: str) -> bool:
    """Whether what is attached to the input of a workflow goes to a node, too.

    It does where ``()`` leads to the node, and where a choice carries on what such a node has.
    """
    return any(
        arrow.source is None or (arrow.is_choice and has_files(flow, arrow.source))
        for arrow in flow.nodes[name].input.arrows
    )


def expect_readers(pattern: Pattern) -> None:
    """Check that what files are attached to goes to agents alone.

    Raises:
        ValidationError: it goes to a tool of a workflow.
    """
    if is_agent(pattern):
        return
    flow = workflow_of(pattern)
    for name, node in flow.nodes.items():
        if node.pattern is None or not has_files(flow, name):
            continue
        if is_tool(node.pattern):
            workflow = pattern.value.identity
            raise ValidationError(
                f'"{name}", a tool, gets the input of "{workflow}": files are for agents alone'
            )
        expect_readers(node.pattern)


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
    if problem := result_problem(run, frame.pattern, result):
        return _failed(run, frame, problem)
    answer = Message(AssistantRole, _said(result))
    frame = evolve(
        frame,
        status=Status.DONE,
        result=result,
        unfinished=unfinished or frame.unfinished,
        context=frame.context if frame.call else frame.context.append(answer),
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
        waiting=pmap(),
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
