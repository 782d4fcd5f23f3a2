"""Boxes and arrows laid out in layers, from the left to the right.

Arrows that would lead back are left out; each box stands in the layer behind the last one that
leads to it; an arrow past other layers takes a place in each; the places in a layer are ordered by
the mean of their neighbours, which keeps arrows from crossing, and moved towards them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
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
    forward = _without_cycles(sizes, arrows)
    layer = _layers(sizes, [arrows[index] for index in forward])
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


def _without_cycles(keys: Iterable[K], arrows: Sequence[Arrow[K]]) -> list[int]:
    """The arrows that do not lead back to where they come from, directly or not."""
    leaving: dict[K, list[int]] = {}
    for index, arrow in enumerate(arrows):
        leaving.setdefault(arrow.source, []).append(index)
    kept: list[int] = []
    entered: set[K] = set()
    for key in keys:
        if key in entered:
            continue
        entered.add(key)
        around = {key}
        pending = [(key, iter(leaving.get(key, ())))]
        while pending:
            here, ahead = pending[-1]
            for index in ahead:
                target = arrows[index].target
                if target in around:
                    continue  # it leads back
                kept.append(index)
                if target not in entered:
                    entered.add(target)
                    around.add(target)
                    pending.append((target, iter(leaving.get(target, ()))))
                    break
            else:
                pending.pop()
                around.discard(here)
    return sorted(kept)


def _layers(keys: Iterable[K], arrows: Sequence[Arrow[K]]) -> dict[K, int]:
    """The layer of each box: the one behind the last that leads to it."""
    layer = dict.fromkeys(keys, 0)
    waits = dict.fromkeys(layer, 0)
    leaving: dict[K, list[K]] = {}
    for arrow in arrows:
        waits[arrow.target] += 1
        leaving.setdefault(arrow.source, []).append(arrow.target)
    ready = [key for key, count in waits.items() if not count]
    for key in ready:
        for target in leaving.get(key, ()):
            layer[target] = max(layer[target], layer[key] + 1)
            waits[target] -= 1
            if not waits[target]:
                ready.append(target)
    return layer


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
