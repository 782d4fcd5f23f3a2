"""Rewrites paths: which way each hop is read, and whose text each node takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from attrs import frozen

from .. import syntax
from ..pattern import WALK_SUBJECT, Pattern, Subject
from ..serializer import Spelling, is_edge, write_arrow, write_subject
from ..trivia import comments
from .alignment import PATTERNS, align
from .rewrite_subject import rewrite_subject
from .writer import Writer

Direction: TypeAlias = Literal["right", "left"]
Spell: TypeAlias = Callable[[tuple[Pattern, ...]], Spelling]


@frozen
class Hop:
    """A hop of the new path.

    Attributes:
        edge: the relationship it stands for.
        old: the index of the arrow that is rewritten, or None for a new one.
        direction: which way the arrow points; one without a point or with two reads ``right``.
    """

    edge: Pattern
    old: int | None
    direction: Direction

    @property
    def left(self) -> Pattern:
        """The node before the arrow."""
        return self.edge.elements[0 if self.direction == "right" else 1]

    @property
    def right(self) -> Pattern:
        """The node after the arrow."""
        return self.edge.elements[1 if self.direction == "right" else 0]


def hops_of(path: syntax.Path, tree: Pattern) -> list[Hop] | None:
    """The hops that make a path of ``tree`` with the least change; None when it cannot be one."""
    if is_edge(tree):
        edges: tuple[Pattern, ...] = (tree,)
    elif tree.value == WALK_SUBJECT and len(tree.elements) > 1 and all(map(is_edge, tree.elements)):
        edges = tree.elements
    else:
        return None
    return _cheapest(path, edges, align(path.edges, edges, PATTERNS))


def _cheapest(
    path: syntax.Path, edges: Sequence[Pattern], partners: Sequence[int | None]
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
                if previous.right == hop.left
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
    return heads + (left.pattern != hop.left) + (right.pattern != hop.right)


def rewrite_path(
    writer: Writer,
    path: syntax.Path,
    hops: Sequence[Hop],
    spell: Spell,
    within: tuple[Pattern, ...],
) -> None:
    """Write the hops over an old path.

    Args:
        writer: what is written to.
        path: the old path.
        hops: what `hops_of` found.
        spell: gives the spelling of a pattern by its ancestors and itself.
        within: the ancestors of the edges.
    """
    sources = _old_nodes(path, hops)
    for index, hop in enumerate(hops):
        below = (*within, hop.edge)
        if index == 0:
            _rewrite_node(writer, path, sources[0], hop.left, spell((*below, hop.left)))
        spelling = spell(below)
        if hop.old is None:
            writer.put(write_arrow(hop.edge.value, spelling, hop.direction))
        else:
            arrow = path.arrows[hop.old]
            writer.gap(path.nodes[hop.old].end, arrow.start)
            _rewrite_arrow(writer, arrow, hop, spelling)
            writer.gap(arrow.end, path.nodes[hop.old + 1].start)
        _rewrite_node(writer, path, sources[index + 1], hop.right, spell((*below, hop.right)))


def _old_nodes(path: syntax.Path, hops: Sequence[Hop]) -> list[int | None]:
    """For each node of the new path the old node whose text it takes; none is taken twice.

    The equal node beside it comes first, then one of the same name, then the one at its place.
    The node at the other end of a hop is taken only when the two are exactly swapped.
    """
    nodes = [hops[0].left, *(hop.right for hop in hops)]
    beside: list[list[int]] = [[] for _ in nodes]
    swapped: list[list[int]] = [[] for _ in nodes]
    for index, hop in enumerate(hops):
        if hop.old is not None:
            left, right = path.nodes[hop.old].pattern, path.nodes[hop.old + 1].pattern
            beside[index].append(hop.old)
            beside[index + 1].append(hop.old + 1)
            if hop.left == right and hop.right == left:
                swapped[index].append(hop.old + 1)
                swapped[index + 1].append(hop.old)
    sources: list[int | None] = [None] * len(nodes)
    taken: set[int] = set()

    def take(candidates: list[list[int]], fits: Callable[[Pattern, Pattern], bool]) -> None:
        for index, node in enumerate(nodes):
            for old in candidates[index]:
                free = sources[index] is None and old not in taken
                if free and fits(path.nodes[old].pattern, node):
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
    writer: Writer, path: syntax.Path, old: int | None, atom: Pattern, spelling: Spelling
) -> None:
    if old is None:
        writer.put(f"({write_subject(atom.value, spelling)})")
        return
    node = path.nodes[old]
    writer.copy(node.start, node.start + 1)
    writer.gap(node.start + 1, node.subject.start)
    rewrite_subject(writer, node.subject, atom.value, spelling)
    writer.gap(node.subject.end, node.end - 1)
    writer.copy(node.end - 1, node.end)


def _rewrite_arrow(writer: Writer, arrow: syntax.Arrow, hop: Hop, spelling: Spelling) -> None:
    tail = writer.old[arrow.start : arrow.tail_end]
    body = tail[-1]
    keeps_heads = (arrow.kind == "left") == (hop.direction == "left")
    if keeps_heads:
        writer.copy(arrow.start, arrow.tail_end)
    else:
        writer.put(body if hop.direction == "right" else f"<{body}")
    subject = hop.edge.value
    if not arrow.bracketed:
        inside = write_subject(subject, spelling)
        writer.put(f"[{inside}]" if inside else "")
        writer.gap(arrow.tail_end, arrow.head_start)
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
