"""Rewrites paths: which way each hop is read, and whose text each node takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, Union

from ..reading import lexer, syntax
from ..source import Span
from ..trees import WALK_SUBJECT, Pattern, Subject, is_edge, walk_nodes
from ..writing import Spelling, write_arrow, write_subject
from .comma_list import Writer
from .pairing import Part
from .rewrite_subject import rewrite_subject

Direction: TypeAlias = Literal["right", "left"]
_Chain: TypeAlias = Union[tuple["NewHop", Any], None]
"""A hop with the chain before it."""
Spell: TypeAlias = Callable[[Part], Spelling]
"""Gives the spelling of a new pattern."""


class NewHop(NamedTuple):
    """A hop of the new path.

    Attributes:
        edge: the relationship that it spells.
        old: the hop of the old path that is rewritten, or None for a new one.
        direction: which way the arrow points; one without a point or with two reads ``right``.
    """

    edge: Part
    old: syntax.Path | None
    direction: Direction

    @property
    def left(self) -> Part:
        """The node before the arrow."""
        return self.edge.parts[0 if self.direction == "right" else 1]

    @property
    def right(self) -> Part:
        """The node after the arrow."""
        return self.edge.parts[1 if self.direction == "right" else 0]


def hops_of(path: syntax.Path, new: Part) -> list[NewHop] | None:
    """The hops that make a path of ``new`` with the least change; None when it cannot be one."""
    tree = new.pattern
    if is_edge(tree):
        edges = [new]
    elif tree.value == WALK_SUBJECT and len(tree.elements) > 1 and all(map(is_edge, tree.elements)):
        edges = new.parts
    else:
        return None
    old = {hop.pattern.came_from: hop for hop in path.hops}
    return _cheapest(edges, [old.pop(edge.pattern.came_from, None) for edge in edges])


def hops_around(new: Part) -> list[NewHop] | None:
    """The hops of a new walk, over the paths that its edges were; None for what is no walk."""
    if walk_nodes(new.pattern) is None:
        return None
    texts = [edge.partner.construct if edge.partner else None for edge in new.parts]
    is_whole = (edge.is_whole for edge in new.parts)
    whole = (text if kept else None for text, kept in zip(texts, is_whole, strict=True))
    return _cheapest(new.parts, [text if isinstance(text, syntax.Path) else None for text in whole])


def _cheapest(edges: Sequence[Part], partners: Sequence[syntax.Path | None]) -> list[NewHop] | None:
    """Choose the direction of each hop so that neighbours share a node, by dynamic programming."""
    best: list[tuple[int, _Chain]] = [(0, None)]  # the cost of a last hop and those before it
    for edge, old in zip(edges, partners, strict=True):
        found: list[tuple[int, _Chain]] = []
        for hop in (NewHop(edge, old, "right"), NewHop(edge, old, "left")):
            before = [
                (cost, chain)
                for cost, chain in best
                if chain is None or chain[0].right.pattern == hop.left.pattern
            ]
            if before:
                cost, chain = min(before, key=lambda each: each[0])
                found.append((cost + _cost(hop), (hop, chain)))
        best = found
    if not best:
        return None
    _, last = min(best, key=lambda each: each[0])
    hops: list[NewHop] = []
    while last is not None:
        hop, last = last
        hops.append(hop)
    return hops[::-1]


def _cost(hop: NewHop) -> int:
    """How much of the old text a hop changes: its heads, and the nodes at its ends."""
    if hop.old is None:
        return 0 if hop.direction == "right" else 1
    (arrow,), (left, right) = hop.old.arrows, hop.old.nodes
    kind, heads = arrow.kind, 0
    if (kind == "left") != (hop.direction == "left"):
        heads = 1 if kind in ("left", "right") else 3
    return heads + (left.pattern != hop.left.pattern) + (right.pattern != hop.right.pattern)


def rewrite_path(
    writer: Writer, hops: Sequence[NewHop], spell: Spell, comments: Iterable[Span] = ()
) -> None:
    """Write the hops that `hops_of` or `hops_around` found, each over its old one.

    Args:
        writer: receives the text.
        hops: the hops.
        spell: the spelling of what is new.
        comments: comments of the old text that have no place of their own in the new one.
    """
    first, *others = _old_nodes([hops[0].left, *(hop.right for hop in hops)], hops)
    _rewrite_node(writer, first, hops[0].left, spell)
    writer.copy_comments(comments)
    for hop, old_node in zip(hops, others, strict=True):
        spelling = spell(hop.edge)
        if hop.old is None:
            writer.put(write_arrow(hop.edge.pattern.value, spelling, hop.direction))
        else:
            (arrow,), (left, right) = hop.old.arrows, hop.old.nodes
            writer.copy_trivia(left.end, arrow.start)
            _rewrite_arrow(writer, arrow, hop, spelling)
            writer.copy_trivia(arrow.end, right.start)
        _rewrite_node(writer, old_node, hop.right, spell)


def _old_nodes(nodes: Sequence[Part], hops: Sequence[NewHop]) -> list[syntax.Node | None]:
    """For each node of the new path the old node whose text it takes; none is taken twice.

    The equal node beside it comes first, then one of the same name, then the one at its place.
    The node at the other end of a hop is taken only when the two are exactly swapped.
    """
    beside: list[list[syntax.Node]] = [[] for _ in nodes]
    swapped: list[list[syntax.Node]] = [[] for _ in nodes]
    for index, hop in enumerate(hops):
        if hop.old is not None:
            left, right = hop.old.nodes
            beside[index].append(left)
            beside[index + 1].append(right)
            if hop.left.pattern == right.pattern and hop.right.pattern == left.pattern:
                swapped[index].append(right)
                swapped[index + 1].append(left)
    sources: list[syntax.Node | None] = [None] * len(nodes)
    taken: set[syntax.Node] = set()

    def take(candidates: list[list[syntax.Node]], fits: Callable[[Pattern, Pattern], bool]) -> None:
        for index, node in enumerate(nodes):
            for old in candidates[index]:
                is_free = sources[index] is None and old not in taken
                if is_free and fits(old.pattern, node.pattern):
                    sources[index] = old
                    taken.add(old)

    take(beside, lambda old, new: old == new)
    take(swapped, lambda old, new: old == new)
    take(beside, lambda old, new: new.value.identity in {old.value.identity} - {""})
    take(beside, lambda old, new: True)
    return sources


def _rewrite_node(writer: Writer, node: syntax.Node | None, new: Part, spell: Spell) -> None:
    subject = new.pattern.value
    if node is None:
        writer.put(f"({write_subject(subject, spell(new))})")
        return
    writer.copy(node.start, node.start + 1)
    writer.copy_trivia(node.start + 1, node.subject.start)
    rewrite_subject(writer, node.subject, subject, spell(new))
    writer.copy_trivia(node.subject.end, node.end - 1)
    writer.copy(node.end - 1, node.end)


def _rewrite_arrow(writer: Writer, arrow: syntax.Arrow, hop: NewHop, spelling: Spelling) -> None:
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
    elif subject != Subject() or lexer.comments(writer.old, arrow.tail_end, arrow.head_start):
        writer.copy(arrow.tail_end, arrow.subject.start)
        rewrite_subject(writer, arrow.subject, subject, spelling)
        writer.copy(arrow.subject.end, arrow.head_start)
    if keeps_heads:
        writer.copy(arrow.head_start, arrow.end)
    else:
        writer.put(f"{body}>" if hop.direction == "right" else body)
