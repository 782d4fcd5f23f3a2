"""Cases as CSV, as JSON Lines and as gram.

In CSV, cells are separated by commas. A cell with a comma, a quote or a line break is put in
quotes, and quotes in it are doubled.

.. code-block:: text

    {program: "hello.gram"}
    [greets:Case {input: "I am Alice", expected: "Hello, Alice!", calls: ["sayHello"]}]

The identity of a pattern is the case's name. A file with agents of its own is the program.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from attrs import evolve, field, frozen

from gram import Diagnostic, Pattern, Source, Span, write_value
from gram.words import counted, did_you_mean
from lenses_ext import find_agents, parse_program
from lenses_ext.schemas import NotJson, to_json_value

from ...json_text import Json, json_or_text, read_json
from .case import COLUMNS, Row

_CELL = re.compile(r'(?:"(?P<quoted>(?:[^"]|"")*)"|(?P<plain>[^",\r\n][^,\r\n]*|))')
_END = re.compile(r",|\r?\n|\r|\Z")
_NEXT = re.compile(r"[ \t\r,:]*")

LISTS = ("attach", "calls", "checks", "tags")
"""Columns whose cells are lists: JSON arrays, or names with commas or blanks between them."""

_DATA = ("json", "schema", "not")
"""Columns whose cells are JSON objects; what is below one may have columns of its own, such as
``not.contains`` and ``json.order.id``."""

_Cell = tuple[str, Span]


@frozen
class Text:
    """The text of a file, and what is wrong with it.

    Attributes:
        source: the text.
        faults: what is wrong.
    """

    source: Source
    faults: list[Diagnostic] = field(factory=list)

    def refuse(self, code: str, message: str, span: Span, hint: str | None = None) -> None:
        """Add a fault."""
        fault = Diagnostic(code, "error", message, span=span, hint=hint, source=self.source)
        self.faults.append(fault)


def csv_rows(text: Text) -> Iterator[Row]:
    """The rows of CSV; cells that are empty are left out, and rows without any text."""
    lines = (cells for cells in _lines(text) if any(cell.strip() for cell, _ in cells))
    head = next(lines, [])
    names = [cell.strip() for cell, _ in head]
    if len(names) == 1 and (other := re.search("[;\t]", names[0])):
        found = "a tab" if other[0] == "\t" else other[0]
        message = f"the columns are separated by {found}, and have to be by commas"
        text.refuse("not-commas", message, head[0][1])
        return
    for index, name in enumerate(names):
        if not name:
            text.refuse("no-column-name", f"column {index + 1} has no name", head[index][1])
        elif names.index(name) < index:
            text.refuse("duplicate-column", f"column {name} is there twice", head[index][1])
    for cells in lines:
        whole = Span(cells[0][1].start, max(cells[-1][1].end, cells[0][1].start + 1))
        if len(cells) != len(names):
            found, named = counted(len(cells), "cell"), counted(len(names), "column")
            message = f"the row has {found}, and the first line names {named}"
            text.refuse("wrong-row", message, whole, "put a cell that has a comma in quotes")
            continue
        spans = {name: span for name, (cell, span) in zip(names, cells, strict=True) if cell}
        values: dict[str, Json] = {}
        for name, (cell, span) in zip(names, cells, strict=True):
            try:
                values |= {name: _value(name.removeprefix("not."), cell)} if cell else {}
            except ValueError as error:
                text.refuse("not-json", f"{name} is not JSON: {error}", span)
        for name in [*values]:
            column, dot, below = name.partition(".")
            if dot and column in ("not", "json") and isinstance(values.get(column, {}), dict):
                if below in values.get(column, {}):
                    text.refuse("duplicate-column", f"{column} says {below} already", spans[name])
                spans.setdefault(column, spans[name])
                values[column] = {**values.get(column, {}), below: values.pop(name)}
        yield Row(text.source, whole, values, spans)


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


def _lines(text: Text) -> Iterator[list[_Cell]]:
    """The cells of each line; a cell whose quotes are not closed ends the reading."""
    content = text.source.text
    at = int(content.startswith("\ufeff"))  # spreadsheets write one
    cells: list[_Cell] = []
    while at < len(content):
        cell = _CELL.match(content, at)
        end = cell and _END.match(content, cell.end())
        if not cell or not end:
            hint = "double each quote in a cell that is in quotes"
            message = "a quote that is not closed, or text after one"
            text.refuse("not-csv", message, Span(at, at + 1), hint)
            return
        quoted = cell["quoted"]
        shown = cell["plain"] if quoted is None else quoted.replace('""', '"')
        cells.append((shown, Span(*cell.span())))
        at = end.end()
        if end[0] != ",":
            yield cells
            cells = []
        elif at == len(content):
            cells.append(("", Span(at, at)))
    if cells:
        yield cells


CASE = "Case"


def gram_rows(text: Text) -> Iterator[Row]:
    """The rows of a gram file: first what holds for all cases, if it says so, then the cases.

    Raises:
        GramDecodeError: the text is not gram.
    """
    document = parse_program(text.source.text, text.source.filename)
    source = document.source
    head = Row(source, Span(0, 0), {}, {})
    if document.header is not None:
        head = _row_of_pattern(source, document.header, [])
    named = {key: head.values[key] for key in ("program", "agent") if key in head.values}
    if find_agents(document):
        named.setdefault("program", Path(document.filename or "").name)
    if named:
        yield evolve(head, values=named)
    for pattern in document.patterns:
        if CASE in pattern.value.labels:
            yield _row_of_pattern(source, pattern, text.faults)
            continue
        for label in sorted(pattern.value.labels):
            if near := did_you_mean(label, [CASE]):
                message = f"the label {label} is not {CASE}"
                fault = Diagnostic.of("unknown-label", message, pattern, "labels", hint=near)
                text.faults.append(fault)


def _row_of_pattern(source: Source, pattern: Pattern, faults: list[Diagnostic]) -> Row:
    def span_of(part: str | None = None) -> Span:
        return Diagnostic.of("", "", pattern, part).span or Span(0, 0)

    values: dict[str, Json] = {}
    spans: dict[str, Span] = {}
    for key, value in pattern.value.properties.items():
        spans[key] = span_of(key)
        try:
            values[key] = to_json_value(value)
        except NotJson as error:
            if key in COLUMNS:
                faults.append(Diagnostic.of("not-json", str(error), pattern, key))
            values[key] = write_value(value)
    if name := pattern.value.identity:
        if "name" in values:
            told = f"the case has two names, {name} and {values['name']}"
            faults.append(Diagnostic.of("two-names", told, pattern, "name"))
        values["name"], spans["name"] = name, span_of("identity")
    hint = "write what is expected as properties: expected, calls, checks"
    code, told = "unexpected-element", "a Case has no elements"
    faults += [Diagnostic.of(code, told, each, hint=hint) for each in pattern.elements]
    return Row(source, span_of(), values, spans)


def jsonl_rows(text: Text) -> Iterator[Row]:
    """The rows of JSON Lines; blank lines are left out."""
    start = 0
    for line in text.source.text.split("\n"):
        shown = line.lstrip("\ufeff \t").rstrip()
        at = start + len(line) - len(line.lstrip("\ufeff \t"))
        start += len(line) + 1
        if not shown:
            continue
        span = Span(at, at + len(shown))
        try:
            value = read_json(shown)
        except json.JSONDecodeError as error:
            at += min(error.pos, len(shown) - 1)
            place = Span(at, at + 1) if at > span.start else span
            hint = "write each case as one JSON object on one line"
            text.refuse("not-json", f"not JSON: {error.msg}", place, hint)
        except ValueError as error:
            text.refuse("not-json", f"not JSON: {error}", span)
        else:
            if isinstance(value, dict):
                yield Row(text.source, span, value, dict(_spans(shown, span.start)))
            else:
                message = f"a case must be a JSON object, found {shown[:20]}"
                text.refuse("not-an-object", message, span)


def _spans(text: str, offset: int) -> Iterator[tuple[str, Span]]:
    """Where the values of an object are, by key; the text has been parsed before."""
    decoder, at = json.JSONDecoder(parse_float=str, parse_int=str), 1
    while (begun := _NEXT.match(text, at)) and text[begun.end()] != "}":
        key, at = decoder.raw_decode(text, begun.end())
        if colon := _NEXT.match(text, at):
            _, at = decoder.raw_decode(text, colon.end())
            yield key, Span(offset + colon.end(), offset + at)
