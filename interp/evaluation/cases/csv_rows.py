"""Cases as CSV: a line with the names of the columns, then a row for each case.

Cells are separated by commas. A cell with a comma, a quote or a line break is put in quotes, and
quotes in it are doubled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gram import Diagnostic, Source, Span
from gram.plurals import counted

from ...json_text import Json, json_or_text, read_json
from .row import Row

_CELL = re.compile(r'(?:"(?P<quoted>(?:[^"]|"")*)"|(?P<plain>[^",\r\n][^,\r\n]*|))')
_END = re.compile(r",|\r?\n|\r|\Z")

LISTS = ("attach", "calls", "checks", "tags")
"""Columns whose cells are lists: JSON arrays, or names with commas or blanks between them."""

_DATA = ("json", "schema", "not")
"""Columns whose cells are JSON objects; what is below one may have columns of its own, such as
``not.contains`` and ``json.order.id``."""

_Cell = tuple[str, Span]


def csv_rows(source: Source, faults: list[Diagnostic]) -> Iterator[Row]:
    """The rows of CSV; cells that are empty are left out, and rows without any text.

    Args:
        source: the text.
        faults: gets the faults of rows that cannot be read.
    """

    def refuse(code: str, message: str, span: Span, hint: str | None = None) -> None:
        faults.append(Diagnostic(code, "error", message, span=span, hint=hint, source=source))

    header: list[str] = []
    for cells in _lines(source, faults):
        if not any(text.strip() for text, _ in cells):
            continue
        if not header:
            header = [text.strip() for text, _ in cells]
            if len(header) == 1 and (other := re.search("[;\t]", header[0])):
                found = "a tab" if other[0] == "\t" else other[0]
                message = f"the columns are separated by {found}, and have to be by commas"
                refuse("not-commas", message, cells[0][1])
                return
            for index, (text, span) in enumerate(cells):
                if not text.strip():
                    refuse("no-column-name", f"column {index + 1} has no name", span)
                elif header.index(text.strip()) < index:
                    refuse("duplicate-column", f"column {text.strip()} is there twice", span)
            continue
        if len(cells) != len(header):
            hint = "put a cell that has a comma in quotes"
            found, named = counted(len(cells), "cell"), counted(len(header), "column")
            message = f"the row has {found}, and the first line names {named}"
            refuse("wrong-row", message, _whole(cells), hint)
            continue
        values: dict[str, Json] = {}
        spans = {}
        for name, (text, span) in zip(header, cells, strict=True):
            if text:
                values[name], spans[name] = text, span
        row = Row(source, _whole(cells), values, spans)
        for name in [*values]:
            try:
                values[name] = _value(name.removeprefix("not."), values[name])
            except ValueError as error:
                faults.append(row.fault("not-json", f"{name} is not JSON: {error}", name))
                del values[name]
        for name in [*values]:
            column, dot, below = name.partition(".")
            if dot and column in ("not", "json") and isinstance(values.get(column, {}), dict):
                if below in values.get(column, {}):
                    message = f"{column} says {below} already"
                    faults.append(row.fault("duplicate-column", message, name))
                spans.setdefault(column, spans[name])
                values[column] = {**values.get(column, {}), below: values.pop(name)}
        yield row


def _value(column: str, cell: str) -> Json:
    """What a cell says: a text, unless its column is of something else.

    Raises:
        ValueError: it is not JSON, and has to be.
    """
    is_json = cell.lstrip()[:1] in ("[", "{")
    if column in LISTS:
        return read_json(cell) if is_json else re.split(r"[\s,;]+", cell.strip())
    if column in _DATA and is_json:
        return read_json(cell)
    if column in ("contains", "matches", "judge"):  # [0-9] is no array
        texts = json_or_text(cell) if is_json else cell
        return texts if isinstance(texts, list) else cell
    return json_or_text(cell) if column.startswith(("max_", "json.")) else cell


def _whole(cells: list[_Cell]) -> Span:
    return Span(cells[0][1].start, max(cells[-1][1].end, cells[0][1].start + 1))


def _lines(source: Source, faults: list[Diagnostic]) -> Iterator[list[_Cell]]:
    """The cells of each line; a cell whose quotes are not closed ends the reading."""
    text = source.text
    at = int(text.startswith("\ufeff"))  # spreadsheets write one
    cells: list[_Cell] = []
    while at < len(text):
        cell = _CELL.match(text, at)
        end = cell and _END.match(text, cell.end())
        if not cell or not end:
            message = "a quote that is not closed, or text after one"
            hint = "double each quote in a cell that is in quotes"
            span = Span(at, at + 1)
            faults.append(
                Diagnostic("not-csv", "error", message, span=span, hint=hint, source=source)
            )
            return
        quoted = cell["quoted"]
        content = cell["plain"] if quoted is None else quoted.replace('""', '"')
        cells.append((content, Span(*cell.span())))
        at = end.end()
        if end[0] != ",":
            yield cells
            cells = []
        elif at == len(text):
            cells.append(("", Span(at, at)))
    if cells:
        yield cells
