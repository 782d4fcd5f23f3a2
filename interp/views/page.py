"""The frame of a page: one self-contained file of HTML that loads nothing and runs one script.

Its content security policy names the hashes of its own style and script, so that whatever were to
get into it could neither run nor reach the network.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final, TypeAlias, Union

from gram import ArgumentError
from gram.display import Content, Markup, element
from gram.words import counted


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
    style, script = _part("page.css"), _part("page.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    head = element(
        "head", Markup(_METAS.format(policy)), element("title", title), element("style", style)
    )
    main = element("main", element("header", element("h1", title)), *body)
    whole = element("html", head, element("body", main, element("script", script)), lang="en")
    return f"<!doctype html>\n{whole}\n"


_METAS: Final = """<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
"""


@cache
def _part(name: str) -> Markup:
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
    whole = element(
        "table",
        element("caption", caption) if caption else None,
        element("thead", element("tr", head)),
        element("tbody", (_row(line, sides) for line in lines)),
    )
    label = caption or ", ".join(headers)
    return element("div", whole, class_="table", role="region", tabindex=0, aria_label=label)


def _row(line: Sequence[Cell], sides: Sequence[str | None]) -> Markup:
    cells = [
        element("td", _shown(cell), class_=side) for cell, side in zip(line, sides, strict=True)
    ]
    named = [element("th", _shown(cell), scope="row") for cell in line[:1]]
    return element("tr", named, cells[1:])


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
