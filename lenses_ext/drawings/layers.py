"""Boxes and arrows laid out in layers, from the left to the right.

Arrows that would lead back are left out; each box stands in the layer behind the last one that
leads to it; an arrow past other layers takes a place in each; the places in a layer are ordered by
the mean of those before them, which keeps arrows from crossing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter
from itertools import pairwise
from statistics import mean
from typing import NamedTuple

from ..cycles import cycles

_BETWEEN_BOXES = 16
_ARROW_HEIGHT = 10


class Box(NamedTuple):
    """A place with its size."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """The height of its middle."""
        return self.y + self.height / 2


class Arrow(NamedTuple):
    """An arrow between boxes, and the space that its label wants."""

    source: str
    target: str
    label_width: float = 0


class Layout(NamedTuple):
    """Where everything stands.

    Attributes:
        boxes: the place of each box.
        turns: the points that an arrow passes on its way, by its index.
        width, height: the size of all.
    """

    boxes: Mapping[str, Box]
    turns: Mapping[int, Sequence[tuple[float, float]]]
    width: float
    height: float


def lay_out(
    sizes: Mapping[str, tuple[float, float]], arrows: Sequence[Arrow], *, gap: float
) -> Layout:
    """Lay out boxes of known sizes, with a gap between layers."""
    forward, layer = _without_cycles(sizes, arrows)
    columns: list[dict[object, list[object]]] = [{} for _ in {*layer.values()}]
    for key in sizes:
        columns[layer[key]][key] = []
    gaps = [gap] * len(columns)
    turning: dict[int, list[object]] = {}
    for index in forward:
        source, target, wide = arrows[index]
        between = range(layer[source] + 1, layer[target])
        way: list[object] = [source, *((index, at) for at in between), target]
        for one, other in pairwise(way):
            columns[layer[source] + way.index(other)].setdefault(other, []).append(one)
        turning[index] = way[1:-1]
        gaps[layer[source]] = max(gaps[layer[source]], wide)
    found: dict[object, Box] = {}
    x = 0.0
    for column, behind in zip(columns, gaps, strict=True):
        size = {key: sizes[key] if isinstance(key, str) else (0, _ARROW_HEIGHT) for key in column}
        wanted = {
            key: mean(found[each].middle for each in before) if before else 0.0
            for key, before in column.items()
        }
        wide = max(width for width, _ in size.values())
        whole = sum(height + _BETWEEN_BOXES for _, height in size.values()) - _BETWEEN_BOXES
        y = mean(wanted.values()) - whole / 2
        for each in sorted(column, key=wanted.__getitem__):
            width, height = size[each]
            found[each] = Box(x + (wide - width) / 2, y, width, height)
            y += height + _BETWEEN_BOXES
        x += wide + behind
    top = min((box.y for box in found.values()), default=0)
    placed = {key: box._replace(y=box.y - top) for key, box in found.items()}
    return Layout(
        {key: placed[key] for key in sizes},
        {i: [(placed[at].x, placed[at].middle) for at in way] for i, way in turning.items()},
        x - (gaps[-1] if gaps else 0),
        max((box.y + box.height for box in placed.values()), default=0),
    )


def _without_cycles(
    sizes: Mapping[str, object], arrows: Sequence[Arrow]
) -> tuple[list[int], dict[str, int]]:
    """The arrows but those that lead back, and the layer of each box: behind all before it."""
    ends: dict[str, list[str]] = {key: [] for key in sizes}
    for each in arrows:
        ends[each.source].append(each.target)
    back = {(way[-1], way[0]) for way in cycles(ends)}
    forward = [index for index, each in enumerate(arrows) if each[:2] not in back]
    before: dict[str, list[str]] = {key: [] for key in sizes}
    for index in forward:
        before[arrows[index].target].append(arrows[index].source)
    layer: dict[str, int] = {}
    for key in TopologicalSorter(before).static_order():
        layer[key] = max((layer[each] + 1 for each in before[key]), default=0)
    return forward, layer
