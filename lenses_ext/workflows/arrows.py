"""The arrows of an agent or workflow, the answers they ask for, and which never go together.

Every path but the signature is made of arrows between names: ``(a)-->(b)-->(c)`` is two. The empty
node ``()`` is the input of the workflow at the left of an arrow, and its result at the right.

Whether an answer is the one that an arrow asks for is said here alone: for the run of a workflow,
its checks and the combinations of its choices.

Every way in which the choices can go is followed once. Choices that no run makes after another one
are not combined, so a chain of choices has as many ways as it has ends.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Final, Literal, TypeAlias

from attrs import field, frozen
from pyrsistent import PMap

from gram import Pattern, TreePath, Value, is_edge
from gram.trees import WALK_SUBJECT

from ..schemas import NotJson, json_key, to_json_value
from ..signatures import is_path, is_typed_path
from ..weak_cache import memo


def conditions_of(value: Value | None) -> Mapping[str, Value]:
    """The wanted values by field of the answer; under ``""`` that of the whole answer."""
    if value is None:
        return {}
    return value if isinstance(value, PMap) else {"": value}


def parts_of(answer: object) -> Mapping[str, object]:
    """The fields of an answer, and under ``""`` the whole answer."""
    return {**(answer if isinstance(answer, dict) else {}), "": answer}


def all_hold(conditions: Mapping[str, Value], parts: Mapping[str, object]) -> bool:
    """Whether the parts of an answer are the wanted values; a part that is missing is none."""
    return all(name in parts and is_value(parts[name], conditions[name]) for name in conditions)


def is_value(answer: object, value: Value) -> bool:
    """Whether JSON is what a value of the notation says, as JSON Schema compares.

    >>> from gram import Symbol, TaggedString
    >>> is_value("ok", Symbol("ok")), is_value(1.0, 1), is_value(True, 1)
    (True, True, False)
    >>> is_value(None, TaggedString("json", "null"))
    True
    """
    return json_key(answer) == answer_key(value)


def answer_key(value: Value) -> Hashable:
    """What all answers that are a value have in common; of what no answer is, a key of its own."""
    try:
        return json_key(to_json_value(value))
    except NotJson:
        return NotJson


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
        if not is_path(element) or is_typed_path(element):
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
    name, at_once = record.get("as"), record.get("at_once")
    return FlowArrow(
        source,
        target,
        _kind(edge),
        record.get("is"),
        name if isinstance(name, str) else None,
        at_once if isinstance(at_once, int) and not isinstance(at_once, bool) else None,
        path,
        edge,
    )


def _kind(edge: Pattern) -> ArrowKind:
    labels = edge.value.labels
    if not labels:
        return "PLAIN"
    (label, *others) = sorted(labels)
    known: dict[str, ArrowKind] = {each: each for each in ARROW_LABELS}
    return "UNKNOWN" if others else known.get(label, "UNKNOWN")


def handoffs(agent: Pattern) -> tuple[str, ...]:
    """The names of the agents that an agent may hand its conversation over to, in order.

    >>> from gram import loads_one
    >>> handoffs(loads_one("[triage:Agent | (triage)-[:HANDOFF]->(billing)]"))
    ('billing',)
    """
    return tuple(
        dict.fromkeys(
            arrow.target
            for arrow in arrows_in(agent)
            if arrow.kind == HANDOFF and arrow.source == agent.value.identity and arrow.target
        )
    )


MOST_WAYS = 4096
"""How many ways through a workflow are followed."""


class Ways:
    """The ways in which the choices of a workflow can go.

    Attributes:
        live: for each way, the indices of the arrows that are taken.
        too_many: there are more ways than are followed, which is a fault.
    """

    def __init__(self, order: Sequence[str], arrows: Sequence[FlowArrow]) -> None:
        self.arrows = tuple(arrows)
        self._index = {id(arrow): index for index, arrow in enumerate(self.arrows)}
        self._leading: dict[str | None, list[int]] = {}
        self._leaving: dict[str | None, list[int]] = {}
        for index, arrow in enumerate(self.arrows):
            self._leading.setdefault(arrow.target, []).append(index)
            self._leaving.setdefault(arrow.source, []).append(index)
        self.live: list[frozenset[int]] = [frozenset()]
        self.too_many = False
        for name in (None, *order):
            leaving = self._leaving.get(name, ())
            arms, complete = _arms([self.arrows[index] for index in leaving])
            taken = [frozenset(leaving[index] for index in arm) for arm in arms]
            self.live = [
                way | each
                for way in self.live
                for each in (taken if name is None or self.runs(way, name) else [frozenset()])
            ]
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
        chosen = [
            index
            for names, arrows in tests.items()
            for index in arrows.get(tuple([given[name] for name in names]), ())
        ]
        if chosen or rest or not tests:
            seen[tuple(sorted((*always, *(chosen or rest))))] = None
    return seen or [tuple(always)], next(answers, None) is None


_OTHER = object()
"""A value that no test asks for."""
