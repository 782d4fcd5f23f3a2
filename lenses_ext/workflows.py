"""Workflows and loops as they are read: nodes, arrows, what waits for what.

Pure data of one pattern, computed once while the pattern lives. It is read of any pattern, faults
included; what is wrong with one is told by the checks of programs. The references among its
elements have to be resolved before it is run; until then a node's ``pattern`` is the bare name.

Every path but the signature is made of arrows between names: ``(a)-->(b)-->(c)`` is two. The empty
node ``()`` is the input of the workflow at the left of an arrow, and its result at the right.

Whether an answer is the one that an arrow asks for is said here alone: for the run of a workflow,
its checks and the combinations of its choices.

Every way in which the choices can go is followed once. Choices that no run makes after another one
are not combined, so a chain of choices has as many ways as it has ends.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from itertools import islice, product
from typing import Final, Literal, TypeAlias, TypeVar

from attrs import field, frozen
from pyrsistent import PMap

from gram import Pattern, Subject, TreePath, Value, is_edge
from gram.errors import expect
from gram.trees import WALK_SUBJECT

from .labels import TOOL, is_loop
from .language import INPUT, is_arrows, is_node, parameter_names, written_signature
from .schemas import NotJson, json_key, to_json_value
from .weak_cache import memo

__all__ = [
    "ARROW_LABELS", "EACH", "HANDOFF", "OTHERWISE", "WHEN", "FlowArrow", "FlowNode", "Join",
    "Loop", "Workflow", "arrows_in", "grouped", "handoffs", "workflow_of",
]  # fmt: skip


def conditions_of(value: Value | None) -> Mapping[str, Value]:
    """The wanted values by field of the answer; under ``""`` that of the whole answer."""
    if value is None:
        return {}
    return value if isinstance(value, PMap) else {"": value}


def parts_of(answer: object) -> Mapping[str, object]:
    """The fields of an answer, and under ``""`` the whole answer."""
    return {**(answer if isinstance(answer, dict) else {}), "": answer}


def all_hold(conditions: Mapping[str, Value], parts: Mapping[str, object]) -> bool:
    """Whether the parts of an answer are the wanted values, as JSON Schema compares.

    A part that is missing is none.

    >>> from gram import Symbol, TaggedString
    >>> given = {"a": "ok", "b": 1.0, "c": None}
    >>> all_hold({"a": Symbol("ok"), "b": 1, "c": TaggedString("json", "null")}, given)
    True
    >>> all_hold({"b": True}, given), all_hold({"d": TaggedString("json", "null")}, given)
    (False, False)
    """
    wanted = {name: answer_key(value) for name, value in conditions.items()}
    return all(name in parts and json_key(parts[name]) == wanted[name] for name in wanted)


def answer_key(value: Value) -> Hashable:
    """What all answers that are a value have in common; of what no answer is, a key of its own."""
    try:
        return json_key(to_json_value(value))
    except NotJson:
        return NotJson


K = TypeVar("K")
V = TypeVar("V")

WHEN: Final = "WHEN"
"""An arrow that is taken when its source answers what it says."""
OTHERWISE: Final = "OTHERWISE"
"""An arrow that is taken when no other of its choice is."""
EACH: Final = "EACH"
"""An arrow that maps over a list: what follows it is run for each item."""
HANDOFF: Final = "HANDOFF"
"""An arrow on which an agent hands the conversation over to another."""

ARROW_LABELS: Final = (WHEN, OTHERWISE, EACH, HANDOFF)
"""The labels that an arrow may have; without one it is always taken and carries the answer."""

ArrowKind: TypeAlias = Literal["PLAIN", "WHEN", "OTHERWISE", "EACH", "HANDOFF", "UNKNOWN"]
_KINDS: Final[dict[frozenset[str], ArrowKind]] = {frozenset({each}): each for each in ARROW_LABELS}
_KINDS[frozenset()] = "PLAIN"


@frozen
class FlowArrow:
    """One arrow.

    Attributes:
        source: the name of the node it starts from; None for the input of the workflow.
        target: the name of the node it points to; None for the result of the workflow.
        kind: ``PLAIN``, or its label; ``UNKNOWN`` for a label that means nothing, a fault.
        equals: of WHEN, what the source's answer has to be: a value, or a map of fields.
        key: the name of what it carries where that becomes a field of a record (``as``), or None.
        at_once: of EACH, how many items may be worked on at a time, or None.
        path: where its edge is, from the pattern that it is an element of; ``()`` when it is not
            written: a node without an incoming arrow gets the input, one without an outgoing
            arrow gives the result.
        pattern: its edge; None when it is not written.
    """

    source: str | None
    target: str | None
    kind: ArrowKind = "PLAIN"
    equals: Value | None = None
    key: str | None = None
    at_once: int | None = None
    path: TreePath = field(default=(), eq=False)
    pattern: Pattern | None = field(default=None, eq=False, repr=False)

    @property
    def is_written(self) -> bool:
        """Whether it is written, and not there by default."""
        return self.pattern is not None

    @property
    def is_choice(self) -> bool:
        """Whether it is taken for some answers alone; it carries what its source was given."""
        return self.kind in (WHEN, OTHERWISE)

    @property
    def conditions(self) -> Mapping[str, Value]:
        """Of WHEN, the values by field of the answer; under ``""`` that of the whole answer."""
        return conditions_of(self.equals)

    def is_for(self, answer: object) -> bool:
        """Of WHEN, whether it is taken for an answer, which is JSON."""
        return all_hold(self.conditions, parts_of(answer))


def edges_in(pattern: Pattern) -> Iterator[tuple[TreePath, Pattern]]:
    """The edges among the elements of a pattern that are no signature, with their paths."""
    for index, element in enumerate(pattern.elements):
        if not is_arrows(element):
            continue
        if element.value == WALK_SUBJECT:
            yield from (((index, at), edge) for at, edge in enumerate(element.elements))
        else:
            yield (index,), element


@memo
def arrows_in(pattern: Pattern) -> tuple[FlowArrow, ...]:
    """The arrows that are written among the elements of an agent or workflow, in their order."""
    return tuple(_arrow(path, edge) for path, edge in edges_in(pattern) if is_edge(edge))


def _arrow(path: TreePath, edge: Pattern) -> FlowArrow:
    source, target = (end.value.identity or None for end in edge.elements)
    record = edge.value.properties
    key = name if isinstance(name := record.get("as"), str) else None
    most = _whole(record.get("at_once"))
    kind = _KINDS.get(edge.value.labels, "UNKNOWN")
    return FlowArrow(source, target, kind, record.get("is"), key, most, path, edge)


def handoffs(agent: Pattern) -> tuple[str, ...]:
    """The names of the agents that an agent may hand its conversation over to, in order.

    >>> from gram import loads_one
    >>> handoffs(loads_one("[triage:Agent | (triage)-[:HANDOFF]->(billing)]"))
    ('billing',)
    """
    own = agent.value.identity
    arrows = (each for each in arrows_in(agent) if each.kind == HANDOFF and each.source == own)
    return tuple(dict.fromkeys(each.target for each in arrows if each.target))


MOST_WAYS = 4096
"""How many ways through a workflow are followed."""


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Values by their keys, in order."""
    found: dict[K, list[V]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


class Ways:
    """The ways in which the choices of a workflow can go.

    Attributes:
        live: for each way, the indices of the arrows that are taken.
        too_many: there are more ways than are followed, which is a fault.
    """

    def __init__(self, order: Sequence[str], arrows: Sequence[FlowArrow]) -> None:
        self.arrows = tuple(arrows)
        self._index = {id(arrow): index for index, arrow in enumerate(self.arrows)}
        self._leading = grouped((each.target, at) for at, each in enumerate(self.arrows))
        self._leaving = grouped((each.source, at) for at, each in enumerate(self.arrows))
        self.live: list[frozenset[int]] = [frozenset()]
        self.too_many = False
        for name in (None, *order):
            leaving = self._leaving.get(name, ())
            arms, complete = _arms([self.arrows[index] for index in leaving])
            taken = [frozenset(leaving[index] for index in arm) for arm in arms]
            runs = {way for way in self.live if name is None or self.runs(way, name)}
            none = [frozenset[int]()]
            self.live = [one | arm for one in self.live for arm in (taken if one in runs else none)]
            if not complete or len(self.live) > MOST_WAYS:
                self.too_many = True
                self.live = self.live[:MOST_WAYS]

    def runs(self, way: frozenset[int], name: str | None) -> bool:
        """Whether a node is run in a way; None asks for the result."""
        return not way.isdisjoint(self._leading.get(name, ()))

    def at_most_one(self, arrows: Iterable[FlowArrow]) -> bool:
        """Whether no two of some arrows are ever taken together."""
        indices = {self._index[id(each)] for each in arrows}
        return len(indices) < 2 or all(len(way & indices) < 2 for way in self.live)

    def together(self, arrows: Iterable[FlowArrow]) -> Iterator[tuple[FlowArrow, FlowArrow]]:
        """Those of some arrows that are taken together with an earlier one, each behind it."""
        indices = {self._index[id(each)] for each in arrows}
        found: dict[int, int] = {}
        for way in self.live:
            first, *others = sorted(way & indices) or [0]
            for other in others:
                found.setdefault(other, first)
        return ((self.arrows[first], self.arrows[other]) for other, first in found.items())

    def at_most_one_run(self, names: Iterable[str]) -> bool:
        """Whether no two of some nodes are ever run together."""
        names = tuple(names)
        return all(sum(self.runs(way, name) for name in names) < 2 for way in self.live)


def _arms(leaving: Sequence[FlowArrow]) -> tuple[Iterable[tuple[int, ...]], bool]:
    """The arrows of one node that can be taken together, for each of the answers it may give.

    Answers differ by what is asked of them: each field has the tested values, and another one.
    Whether these are all, too: a node with many choices may have more than are followed.
    """
    always = [index for index, each in enumerate(leaving) if not each.is_choice]
    rest = [index for index, each in enumerate(leaving) if each.kind == "OTHERWISE"]
    tests: dict[tuple[str, ...], dict[tuple[Hashable, ...], list[int]]] = {}
    values: dict[str, dict[Hashable, None]] = {}
    for index, each in enumerate(leaving):
        if each.kind == "WHEN":
            wanted = {name: answer_key(value) for name, value in each.conditions.items()}
            tests.setdefault(tuple(wanted), {}).setdefault(tuple(wanted.values()), []).append(index)
            for name, key in wanted.items():
                known = values.setdefault(name, {_OTHER: None})
                if key is not NotJson:  # which no answer is
                    known[key] = None
    seen: dict[tuple[int, ...], None] = {}
    answers = product(*values.values())
    for answer in islice(answers, MOST_WAYS):
        given = dict(zip(values, answer, strict=True))
        keys = ((arrows, tuple([given[name] for name in names])) for names, arrows in tests.items())
        chosen = [index for arrows, key in keys for index in arrows.get(key, ())]
        if chosen or rest or not tests:
            seen[tuple(sorted((*always, *(chosen or rest))))] = None
    return seen or [tuple(always)], next(answers, None) is None


_OTHER = object()
"""A value that no test asks for."""


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
        parts = {name: parts_of(answers[name]) for name in self.until if name in answers}
        hold = (all_hold(conditions_of(self.until[name]), of) for name, of in parts.items())
        return 0 < len(self.until) == len(parts) and all(hold)


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

    def by_key(self, join: Join) -> dict[str, list[FlowArrow]]:
        """The arrows of a join, by the names of what they carry."""
        return grouped((self.key_of(each), each) for each in join.arrows)


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

    leading_to = grouped((each.target, each) for each in arrows)
    leaving = grouped((each.source, each) for each in arrows)
    nodes = {}
    for name, (definition, used) in uses.items():
        leading = leading_to.get(name, [])
        waits_for = frozenset(each.source for each in leading if each.source is not None)
        each = next((arrow for arrow in leading if arrow.kind == "EACH"), None)
        outgoing = tuple(leaving.get(name, ()))
        nodes[name] = FlowNode(name, definition, used, join(leading), each, outgoing, waits_for)
    loop = None
    if is_loop(pattern):
        to_others = {each.source for each in written if each.target is not RESULT}
        last = [name for name in uses if name not in to_others]
        alone = ways.at_most_one_run(last)
        feedback = Join(tuple(FlowArrow(name, RESULT) for name in last), not alone)
        loop = Loop(_whole(pattern.value.properties.get("max")), _until(pattern, last), feedback)
    result = join(leading_to.get(RESULT, ()))
    path = written_signature(pattern)
    inputs = parameter_names(Pattern(Subject("", {TOOL}), (path,))) if path else (INPUT,)
    return Workflow(nodes, arrows, order, result, ways, inputs, loop)


def _uses(pattern: Pattern) -> dict[str, tuple[str, Pattern | None]]:
    """The nodes by name, with the names of what they use and that from among the elements."""
    nodes = (each for each in pattern.elements if each.value.identity and is_node(each))
    known = {each.value.identity: each for each in nodes}
    ends = [end for arrow in arrows_in(pattern) if arrow.pattern for end in arrow.pattern.elements]
    again = (end.value for end in ends if end.value.identity and end.value.labels)
    labels = {end.identity: min(end.labels) for end in again}
    named = dict.fromkeys(end.value.identity for end in ends if end.value.identity)
    used_again = set(labels.values())
    names = [name for name in known if name in named or name not in used_again]
    uses = {name: labels.get(name, name) for name in (*names, *named)}
    return {name: (definition, known.get(definition)) for name, definition in uses.items()}


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


def _whole(value: Value | None) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _until(pattern: Pattern, last: list[str]) -> Mapping[str, Value]:
    until = pattern.value.properties.get("until")
    if until is None:
        return {}
    if isinstance(until, PMap):
        return {name: until[name] for name in sorted(until)}
    return {last[0]: until} if len(last) == 1 else {"": until}
