"""A workflow or loop as it is read: its nodes, its arrows, what waits for what.

Pure data of one pattern, computed once while the pattern lives. It is read of any pattern, faults
included; what is wrong with one is told by the checks of programs. The references among its
elements have to be resolved before it is run; until then a node's ``pattern`` is the bare name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from typing import Final

from attrs import field, frozen
from pyrsistent import PMap

from gram import Pattern, Subject, Value, is_reference
from gram.errors import expect

from ..labels import TOOL, is_loop, is_runnable, is_tool
from ..language import INPUT, parameter_names, written_signature
from ..weak_cache import memo
from .arrows import FlowArrow, Ways, all_hold, arrows_in, conditions_of, parts_of

RESULT: Final = None
"""The target of the arrows that lead to the result."""


@frozen
class Join:
    """What comes together at a node, or at the result.

    Attributes:
        arrows: those that lead there, in order; those that are not written, too.
        is_record: whether what the live arrows carry becomes a record, by `key_of`; else exactly
            one of them is live in a run, and its value is passed as it is.
    """

    arrows: tuple[FlowArrow, ...] = ()
    is_record: bool = False


@frozen
class FlowNode:
    """A node: one use of an agent, a tool or a workflow.

    Attributes:
        name: its name in the arrows, of which there is one in a workflow.
        definition: the name of what it uses: ``writer`` of ``(again::writer)``, else its own.
        pattern: what it uses, from among the elements; a bare name where that is not resolved, and
            None where no element has the name.
        input: the arrows that lead to it.
        each: of these the one that maps over a list, or None: the node is then run for each item,
            and its answer is the list of these answers, in the order of the list.
        outgoing: the arrows that start from it, in order; the one to the result that is not
            written, too.
        waits_for: the names of the nodes whose arrows lead to it.
    """

    name: str
    definition: str
    pattern: Pattern | None
    input: Join = Join()
    each: FlowArrow | None = None
    outgoing: tuple[FlowArrow, ...] = ()
    waits_for: frozenset[str] = frozenset()


@frozen
class Loop:
    """How a workflow is repeated.

    Attributes:
        max: how many rounds there are at most; None when it is missing, a fault.
        until: by the name of a node, what its answer has to be for the loop to end, a value or a
            map of fields; all of them have to hold. Empty when it is missing, a fault.
        feedback: what the next round gets as its input: the answers of the nodes without an arrow
            to another one. As `Join`, under the names of the nodes.
    """

    max: int | None
    until: Mapping[str, Value]
    feedback: Join

    def is_ended_by(self, answers: Mapping[str, object]) -> bool:
        """Whether the answers of a round, by the names of the nodes, end it."""
        return bool(self.until) and all(
            name in answers and all_hold(conditions_of(wanted), parts_of(answers[name]))
            for name, wanted in self.until.items()
        )


@frozen
class Workflow:
    """A workflow as it is read: nodes, arrows and result.

    Attributes:
        nodes: its nodes by name, in the order of the elements, then of the arrows.
        arrows: all of its arrows, those that are not written behind the others.
        order: the names of the nodes, none before one that it waits for. Nodes in a cycle, which
            is a fault, come last.
        result: the arrows that lead to the result.
        inputs: the names of its parameters: of its signature, else ``input``.
        ways: the ways in which its choices can go.
        loop: how it is repeated, None for a workflow that is not a Loop.
    """

    nodes: Mapping[str, FlowNode]
    arrows: tuple[FlowArrow, ...]
    order: tuple[str, ...]
    result: Join
    ways: Ways = field(eq=False, repr=False)
    inputs: tuple[str, ...] = (INPUT,)
    loop: Loop | None = field(default=None)

    def key_of(self, arrow: FlowArrow) -> str:
        """The name of what an arrow carries in a record.

        That is its ``as``, else the name of its source. Of the input it is the name of the
        workflow's only parameter, else ``input``.
        """
        if arrow.key is not None:
            return arrow.key
        if arrow.source is not None:
            return arrow.source
        return self.inputs[0] if len(self.inputs) == 1 else INPUT


@memo
def workflow_of(pattern: Pattern) -> Workflow:
    """What a workflow or loop says; the same `Workflow` for the same pattern."""
    expect(pattern, Pattern, "pattern", by="workflow_of")
    written = arrows_in(pattern)
    uses = _uses(pattern)
    arrows = (*written, *_defaults(uses, written))
    order = _order(uses, arrows)
    ways = Ways(order, arrows)

    def join(leading: Iterable[FlowArrow]) -> Join:
        several = tuple(leading)
        named = any(each.key is not None for each in several)
        return Join(several, named or not ways.at_most_one(several))

    leading_to: dict[str | None, list[FlowArrow]] = {}
    leaving: dict[str | None, list[FlowArrow]] = {}
    for arrow in arrows:
        leading_to.setdefault(arrow.target, []).append(arrow)
        leaving.setdefault(arrow.source, []).append(arrow)
    nodes = {}
    for name, (definition, used) in uses.items():
        leading = leading_to.get(name, [])
        sources = (each.source for each in leading)
        nodes[name] = FlowNode(
            name,
            definition,
            used,
            join(leading),
            next((each for each in leading if each.kind == "EACH"), None),
            tuple(leaving.get(name, ())),
            frozenset(source for source in sources if source is not None),
        )
    loop = None
    if is_loop(pattern):
        to_others = {each.source for each in written if each.target is not RESULT}
        last = [name for name in uses if name not in to_others]
        alone = ways.at_most_one_run(last)
        feedback = Join(tuple(FlowArrow(name, RESULT) for name in last), not alone)
        loop = Loop(_rounds(pattern), _until(pattern, last), feedback)
    result = join(leading_to.get(RESULT, ()))
    return Workflow(nodes, arrows, order, result, ways, _inputs(pattern), loop)


def _uses(pattern: Pattern) -> dict[str, tuple[str, Pattern | None]]:
    """The nodes by name, with the names of what they use and that from among the elements."""
    known = {
        each.value.identity: each
        for each in pattern.elements
        if each.value.identity and (is_tool(each) or is_runnable(each) or is_reference(each))
    }
    ends = [end for arrow in arrows_in(pattern) if arrow.pattern for end in arrow.pattern.elements]
    labels = {
        end.value.identity: min(end.value.labels)
        for end in ends
        if end.value.identity and end.value.labels
    }
    named = dict.fromkeys(end.value.identity for end in ends if end.value.identity)
    used_again = set(labels.values())
    names = [name for name in known if name in named or name not in used_again]
    return {
        name: (labels.get(name, name), known.get(labels.get(name, name)))
        for name in dict.fromkeys((*names, *named))
    }


def _defaults(uses: Iterable[str], written: Iterable[FlowArrow]) -> list[FlowArrow]:
    """The arrows that are not written.

    A node without an incoming arrow gets the input. Where no arrow leads to the result, the nodes
    without an outgoing one give it.
    """
    written = tuple(written)
    targets = {each.target for each in written}
    sources = {each.source for each in written}
    inputs = [FlowArrow(None, name) for name in uses if name not in targets]
    if RESULT in targets:
        return inputs
    return [*inputs, *(FlowArrow(name, RESULT) for name in uses if name not in sources)]


def _order(uses: Mapping[str, object], arrows: Iterable[FlowArrow]) -> tuple[str, ...]:
    """The names such that none is before one that it waits for, else in the order of the uses."""
    names = list(uses)
    places = {name: at for at, name in enumerate(names)}
    sorter = TopologicalSorter[str](dict.fromkeys(names, ()))
    for arrow in arrows:
        if arrow.source is not None and arrow.target is not None:
            sorter.add(arrow.target, arrow.source)
    with suppress(CycleError):  # those in a cycle come last
        sorter.prepare()
    free = sorted(places[name] for name in sorter.get_ready())
    order: dict[str, None] = {}
    while free:
        name = names[heappop(free)]
        order[name] = None
        sorter.done(name)
        for after in sorter.get_ready():
            heappush(free, places[after])
    return (*order, *(name for name in names if name not in order))


def _rounds(pattern: Pattern) -> int | None:
    most = pattern.value.properties.get("max")
    return most if isinstance(most, int) and not isinstance(most, bool) else None


def _until(pattern: Pattern, last: list[str]) -> Mapping[str, Value]:
    until = pattern.value.properties.get("until")
    if until is None:
        return {}
    if isinstance(until, PMap):
        return {name: until[name] for name in sorted(until)}
    return {last[0]: until} if len(last) == 1 else {"": until}


def _inputs(pattern: Pattern) -> tuple[str, ...]:
    signature = written_signature(pattern)
    if signature is None:
        return (INPUT,)
    return parameter_names(Pattern(Subject("", {TOOL}), (signature,)))
