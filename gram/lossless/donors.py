"""The constructs whose text may be used again where a tree has no partner.

A tree that is wrapped, unwrapped or moved to another level stood somewhere in what changes; its
old text serves it better than a canonical one.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence

from .. import syntax
from ..pattern import Pattern
from ..spans import Construct, Hop, elements_of

Standing = syntax.Item | syntax.Element
"""A construct that stands by itself in the text, unlike a hop among others."""


def parts_of(construct: Standing) -> list[Standing]:
    """The constructs of a pattern's elements, in the order of the tree; a hop as its own path."""
    return [_standing(part) for part in elements_of(construct)]


def _standing(construct: Construct) -> Standing:
    if isinstance(construct, Hop):
        return hop_path(construct)
    return construct


def hop_path(hop: Hop) -> syntax.Path:
    """A hop of a walk as the path that its two nodes and its arrow make."""
    ends = (hop.left.pattern, hop.right.pattern)
    elements = ends[::-1] if hop.arrow.kind == "left" else ends
    edge = Pattern(hop.arrow.subject.subject, elements)
    return syntax.Path(hop.start, hop.end, (hop.left, hop.right), (hop.arrow,), edge)


class Donors:
    """The constructs in what goes away or changes, by the tree they stand for.

    Each is given once; the k-th tree that asks gets the k-th text.
    """

    def __init__(self, constructs: Iterable[Standing]) -> None:
        self._constructs = tuple(constructs)
        self._by_tree: dict[Pattern, deque[Standing]] | None = None

    def take(self, tree: Pattern) -> Standing | None:
        """A construct that stands for an equal tree, or None."""
        waiting = self._index().get(tree)
        return waiting.popleft() if waiting else None

    def has_any(self, trees: Iterable[Pattern]) -> bool:
        """Whether one of the trees could take a text."""
        index = self._index()
        return any(index.get(tree) for tree in trees)

    def _index(self) -> dict[Pattern, deque[Standing]]:
        if self._by_tree is None:
            self._by_tree = defaultdict(deque)
            pending: list[Standing] = list(self._constructs[::-1])
            while pending:
                construct = pending.pop()
                self._by_tree[construct.pattern].append(construct)
                pending.extend(reversed(parts_of(construct)))
        return self._by_tree


def below_of(tree: Pattern) -> Iterable[Pattern]:
    """All trees below a tree."""
    pending: list[Sequence[Pattern]] = [tree.elements]
    while pending:
        elements = pending.pop()
        yield from elements
        pending.extend(element.elements for element in elements if element.elements)


def holds(tree: Pattern, part: Pattern) -> bool:
    """Whether ``part`` stands somewhere below ``tree``."""
    return any(below == part for below in below_of(tree))
