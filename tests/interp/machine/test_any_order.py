"""Random workflows: no order of answers changes the State in which a run ends, sync and async."""

from __future__ import annotations

import asyncio
import json
from random import Random
from typing import Any

import attrs
from hypothesis import assume, strategies as st
from pyrsistent import pmap

from gram import GramError, Pattern, parse
from interp import Tool, ToolLibrary, Usage, begin, machine
from interp.machine.messages import AssistantRole, Message, ToolCall, UserRole
from lenses_ext import resolve
from tests.by_day import given_few

ANSWER = "[:Answer:String {enum: ['yes', 'no']}]"
LOOK = '[look:Tool {description: "Looks"} | ()==>(::Any)]'
KINDS = ("agent", "caller", "chooser", "flow")


def an_agent(name: str, *inside: str) -> str:
    """An agent as text."""
    written = f'{name}:Agent {{instruction: "{name}", model: "A/b"}}'
    return f"[{written} | {', '.join(inside)}]" if inside else f"({written})"


@st.composite
def workflows(draw: st.DrawFn, depth: int = 2, name: str = "w") -> str:
    """A workflow as text; its arrows lead from earlier nodes to later ones."""
    nodes = [f"{name}{n}" for n in range(draw(st.integers(1, 5)))]
    kinds = [draw(st.sampled_from(KINDS if depth else KINDS[:3])) for _ in nodes]
    elements, arrows = [], []
    for node, kind in zip(nodes, kinds, strict=True):
        inside = {"caller": (LOOK,), "chooser": (ANSWER,)}.get(kind, ())
        flow = kind == "flow"
        elements.append(draw(workflows(depth - 1, node)) if flow else an_agent(node, *inside))
    ends = set(nodes)
    for at, node in enumerate(nodes):
        later = nodes[at + 1 :]
        if kinds[at] == "chooser" and len(later) > 1 and draw(st.booleans()):
            first, second = draw(st.permutations(later))[:2]
            arrows.append(f'({node})-[:WHEN {{is: "yes"}}]->({first})')
            arrows.append(f"({node})-[:OTHERWISE]->({second})")
            ends.discard(node)
        elif later and draw(st.booleans()):
            arrows += [f"({node})-->({other})" for other in later[: draw(st.integers(1, 2))]]
            ends.discard(node)
    if draw(st.booleans()):
        elements.append(LOOK.replace("look", f"{name}s"))
        elements.append(an_agent(f"{name}e"))
        arrows.append(f"({name}s)-[:EACH {{at_once: 2}}]->({name}e)")
        ends.add(f"{name}e")
    if arrows:  # a node without an arrow would be a fault
        arrows += [f"({end})-->()" for end in sorted(ends)]
    label = "Workflow"
    if draw(st.integers(0, 3)) == 0:
        said = "yes" if kinds[-1] == "chooser" else "never"
        label = f'Loop {{max: 2, until: {{{nodes[-1]}: "{said}"}}}}'
    return f"[{name}:{label} | {', '.join([*elements, *arrows])}]"


def read(text: str) -> Pattern:
    """A workflow that can be run; others, such as with types that do not fit, are left out."""
    try:
        found = resolve(parse(text))
        machine.start(found, "x")
    except GramError:
        assume(False)
    return found


def reply(request: machine.Request) -> Message:
    """A reply that depends on the request alone: calls first, where there are tools."""
    last = request.messages[-1]
    if request.tools and last.role == UserRole:
        calls = tuple(ToolCall(f"c{n}", "look", "{}") for n in range(2))
        return Message(AssistantRole, "", calls)
    if request.answer is not None:
        return Message(AssistantRole, json.dumps(["yes", "no"][len(last.content) % 2]))
    return Message(AssistantRole, f"{request.instruction}<{len(last.content)}")


def answer(effect: machine.Effect, failing: str = "") -> Any:
    """The event that answers an effect, the same whenever it comes; one tool may fail."""
    if isinstance(effect, machine.CallModel):
        return machine.ModelReplied(effect.at, reply(effect.request))
    if isinstance(effect, machine.CallTool):
        if effect.name == failing:
            return machine.CallFailed(effect.at, "broke")
        return machine.ToolReturned(effect.at, "[1,2,3]")
    return machine.Decided(effect.at, True)


def ended(program: Pattern, random: Random | None, failing: str = "") -> machine.State:
    """The State in which a run ends whose answers come in some order, else in the order asked."""
    state, effects, _ = machine.start(program, "x")
    waiting = list(effects)
    while waiting:
        effect = waiting.pop(random.randrange(len(waiting)) if random else 0)
        state, effects, _ = machine.step(state, answer(effect, failing))
        waiting += effects
        if failing:  # what a workflow that failed had under way is not waited for
            left = {each.at for each in machine.pending(state)}
            waiting = [each for each in waiting if each.at in left]
        assert {each.at for each in waiting} == {each.at for each in machine.pending(state)}
    return state


def without_counts(state: machine.State) -> machine.State:
    """The same without what was used: tokens and calls, also those that a failed workflow made."""
    nothing = Usage(0, 0)
    run = attrs.evolve(state.run, usage=nothing, counted=nothing, calls=0, called=())
    frame = state.frame
    if frame.status is machine.Status.FAILED:
        frame = attrs.evolve(frame, made=pmap())
    return attrs.evolve(state, run=run, frame=frame)


@given_few(workflows().map(read), st.randoms(use_true_random=False), st.data())
def test_after_one_failure_only_what_was_used_depends_on_the_order(
    program: Pattern, random: Random, data: st.DataObject
) -> None:
    steps = [tool for name in _names(program) if (tool := f"{name}s") in _names(program)]
    failing = data.draw(st.sampled_from(steps or ["none"]))
    state = ended(program, None, failing)
    assert without_counts(ended(program, random, failing)) == without_counts(state)


class Replies:
    """A model that answers as `reply` does, after a while if it is asked without blocking."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def complete(self, request: machine.Request) -> Message:
        """The reply."""
        return reply(request)

    async def acomplete(self, request: machine.Request) -> Message:
        """The reply, later."""
        for _ in range(self._random.randrange(4)):
            await asyncio.sleep(0)
        return reply(request)


def library_of(program: Pattern) -> ToolLibrary:
    """Implementations of the tools of a program, which all give the same list."""
    schema = {"type": "object", "properties": {}}
    names = {"look", *(f"{name}s" for name in _names(program))}
    return ToolLibrary.of(Tool(name, "Looks", schema, lambda _: [1, 2, 3]) for name in names)


def _names(pattern: Pattern) -> list[str]:
    inside = [name for each in pattern.elements for name in _names(each)]
    return [pattern.value.identity, *inside]


@given_few(workflows().map(read), st.randoms(use_true_random=False))
def test_any_order_of_answers_and_both_pumps_end_in_the_same_state(
    program: Pattern, random: Random
) -> None:
    state = ended(program, None)
    assert state.status is machine.Status.DONE
    assert ended(program, random) == state
    options: Any = {"model": Replies(random), "match": "name"}
    blocking, later = (begin(program, "x", library_of(program), **options) for _ in range(2))
    blocking.finish()
    asyncio.run(later.afinish())
    assert blocking.state == later.state == state
