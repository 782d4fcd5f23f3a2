"""Tables and facts as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias, Union

from gram import ArgumentError
from gram.display import Content, Markup, element
from gram.plurals import counted

Cell: TypeAlias = Union[Content, int, float]


def table(
    headers: Sequence[str], rows: Iterable[Sequence[Cell]], *, caption: str | None = None
) -> Markup:
    """A table as HTML: the first cell of a row names it, and columns of numbers stand right.

    Args:
        headers: the words above the columns.
        rows: the cells of each row: texts, numbers and markup.
        caption: what the table shows.

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
    sides = [_side(column) for column in zip(*lines, strict=True)] or [None] * len(headers)
    head = [
        element("th", header, scope="col", class_=side)
        for header, side in zip(headers, sides, strict=True)
    ]
    body = [
        element(
            "tr",
            (
                element("th", _shown(cell), scope="row")
                if not index
                else element("td", _shown(cell), class_=sides[index])
                for index, cell in enumerate(line)
            ),
        )
        for line in lines
    ]
    whole = element(
        "table",
        element("caption", caption) if caption else None,
        element("thead", element("tr", head)),
        element("tbody", body),
    )
    label = caption or ", ".join(headers)
    return element("div", whole, class_="table", role="region", tabindex=0, aria_label=label)


def facts(named: Mapping[str, Cell]) -> Markup:
    """Names with their values, beside each other.

    >>> facts({"calls": 3})
    '<dl class="facts"><div><dt>calls</dt><dd>3</dd></div></dl>'
    """
    return element(
        "dl",
        (
            element("div", element("dt", name), element("dd", _shown(value)))
            for name, value in named.items()
        ),
        class_="facts",
    )


def _shown(cell: Cell) -> Content:
    return str(cell) if isinstance(cell, int | float) else cell


def _side(column: Sequence[Cell]) -> str | None:
    return "right" if all(isinstance(cell, int | float) for cell in column) else None
