"""The arrows among the elements of an agent or workflow, as they are read.

Every path but the signature is made of arrows between names: ``(a)-->(b)-->(c)`` is two. The empty
node ``()`` is the input of the workflow at the left of an arrow, and its result at the right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Literal, TypeAlias

from attrs import field, frozen

from gram import Pattern, TreePath, Value, is_edge
from gram.trees import WALK_SUBJECT

from ..signatures import is_path, is_typed_path
from ..weak_cache import memo
from .answers import all_hold, conditions_of, parts_of

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
