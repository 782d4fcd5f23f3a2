"""Drawings laid out and drawn as SVG: one picture that needs nothing else, in dark and light.

Its colours are read on both grounds, and its text has the colour of the text around it.

Arrows that would lead back are left out; each box stands in the layer behind the last one that
leads to it; an arrow past other layers takes a place in each; the places in a layer are ordered by
the mean of those before them, which keeps arrows from crossing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from itertools import pairwise
from statistics import mean
from typing import Final, NamedTuple
from unicodedata import east_asian_width

from gram.display import Content, Markup, element, markup_of
from gram.errors import expect

from ..cycles import cycles
from ..workflows import grouped
from .drawing import LOOKS, Drawing, Edge, Group, Node, beside, shortened

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
    sizes: Mapping[str, tuple[float, float]], arrows: Mapping[int, Arrow], *, gap: float
) -> Layout:
    """Lay out boxes of known sizes, and arrows by their indexes, with a gap between layers."""
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
        middles = {key: [found[it].middle for it in before] for key, before in column.items()}
        wanted = {key: mean(some or [0.0]) for key, some in middles.items()}
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
    boxes = {key: placed[key] for key in sizes}
    turns = {i: [(placed[at].x, placed[at].middle) for at in way] for i, way in turning.items()}
    width = x - (gaps[-1] if gaps else 0)
    height = max((box.y + box.height for box in placed.values()), default=0)
    return Layout(boxes, turns, width, height)


def _without_cycles(
    sizes: Mapping[str, object], arrows: Mapping[int, Arrow]
) -> tuple[list[int], dict[str, int]]:
    """The arrows but those that lead back, and the layer of each box: behind all before it."""
    none: dict[str, list[str]] = {key: [] for key in sizes}
    ends = none | grouped((each.source, each.target) for each in arrows.values())
    back = {(way[-1], way[0]) for way in cycles(ends)}
    forward = [index for index, each in arrows.items() if each[:2] not in back]
    before = none | grouped((arrows[index].target, arrows[index].source) for index in forward)
    layer: dict[str, int] = {}
    for key in TopologicalSorter(before).static_order():
        layer[key] = max((layer[each] + 1 for each in before[key]), default=0)
    return forward, layer


_NAME, _DETAIL, _LINE, _MARGIN, _GAP = 14, 12, 18, 16, 52
_FREE: Final = {"again", "uses"}
"""The kinds of arrows that move no box."""
_ROUND: Final = 34
"""How far below the boxes an arrow goes that leads back."""


def to_svg(drawing: Drawing, *, standalone: bool = True) -> Markup:
    """A picture of a drawing, as SVG.

    Args:
        drawing: the drawing.
        standalone: whether it is a file of its own, with the colours of its ground. In a page, it
            has the colour of the text around it.

    Raises:
        ArgumentError: the argument is no drawing.

    >>> from gram import loads_one
    >>> from lenses_ext import drawing_of
    >>> to_svg(drawing_of(loads_one("(a:Agent)"))).count("<rect")
    1
    """
    expect(drawing, Drawing, "drawing", by="to_svg")
    picture = _Picture(drawing)
    width, height = picture.width + 2 * _MARGIN, picture.height + 2 * _MARGIN
    names = [*(each.name for each in drawing.groups), *(each.name for each in drawing.nodes)]
    style = element("style", Markup(beside("ground.css"))) if standalone else ""
    said = {"title": element("title", shortened(", ".join(filter(None, names)), 200))}
    sizes = {"margin": -_MARGIN, "width": f"{width:g}", "height": f"{height:g}"}
    return Markup(
        beside("frame.svg").format(**said, **sizes, style=style, drawn=markup_of(picture.drawn()))
    )


class _Picture:
    """Where everything of a drawing stands, and how it looks."""

    def __init__(self, drawing: Drawing) -> None:
        self._drawing = drawing
        self._around = {node.key: node.group for node in drawing.nodes}
        self._around |= {group.key: group.group for group in drawing.groups}
        self._places: dict[str, Box] = {}
        self._turns: dict[int, list[tuple[float, float]]] = {}
        layouts: dict[str, Layout] = {}
        for group in reversed(drawing.groups):
            layouts[group.key] = self._level(group.key, layouts)
        whole = self._level(None, layouts)
        self.width, self.height = whole.width, whole.height
        self._place(whole, 0, 0)
        for group in drawing.groups:
            box, (_, top) = self._places[group.key], _inset(group)
            self._place(layouts[group.key], box.x + _MARGIN, box.y + top)

    def _level(self, inside: str | None, layouts: dict[str, Layout]) -> Layout:
        """Lay out what is directly in a group, or in none."""
        sizes = {each.key: _size(each) for each in self._drawing.nodes if each.group == inside}
        for each in self._drawing.groups:
            if each.group == inside:
                title, top = _inset(each)
                found = layouts[each.key]
                width = max(found.width, title) + 2 * _MARGIN
                sizes[each.key] = (width, found.height + top + self._below(each.key))
        arrows: dict[int, Arrow] = {}
        for index, edge in enumerate(self._drawing.edges):
            ends = self._within(edge.source, inside), self._within(edge.target, inside)
            if None not in ends and ends[0] != ends[1] and edge.kind not in _FREE:
                label = _width(shortened(edge.words), _DETAIL)
                arrows[index] = Arrow(ends[0] or "", ends[1] or "", label + 24 if label else 0)
        return lay_out(sizes, arrows, gap=_GAP)

    def _below(self, group: str) -> float:
        """The space below the nodes of a group, which an arrow to its next round needs."""
        again = (each.target for each in self._drawing.edges if each.kind == "again")
        goes_on = any(self._around[each] == group for each in again)
        return _MARGIN + (_ROUND - 6) * goes_on

    def _within(self, key: str, group: str | None) -> str | None:
        """What a node is in, directly in a group; None if it is not in the group."""
        at: str | None = key
        while at is not None and self._around[at] != group:
            at = self._around[at]
        return at

    def _place(self, layout: Layout, x: float, y: float) -> None:
        for key, box in layout.boxes.items():
            self._places[key] = box._replace(x=box.x + x, y=box.y + y)
        for index, way in layout.turns.items():
            self._turns[index] = [(at + x, height + y) for at, height in way]

    def drawn(self) -> Iterator[Markup]:
        """The groups, then the arrows, then the nodes."""
        for group in self._drawing.groups:
            yield _drawn_group(group, self._places[group.key])
        seen = Counter[tuple[str, str]]()
        for index, edge in enumerate(self._drawing.edges):
            pair = (edge.source, edge.target)
            yield self._drawn_edge(edge, self._turns.get(index, []), seen[pair])
            seen[pair] += 1
        yield from (_drawn_node(node, self._places[node.key]) for node in self._drawing.nodes)

    def _drawn_edge(self, edge: Edge, turns: list[tuple[float, float]], before: int) -> Markup:
        """An arrow; those with the same ends stand below each other."""
        ends = (self._places[edge.source], self._places[edge.target])
        source, target = (box._replace(y=box.y + 16 * before) for box in ends)
        ran = edge.count is not None and edge.count > 0
        if target.x >= source.x + source.width:
            way, at = _forward(source, target, turns)
        else:
            way, at = _back(source, target)
        line = element(
            "path",
            d=way,
            fill="none",
            stroke=LOOKS["states"]["ran"]["svg"] if ran else "currentColor",
            stroke_opacity=None if ran else 0.25 if edge.count == 0 else 0.55,
            stroke_width=2 if ran or edge.kind == "flow" else 1.2,
            stroke_dasharray=LOOKS["edges"][edge.kind]["svg"],
            marker_end="url(#head)",
        )
        words = shortened(edge.words)
        label = _text(words, *at, _DETAIL, fill_opacity=0.85) if words else None
        return element("g", line, label)


def _forward(
    source: Box, target: Box, turns: list[tuple[float, float]]
) -> tuple[str, tuple[float, float]]:
    """A curve from the right of a box to the left of another, and where its label stands."""
    x, y = source.x + source.width, source.y + source.height / 2
    way = f"M{x:.1f} {y:.1f}"
    points = [*turns, (target.x, target.y + target.height / 2)]
    label = ((x + points[0][0]) / 2, (y + points[0][1]) / 2 - 5)
    for to_x, to_y in points:
        middle = (x + to_x) / 2
        way += f"C{middle:.1f} {y:.1f} {middle:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}"
        x, y = to_x, to_y
    return way, label


def _back(source: Box, target: Box) -> tuple[str, tuple[float, float]]:
    """A curve below the boxes from one to another that stands before it or above it."""
    x, y = source.x + source.width / 2, source.y + source.height
    to_x, to_y = target.x + target.width / 2, target.y + target.height
    low = max(y, to_y) + _ROUND
    way = f"M{x:.1f} {y:.1f}C{x:.1f} {low:.1f} {to_x:.1f} {low:.1f} {to_x:.1f} {to_y:.1f}"
    return way, ((x + to_x) / 2, (y + to_y) / 8 + low * 0.75 - 5)


def _drawn_group(group: Group, box: Box) -> Markup:
    frame = _frame(box, rx=10, fill_opacity=0.04, stroke="currentColor", stroke_opacity=0.35)
    lines = _texts(_lines(group), box.x + _MARGIN, box.y + 24, anchor="start")
    return element("g", frame, lines)


def _frame(box: Box, **how: str | float | None) -> Markup:
    sides = {side: f"{value:.1f}" for side, value in box._asdict().items()}
    return element("rect", **sides, **how)


def _drawn_node(node: Node, box: Box) -> Markup:
    if node.kind in ("input", "result"):
        x, y, size = box.x + box.width / 2, box.y + box.height / 2, box.width / 2
        dot = {"cx": f"{x:.1f}", "cy": f"{y:.1f}", "stroke": "currentColor"}
        outer = element("circle", r=size - 1, fill="none", stroke_width=1.5, **dot)
        inner = element("circle", r=size - 5, **dot) if node.kind == "result" else None
        return element("g", element("title", node.kind), outer, inner)
    colour = LOOKS["nodes"][node.kind]["svg"]
    if node.count:
        colour = LOOKS["states"]["failed" if node.failed else "ran"]["svg"]
    frame = _frame(
        box, rx=16 if node.kind == "agent" else 4,
        fill=colour, fill_opacity=0.24 if node.count else 0.12, stroke=colour,
        stroke_width=2.5 if node.count else 1.3,
        stroke_dasharray="4 3" if node.kind == "undefined" else None,
    )  # fmt: skip
    lines = _lines(node)
    top = box.y + (box.height - _LINE * len(lines)) / 2 + _LINE * 0.72
    texts = _texts(lines, box.x + box.width / 2, top)
    told = "\n".join(filter(None, (node.name, *node.details)))
    opacity = 0.5 if node.count == 0 else None
    return element("g", element("title", told), frame, texts, opacity=opacity)


def _texts(
    lines: Iterable[tuple[str, int]], x: float, y: float, *, anchor: str = "middle"
) -> list[Content]:
    """Lines below each other, the first of them bold."""
    return [
        _text(line, x, y + index * _LINE, size, anchor=anchor,
              font_weight=None if index else 600, fill_opacity=0.75 if index else None)
        for index, (line, size) in enumerate(lines)
    ]  # fmt: skip


def _text(
    line: str, x: float, y: float, size: int, *, anchor: str = "middle", **how: str | float | None
) -> Markup:
    return element(
        "text", line, x=f"{x:.1f}", y=f"{y:.1f}", font_size=size,
        text_anchor=anchor, direction="ltr", unicode_bidi="isolate", **how,
    )  # fmt: skip


def _lines(what: Node | Group) -> list[tuple[str, int]]:
    name, *details = what.lines
    return [(shortened(name, 40), _NAME), *((shortened(each, 48), _DETAIL) for each in details)]


def _inset(group: Group) -> tuple[float, float]:
    """The width of a group's title, and the height of what is above its nodes."""
    lines = _lines(group)
    return max(_width(line, size) for line, size in lines), 20 + _LINE * len(lines)


def _size(node: Node) -> tuple[float, float]:
    if node.kind in ("input", "result"):
        return 18, 18
    lines = _lines(node)
    return max(_width(line, size) for line, size in lines) + 28, _LINE * len(lines) + 16


def _width(line: str, size: int) -> float:
    """About how wide a text is: letters of East Asia are twice as wide as others."""
    return sum(1.05 if east_asian_width(each) in "WF" else 0.62 for each in line) * size
