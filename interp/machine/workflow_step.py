"""How a workflow goes on: which of its nodes begin, and what their answers lead to.

A node begins when all nodes whose arrows lead to it have ended; one to which only dead arrows lead
is skipped. The order of answers changes nothing: what a node is given depends on what the others
gave alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, Final, Self

from attrs import evolve
from pyrsistent import pmap

from gram import Pattern
from lenses_ext import Workflow, is_agent, is_tool, workflow_of
from lenses_ext.language import tool_spec_of, written_signature
from lenses_ext.workflows import FlowArrow, FlowNode, Join

from ..errors import ValidationError
from ..json_text import Json, JsonText, write_json
from .contracts.values import parameters_of
from .effects import Ask, CallTool
from .frame_step import Ended, FrameStep, Happened, ToolFinished, checked, dropped
from .messages import AssistantRole, Message, ToolInvocation, UserRole, empty_context
from .requests import arguments_of, input_of
from .run_context import NOTHING_USED, RunContext
from .state import Begin, BegunNode, EndedNode, Outcome, Status, WorkflowFrame


def _arrivals(
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


def _joined(flow: Workflow, join: Join, arrived: Iterable[tuple[FlowArrow, JsonText]]) -> JsonText:
    """What some live arrows give together: a record, or what the only one carries."""
    if join.is_record:
        return _record_of({flow.key_of(arrow): value for arrow, value in arrived})
    return next(value for _, value in arrived)


def _record_of(values: Mapping[str, JsonText]) -> JsonText:
    return JsonText("{" + ",".join(f"{write_json(key)}:{values[key]}" for key in values) + "}")


def _list_of(values: Iterable[JsonText]) -> JsonText:
    return JsonText("[" + ",".join(values) + "]")


_AT_ONCE: Final = 8
"""How many items of a list are worked on at a time, where the arrow does not say."""

_OVER: Final[Mapping[str, Any]] = dict.fromkeys(("waiting", "live", "ended", "kept"), pmap())
"""What a workflow that is over has no more."""


class WorkflowStep(FrameStep[WorkflowFrame]):
    """One step of a workflow's frame."""

    @classmethod
    def begun(cls, run: RunContext, begin: Begin) -> Self:
        """Begin with an input: all nodes that wait for no other begin at once."""
        given, files = write_json(begin.given), begin.attachments
        said = Message(UserRole, _said(given), attachments=files)
        context = begin.context if begin.call else begin.context.append(said)
        frame = WorkflowFrame(begin.pattern, context, begin.call, given=given, attachments=files)
        step = cls(run, frame)
        step._advance(step._flow.order)
        return step

    def outcome(self) -> Outcome:
        """How the workflow has ended."""
        frame = self.frame
        calls, unfinished = frame.calls_made, frame.unfinished
        return Outcome(frame.result, frame.stopped, calls=calls, unfinished=unfinished)

    @property
    def _flow(self) -> Workflow:
        return workflow_of(self.frame.pattern)

    def _used_by(self, name: str) -> Pattern:
        used = self._flow.nodes[name].pattern
        assert used is not None, "a program is checked before it runs"
        return used

    # --- what is under way has begun, or has answered

    def called_by(self, call: CallTool | Ask) -> Pattern:
        """The tool that a call is of."""
        return self._used_by(self.frame.node_of(call.at))

    def begin(self, call: CallTool | Ask) -> None:
        """Begin the call of a tool, or ask about it."""
        self.new.append(call)

    def take_answer(self, call: CallTool | Ask, made: ToolInvocation) -> None:
        """Take the answer of a tool that is a node."""
        self.new.append(ToolFinished(call.at, made))
        self.inner_ended(call, Outcome(made.result_text, made.error, calls=(made,)))

    def inner_ended(self, call: CallTool | Ask, outcome: Outcome) -> None:
        """One use of a node has ended: the node has, or its next item may begin."""
        frame, place, name = self.frame, call.at, self.frame.node_of(call.at)
        step = frame.live[name]
        index = int(place[-1]) if step.is_each else 0
        made = frame.made.set(place, outcome.calls) if outcome.calls else frame.made
        self.change(waiting=frame.waiting.discard(place), made=made)
        if outcome.error is not None or outcome.said is None:
            self._fail(_step_failed(name, step, index, outcome.error))
            return
        if outcome.unfinished:
            self.change(unfinished=True)
        if not step.is_each:
            if frame.is_loop and outcome.context:
                self.change(kept=frame.kept.set(name, outcome.context))
            self._node_ended(name, outcome.said, step.given)
            return
        results = step.results.set(index, outcome.said)
        if len(results) < len(step.items):
            self.change(live=frame.live.set(name, evolve(step, results=results)))
            self._begin_items(name)
        else:
            said = _list_of(results[each] for each in range(len(step.items)))
            self._node_ended(name, said, step.given)

    def go_on(self) -> None:
        """Go on where a limit was reached."""
        for name in self._flow.order:
            if name in self.frame.live:
                self._begin_items(name)

    def _node_ended(self, name: str, said: JsonText, given: JsonText) -> None:
        """A node has given its answer: begin what has waited for it alone."""
        node = self._flow.nodes[name]
        passes_on = any(each.is_choice for each in node.outgoing)
        ended = self.frame.ended.set(name, EndedNode(said, given if passes_on else None))
        self.change(live=self.frame.live.discard(name), ended=ended)
        self._advance(_after(node))

    # --- which nodes begin

    def _advance(self, names: Iterable[str]) -> None:
        """Begin those of some nodes that wait for nothing, and skip those that are not reached."""
        flow, left = self._flow, deque(names)
        while left and not self.frame.has_ended:
            node, frame = flow.nodes[left.popleft()], self.frame
            arrived = _arrivals(flow, frame, node.input)
            if arrived is None or node.name in frame.live or node.name in frame.ended:
                continue
            if arrived:
                self._begin_node(node, _joined(flow, node.input, arrived), arrived)
            else:
                self.change(ended=frame.ended.set(node.name, EndedNode()))
                left.extend(_after(node))
        if not self.frame.has_ended and len(self.frame.ended) == len(flow.nodes):
            self._round_over()

    def _begin_node(
        self, node: FlowNode, given: JsonText, arrived: Iterable[tuple[FlowArrow, JsonText]]
    ) -> None:
        """Begin a node: once, or once for each item of the list that is mapped."""
        step, name, by = BegunNode(given, (given,)), node.name, self.frame.name
        place = (*self.frame.at, name)
        if node.each is not None:
            items: Json = next((value.value for arrow, value in arrived if arrow is node.each), [])
            if not isinstance(items, list):
                found = write_json(items)
                error = f'step "{name}" maps over a list, found {found[:80]}'
                self._fail(error, Ended(place, name, "tool", by, found, error=error))
                return
            if not items:
                nothing = _list_of(())
                self.new.append(Ended(place, name, "each", by, nothing, nothing))
                self._node_ended(name, nothing, given)
                return
            flow = self._flow
            rest = {flow.key_of(each): value for each, value in arrived if each is not node.each}
            others = _record_of(rest) if node.input.is_record else None
            step = BegunNode(given, tuple(map(write_json, items)), is_each=True, others=others)
        self.change(live=self.frame.live.set(name, step))
        self._begin_items(name)

    def _begin_items(self, name: str) -> None:
        """Begin as many uses of a node as may be under way; none where a limit is reached."""
        step, used, each = self.frame.live[name], self._used_by(name), self._flow.nodes[name].each
        at_once = (each.at_once or _AT_ONCE) if each else 1
        while step.begun < len(step.items) and step.begun - len(step.results) < at_once:
            run, frame, index = self.run, self.frame, step.begun
            after = run.spent(NOTHING_USED, [used.value.identity]) if is_tool(used) else run
            if limit := run.limit or after.limit_reached():
                if run.limits.on_limit == "answer" and frame.is_under_an_agent:
                    self._fail(f"not run: the run has reached {limit}")
                else:
                    self.run = evolve(run, limit=limit)
                return
            self.run = after
            call = CallTool(frame.place_of(name, index), name, step.items[index])
            given = step.items[index].value
            if each and step.others is not None:
                given = {**step.others.value, self._flow.key_of(each): given}
            try:
                begun = self._begun_use(call, used, given)
            except ValidationError as error:
                about = (frame.name, write_json(given))
                tool = used.value.identity
                refusal = Ended(call.at, tool, "tool", *about, error=error.message)
                self._fail(_step_failed(name, step, index, error.message), refusal)
                return
            step = evolve(step, begun=index + 1)
            self.change(live=self.frame.live.set(name, step))
            if not isinstance(begun, Begin):  # what begins is in the frame when it has one
                self.put(call.at, begun)
            self.new.append(begun)

    def _begun_use(self, call: CallTool, used: Pattern, given: Json) -> CallTool | Ask | Begin:
        """What is to be done for one use of a node, if it may be used with what it is given."""
        frame, name = self.frame, call.name
        if is_tool(used):
            return self.allowed(call.at, used.value.identity, _arguments(used, given), used)
        kept = frame.kept.get(name, empty_context)
        if not kept and written_signature(used) is not None:
            given = input_of(used, _arguments(used, given))
        files = frame.attachments if not frame.round and _has_files(self._flow, name) else ()
        return Begin(used, given, kept, files, call)

    # --- the end

    def _round_over(self) -> None:
        """All nodes have ended: this is the result, or a loop begins its next round."""
        flow, frame = self._flow, self.frame
        loop = flow.loop
        ended = {name: each.said for name, each in frame.ended.items() if each.said is not None}
        is_finished = loop is None or loop.is_ended_by(
            {name: ended[name].value for name in loop.until if name in ended}
        )
        if loop is None or is_finished or frame.round + 1 >= (loop.max or 1):
            if arrived := _arrivals(flow, frame, flow.result):
                self._end(_joined(flow, flow.result, arrived), unfinished=not is_finished)
            else:
                self._fail("no arrow to the result was taken")
        elif fed_back := _arrivals(flow, frame, loop.feedback):
            following = _joined(flow, loop.feedback, fed_back)
            self._end_round(following)
            self.change(round=frame.round + 1, given=following, ended=pmap(), unfinished=False)
            self._advance(flow.order)
        else:
            self._fail("nothing was said that the next round could begin with")

    def _end(self, result: JsonText, *, unfinished: bool) -> None:
        frame = self.frame
        if problem := self.result_problem(frame.pattern, result):
            self._fail(problem)
            return
        answer = Message(AssistantRole, _said(result))
        context = frame.context if frame.call else frame.context.append(answer)
        done = {"status": Status.DONE, "result": result, "context": context}
        self.change(**done, **_OVER, unfinished=unfinished or frame.unfinished)
        self._end_round(result)

    def _fail(self, error: str, *refused: Ended) -> None:
        """It fails, and nothing of it goes on; what is under way is not waited for.

        Of that it keeps the calls that are answered.
        """
        frame = self.frame
        self.new = deque(each for each in self.new if isinstance(each, Happened))
        self.new += (*refused, *dropped(self.run, frame))
        made = frame.calls_by_place
        self.change(status=Status.FAILED, stopped=error, unfinished=False, made=made, **_OVER)
        self._end_round(error=error)

    def _end_round(self, said: JsonText | None = None, error: str | None = None) -> None:
        frame = self.frame
        if frame.is_loop:
            about = (frame.name, frame.given, said, error)
            self.new.append(Ended(frame.at, frame.name, "round", *about))


def _after(node: FlowNode) -> list[str]:
    return [each.target for each in node.outgoing if each.target is not None]


def _arguments(used: Pattern, given: Json) -> dict[str, Json]:
    args, name = arguments_of(used, given), used.value.identity
    if not isinstance(args, dict):
        raise ValidationError(f'"{name}" takes a record, found {write_json(args)[:80]}')
    return checked(name, parameters_of(tool_spec_of(used)), args)


def _has_files(flow: Workflow, name: str) -> bool:
    """Whether what is attached to the input of a workflow goes to a node, too.

    It does where ``()`` leads to the node, and where a choice carries on what such a node has.
    """
    return any(
        arrow.source is None or (arrow.is_choice and _has_files(flow, arrow.source))
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
        if node.pattern is None or not _has_files(flow, name):
            continue
        if is_tool(node.pattern):
            workflow = pattern.value.identity
            raise ValidationError(
                f'"{name}", a tool, gets the input of "{workflow}": files are for agents alone'
            )
        expect_readers(node.pattern)


def _step_failed(name: str, step: BegunNode, index: int, error: object) -> str:
    item = f" (item {index + 1} of {len(step.items)})" if step.is_each else ""
    return f'step "{name}"{item} failed: {error}'


def _said(value: JsonText) -> str:
    return str(value.value if value.startswith('"') else value)
