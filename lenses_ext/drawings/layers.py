"""Boxes and arrows laid out in layers, from the left to the right.

Arrows that would lead back are left out; each box stands in the layer behind the last one that
leads to it; an arrow past other layers takes a place in each; the places in a layer are ordered by
the mean of their neighbours, which keeps arrows from crossing, and moved towards them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from statistics import mean
from typing import Generic, NamedTuple, TypeVar

K = TypeVar("K", bound=Hashable)

_SWEEPS = 6
_BETWEEN_BOXES = 16
_ARROW_HEIGHT = 10


class Box(NamedTuple):
    """A place with its size."""

    x: float
    y: float
    width: float
    height: float


class Arrow(NamedTuple, Generic[K]):
    """An arrow between boxes, and the space that its label wants."""

    source: K
    target: K
    label_width: float = 0


class Layout(NamedTuple, Generic[K]):
    """Where everything stands.

    Attributes:
        boxes: the place of each box.
        turns: the points that an arrow passes on its way, by its index.
        width, height: the size of all.
    """

    boxes: Mapping[K, Box]
    turns: Mapping[int, Sequence[tuple[float, float]]]
    width: float
    height: float


def lay_out(
    sizes: Mapping[K, tuple[float, float]], arrows: Sequence[Arrow[K]], *, gap: float
) -> Layout[K]:
    """Lay out boxes of known sizes, with a gap between layers."""
    forward, layer = _without_cycles(sizes, arrows)
    places: dict[object, tuple[float, float]] = {}
    places.update(sizes.items())
    columns: list[list[object]] = [[] for _ in range(max(layer.values(), default=-1) + 1)]
    for key in sizes:
        columns[layer[key]].append(key)
    beside: dict[object, list[object]] = {}
    turning: dict[int, list[object]] = {}
    gaps = [gap] * len(columns)
    for index in forward:
        source, target, wide = arrows[index]
        way: list[object] = [source]
        for between in range(layer[source] + 1, layer[target]):
            turn = (index, between)
            columns[between].append(turn)
            places[turn] = (0, _ARROW_HEIGHT)
            way.append(turn)
        turning[index] = way[1:]
        gaps[layer[source]] = max(gaps[layer[source]], wide)
        for one, other in zip(way, [*way[1:], target], strict=True):
            beside.setdefault(other, []).append(one)
            beside.setdefault(one, []).append(other)
    middle = _heights(columns, places, beside)
    found, x = {}, 0.0
    for column, behind in zip(columns, gaps, strict=True):
        wide = max(places[each][0] for each in column)
        for each in column:
            width, height = places[each]
            found[each] = Box(x + (wide - width) / 2, middle[each] - height / 2, width, height)
        x += wide + behind
    top = min((box.y for box in found.values()), default=0)
    boxes = {key: box._replace(y=box.y - top) for key, box in found.items()}
    turns = {
        index: [(boxes[turn].x, boxes[turn].y + boxes[turn].height / 2) for turn in way]
        for index, way in turning.items()
    }
    return Layout(
        {key: boxes[key] for key in sizes},
        turns,
        x - (gaps[-1] if gaps else 0),
        max((box.y + box.height for box in boxes.values()), default=0),
    )


def _without_cycles(
    keys: Iterable[K], arrows: Sequence[Arrow[K]]
) -> tuple[list[int], dict[K, int]]:
    """The arrows but those that lead back, and the layer of each box: behind all before it."""
    places = {key: place for place, key in enumerate(keys)}
    kept = list(range(len(arrows)))
    while True:
        before: dict[K, list[K]] = {key: [] for key in places}
        for index in kept:
            before[arrows[index].target].append(arrows[index].source)
        try:
            order = list(TopologicalSorter(before).static_order())
            break
        except CycleError as error:
            back = min(pairwise(error.args[1]), key=lambda ends: places[ends[1]])
            kept = [index for index in kept if arrows[index][:2] != back]
    layer: dict[K, int] = {}
    for key in order:
        layer[key] = max((layer[each] + 1 for each in before[key]), default=0)
    return kept, layer


def _heights(
    columns: Sequence[list[object]],
    sizes: Mapping[object, tuple[float, float]],
    beside: Mapping[object, Sequence[object]],
) -> dict[object, float]:
    """The middle of each place; the columns are put in order."""
    middle: dict[object, float] = {}
    for column in columns:
        _stack(column, sizes, middle, dict.fromkeys(column, 0.0))
    for sweep in range(_SWEEPS):
        for column in columns if sweep % 2 == 0 else reversed(columns):
            wanted = {
                each: mean(middle[other] for other in beside[each])
                if each in beside
                else middle[each]
                for each in column
            }
            column.sort(key=wanted.__getitem__)
            _stack(column, sizes, middle, wanted)
    return middle


def _stack(
    column: Sequence[object],
    sizes: Mapping[object, tuple[float, float]],
    middle: dict[object, float],
    wanted: Mapping[object, float],
) -> None:
    """Put a column below each other, as near to where each wants to be as there is space."""
    end = None
    for each in column:
        half = sizes[each][1] / 2
        y = wanted[each] if end is None else max(wanted[each], end + _BETWEEN_BOXES + half)
        middle[each], end = y, y + half
    if column:
        shift = mean(wanted[each] - middle[each] for each in column)
        for each in column:
            middle[each] += shift
