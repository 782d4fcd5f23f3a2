"""Rewrites paths: which way each hop is read, and whose text each node takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from attrs import frozen

from ..reading import comments, syntax
from ..trees import WALK_SUBJECT, Pattern, Subject, is_edge
from ..writing import Spelling, write_arrow, write_subject
from .alignment import PATTERNS, align
from .parts import Part
from .rewrite_subject import rewrite_subject
from .writer import Writer

Direction: TypeAlias = Literal["right", "left"]
Spell: TypeAlias = Callable[[Part], Spelling]
"""Gives the spelling of a new pattern."""


@frozen
class Hop:
    """A hop of the new path.

    Attributes:
        edge: the relationship it stands for.
        old: the index of the arrow that is rewritten, or None for a new one.
        direction: which way the arrow points; one without a point or with two reads ``right``.
    """

    edge: Part
    old: int | None
    direction: Direction

    @property
    def left(self) -> Part:
        """The node before the arrow."""
        return self.edge.parts[0 if self.direction == "right" else 1]

    @property
    def right(self) -> Part:
        """The node after the arrow."""
        return self.edge.parts[1 if self.direction == "right" else 0]


def hops_of(path: syntax.Path, new: Part) -> list[Hop] | None:
    """The hops that make a path of ``new`` with the least change; None when it cannot be one."""
    tree = new.pattern
    if is_edge(tree):
        edges = [new]
    elif tree.value == WALK_SUBJECT and len(tree.elements) > 1 and all(map(is_edge, tree.elements)):
        edges = new.parts
    else:
        return None
    return _cheapest(path, edges, align(path.edges, [edge.pattern for edge in edges], PATTERNS))


def _cheapest(
    path: syntax.Path, edges: Sequence[Part], partners: Sequence[int | None]
) -> list[Hop] | None:
    """Choose the direction of each hop so that neighbours share a node, by dynamic programming."""
    best: list[tuple[int, Hop, int | None]] = []  # cost so far, hop, index of the choice before
    choices: list[list[tuple[int, Hop, int | None]]] = []
    for edge, old in zip(edges, partners, strict=True):
        best = []
        for hop in (Hop(edge, old, "right"), Hop(edge, old, "left")):
            before = [
                (cost, index)
                for index, (cost, previous, _) in enumerate(choices[-1] if choices else [])
                if previous.right.pattern == hop.left.pattern
            ]
            if before or not choices:
                cost, index = min(before) if before else (0, None)
                best.append((cost + _cost(path, hop), hop, index))
        if not best:
            return None
        choices.append(best)
    at: int | None = min(range(len(best)), key=lambda index: best[index][0])
    hops: list[Hop] = []
    for level in reversed(choices):
        assert at is not None
        _, hop, at = level[at]
        hops.append(hop)
    return hops[::-1]


def _cost(path: syntax.Path, hop: Hop) -> int:
    """How much of the old text a hop changes: its heads, and the nodes at its ends."""
    if hop.old is None:
        return 0 if hop.direction == "right" else 1
    kind = path.arrows[hop.old].kind
    heads = 0
    if (kind == "left") != (hop.direction == "left"):
        heads = 1 if kind in ("left", "right") else 3
    left, right = path.nodes[hop.old], path.nodes[hop.old + 1]
    return heads + (left.pattern != hop.left.pattern) + (right.pattern != hop.right.pattern)


def rewrite_path(writer: Writer, path: syntax.Path, hops: Sequence[Hop], spell: Spell) -> None:
    """Write the hops that `hops_of` found over an old path."""
    sources = _old_nodes(path, [hops[0].left, *(hop.right for hop in hops)], hops)
    for index, hop in enumerate(hops):
        if index == 0:
            _rewrite_node(writer, path, sources[0], hop.left, spell)
        spelling = spell(hop.edge)
        if hop.old is None:
            writer.put(write_arrow(hop.edge.pattern.value, spelling, hop.direction))
        else:
            arrow = path.arrows[hop.old]
            writer.copy_trivia(path.nodes[hop.old].end, arrow.start)
            _rewrite_arrow(writer, arrow, hop, spelling)
            writer.copy_trivia(arrow.end, path.nodes[hop.old + 1].start)
        _rewrite_node(writer, path, sources[index + 1], hop.right, spell)


def _old_nodes(path: syntax.Path, nodes: Sequence[Part], hops: Sequence[Hop]) -> list[int | None]:
    """For each node of the new path the old node whose text it takes; none is taken twice.

    The equal node beside it comes first, then one of the same name, then the one at its place.
    The node at the other end of a hop is taken only when the two are exactly swapped.
    """
    beside: list[list[int]] = [[] for _ in nodes]
    swapped: list[list[int]] = [[] for _ in nodes]
    for index, hop in enumerate(hops):
        if hop.old is not None:
            left, right = path.nodes[hop.old].pattern, path.nodes[hop.old + 1].pattern
            beside[index].append(hop.old)
            beside[index + 1].append(hop.old + 1)
            if hop.left.pattern == right and hop.right.pattern == left:
                swapped[index].append(hop.old + 1)
                swapped[index + 1].append(hop.old)
    sources: list[int | None] = [None] * len(nodes)
    taken: set[int] = set()

    def take(candidates: list[list[int]], fits: Callable[[Pattern, Pattern], bool]) -> None:
        for index, node in enumerate(nodes):
            for old in candidates[index]:
                free = sources[index] is None and old not in taken
                if free and fits(path.nodes[old].pattern, node.pattern):
                    sources[index] = old
                    taken.add(old)

    take(beside, lambda old, new: old == new)
    take(swapped, lambda old, new: old == new)
    take(beside, lambda old, new: bool(new.value.identity) and _same_name(old, new))
    take(beside, lambda old, new: True)
    return sources


def _same_name(old: Pattern, new: Pattern) -> bool:
    return old.value.identity == new.value.identity


def _rewrite_node(
    writer: Writer, path: syntax.Path, old: int | None, new: Part, spell: Spell
) -> None:
    subject = new.pattern.value
    if old is None:
        writer.put(f"({write_subject(subject, spell(new))})")
        return
    node = path.nodes[old]
    writer.copy(node.start, node.start + 1)
    writer.copy_trivia(node.start + 1, node.subject.start)
    rewrite_subject(writer, node.subject, subject, spell(new))
    writer.copy_trivia(node.subject.end, node.end - 1)
    writer.copy(node.end - 1, node.end)


def _rewrite_arrow(writer: Writer, arrow: syntax.Arrow, hop: Hop, spelling: Spelling) -> None:
    tail = writer.old[arrow.start : arrow.tail_end]
    body = tail[-1]
    keeps_heads = (arrow.kind == "left") == (hop.direction == "left")
    if keeps_heads:
        writer.copy(arrow.start, arrow.tail_end)
    else:
        writer.put(body if hop.direction == "right" else f"<{body}")
    subject = hop.edge.pattern.value
    if not arrow.bracketed:
        inside = write_subject(subject, spelling)
        writer.put(f"[{inside}]" if inside else "")
        writer.copy_trivia(arrow.tail_end, arrow.head_start)
    elif subject == arrow.subject.subject:
        writer.copy(arrow.tail_end, arrow.head_start)
    elif subject != Subject() or comments(writer.old, arrow.tail_end, arrow.head_start):
        writer.copy(arrow.tail_end, arrow.subject.start)
        rewrite_subject(writer, arrow.subject, subject, spelling)
        writer.copy(arrow.subject.end, arrow.head_start)
    if keeps_heads:
        writer.copy(arrow.head_start, arrow.end)
    else:
        writer.put(f"{body}>" if hop.direction == "right" else body)
