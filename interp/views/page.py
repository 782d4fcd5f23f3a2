"""Pages of HTML, with tables and plots: each is one file that loads nothing and runs one script.

Its content security policy names the hashes of its own style and script, so that whatever were to
get into it could neither run nor reach the network.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from math import floor, isfinite, log10
from pathlib import Path
from typing import TypeAlias, Union

from attrs import frozen

from gram import ArgumentError
from gram.display import Content, Markup, element, markup_of
from gram.words import counted

from ..shown import shortened


def page(title: str, *body: Content) -> str:
    """A page of HTML with the style of our reports, readable on phones, in dark and light.

    Rows of the class ``entry`` can be searched where the body has ``input[type=search]``.

    Args:
        title: what the window and the first heading say.
        body: what is below the heading; text is escaped, see `gram.display.element`.

    Raises:
        ArgumentError: the title is not a text, or a part of the body is neither text nor markup.

    >>> "<h1>a &lt; b</h1>" in page("a < b", "text")
    True
    """
    style, script = part("page.css"), part("page.js")
    policy = f"style-src '{_hash(style)}'; script-src '{_hash(script)}'"
    head, heading = element("title", title), element("h1", title)
    said = {"title": head, "heading": heading, "body": markup_of(*body), "policy": policy}
    return part("page.html").format(style=style, script=script, **said)


@cache
def part(name: str) -> Markup:
    """A part of the pages, from the file beside this one."""
    return Markup(Path(__file__).with_name(name).read_text("utf-8"))


def _hash(part: str) -> str:
    return f"sha256-{b64encode(sha256(part.encode()).digest()).decode()}"


Cell: TypeAlias = Union[Content, int, float]


def table(
    headers: Sequence[str], rows: Iterable[Sequence[Cell]], *, caption: str | None = None
) -> Markup:
    """A table as HTML: the first cell of a row names it, and columns of numbers stand right.

    Args:
        headers: the words above the columns.
        rows: the cells of each row: texts, numbers and markup.

    Raises:
        ArgumentError: a row has more or fewer cells than there are headers.

    >>> "<td class=\\"right\\">1.5</td>" in table(["arm", "cost"], [["a", 1.5], ["b", 2]])
    True
    """
    lines = [list(row) for row in rows]
    for line in lines:
        if len(line) != len(headers):
            raise ArgumentError(
                f"a row has {counted(len(line), 'cell')} for {counted(len(headers), 'header')}"
            )
    sides = [
        "right" if all(isinstance(cell, int | float) for cell in column) else None
        for column in zip(*lines, strict=True)
    ] or [None] * len(headers)
    pairs = zip(headers, sides, strict=True)
    head = [element("th", header, scope="col", class_=side) for header, side in pairs]
    body = []
    for line in lines:
        cells = zip(line[1:], sides[1:], strict=True)
        named = [element("th", _shown(cell), scope="row") for cell in line[:1]]
        rest = (element("td", _shown(cell), class_=side) for cell, side in cells)
        body.append(element("tr", named, rest))
    whole = element(
        "table",
        element("caption", caption) if caption else None,
        element("thead", element("tr", head)),
        element("tbody", body),
    )
    label = caption or ", ".join(filter(None, headers))
    return element("div", whole, class_="table", role="region", tabindex=0, aria_label=label)


def facts(named: Mapping[str, Cell]) -> Markup:
    """Names with their values, beside each other; None and empty texts are left out.

    >>> facts({"calls": 3})
    '<dl class="facts"><div><dt>calls</dt><dd>3</dd></div></dl>'
    """
    known = ((name, value) for name, value in named.items() if value not in (None, ""))
    rows = ((element("dt", name), element("dd", _shown(value))) for name, value in known)
    return element("dl", (element("div", row) for row in rows), class_="facts")


def _shown(cell: Cell) -> Content:
    return str(cell) if isinstance(cell, int | float) else cell


# --- plots

_WIDTH, _RIGHT, _ROW = 440, 20, 30
_ACCENT = "#2f8fb0"
_LONGEST_LABEL = 19


@frozen
class Interval:
    """A figure that is known with an interval.

    Attributes:
        label: what it is of.
        value: the estimate.
        low, high: the ends of the interval.
    """

    label: str
    value: float
    low: float
    high: float


def interval_plot(
    intervals: Iterable[Interval], *, mark: float | None = None, title: str = "intervals"
) -> Markup:
    """Intervals below each other on one scale, as inline SVG.

    Args:
        intervals: what is plotted, from the top down.
        mark: where a vertical line stands, such as 0 for differences.
        title: what the plot shows, for those who do not see it.

    Raises:
        ArgumentError: an argument is of the wrong type, or a number is not finite.

    >>> interval_plot([Interval("a", 0.5, 0.2, 0.7)]).startswith("<svg")
    True
    """
    rows = tuple(intervals)
    numbers = [each for row in rows for each in (row.value, row.low, row.high)]
    numbers += [] if mark is None else [mark]
    if not all(map(isfinite, numbers)):
        raise ArgumentError("the numbers of a plot must be finite")
    ticks = _ticks(min(numbers, default=0.0), max(numbers, default=1.0))
    labels = [shortened(row.label, _LONGEST_LABEL) for row in rows]
    left = 26 + 7.5 * max(map(len, labels), default=0)
    scale = (_WIDTH - left - _RIGHT) / (ticks[-1] - ticks[0])

    def x(number: float) -> float:
        return round(left + (number - ticks[0]) * scale, 1)

    def line(low: float, y1: float, high: float, y2: float, **how: str | float) -> Markup:
        how = {"stroke": "currentColor", **how}
        return element("line", x1=x(low), y1=y1, x2=x(high), y2=y2, **how)

    bottom = len(rows) * _ROW + 8
    drawn: list[Content] = []
    for tick in ticks:
        drawn.append(line(tick, 0, tick, bottom, stroke_opacity=0.15))
        at = {"x": x(tick), "y": bottom + 16}
        drawn.append(element("text", f"{tick:g}", **at, text_anchor="middle", fill_opacity=0.7))
    if mark is not None:
        drawn.append(line(mark, 0, mark, bottom, stroke_dasharray="4 3", stroke_opacity=0.7))
    for index, row in enumerate(rows):
        y = index * _ROW + _ROW / 2 + 4
        told = f"{row.label}: {row.value:g} ({row.low:g} to {row.high:g})"
        ends = (
            line(at, y - 5, at, y + 5, stroke=_ACCENT, stroke_width=2) for at in (row.low, row.high)
        )
        whole = line(row.low, y, row.high, y, stroke=_ACCENT, stroke_width=3)
        dot = element("circle", cx=x(row.value), cy=y, r=5.5, fill=_ACCENT)
        drawn.append(element("text", labels[index], x=left - 14, y=y + 4, text_anchor="end"))
        drawn.append(element("g", element("title", told), whole, *ends, dot))
    frame, shown = part("plot.svg"), markup_of(element("title", title), drawn)
    return Markup(frame.format(width=_WIDTH, height=bottom + 22, drawn=shown).strip())


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers, four to eight of them, from below the low to above the high one."""
    size = max(abs(low), abs(high))
    if high - low <= size * 1e-9 or size < 1e-300:  # as good as one number
        low, high = low - (size / 2 or 0.5), high + (size / 2 or 0.5)
    rough = (high - low) / 5
    unit = 10.0 ** floor(log10(rough))
    step = next(unit * times for times in (1, 2, 5, 10) if unit * times >= rough)
    first = floor(low / step)
    count = next(n for n in range(1, 20) if (first + n) * step >= high)
    return [(first + n) * step for n in range(count + 1)]
