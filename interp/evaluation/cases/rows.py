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

from attrs import evolve

from gram import Diagnostic, Document, Pattern, Source, Span, write_value
from gram.words import counted, did_you_mean
from lenses_ext import find_agents, parse_program
from lenses_ext.schemas import NotJson, to_json_value

from ...json_text import Json, json_or_text, read_json
from .case import COLUMNS, Row

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


CASE = "Case"


def gram_rows(source: Source, faults: list[Diagnostic]) -> Iterator[Row]:
    """The rows of a gram file: first what holds for all cases, if it says so, then the cases.

    Args:
        source: the text.
        faults: gets the faults of patterns that are no cases.

    Raises:
        GramDecodeError: the text is not gram.
    """
    document = parse_program(source.text, source.filename)
    if head := _head(document):
        yield head
    for pattern in document.patterns:
        if CASE in pattern.value.labels:
            yield _row_of_pattern(document, pattern, faults)
            continue
        for label in sorted(pattern.value.labels):
            if near := did_you_mean(label, [CASE]):
                message = f"the label {label} is not {CASE}"
                faults.append(Diagnostic.of("unknown-label", message, pattern, "labels", hint=near))


def _head(document: Document) -> Row | None:
    """What a document says for all its cases: its header, and that it is the program itself."""
    if document.header is not None:
        row = _row_of_pattern(document, document.header, [])
        named = {key: row.values[key] for key in ("program", "agent") if key in row.values}
    else:
        row, named = Row(document.source, Span(0, 0), {}, {}), {}
    if find_agents(document):
        named.setdefault("program", Path(document.filename or "").name)
    return evolve(row, values=named) if named else None


def _row_of_pattern(document: Document, pattern: Pattern, faults: list[Diagnostic]) -> Row:
    values: dict[str, Json] = {}
    spans: dict[str, Span] = {}
    for key, value in pattern.value.properties.items():
        spans[key] = Diagnostic.of("", "", pattern, key).span or Span(0, 0)
        try:
            values[key] = to_json_value(value)
        except NotJson as error:
            if key in COLUMNS:
                faults.append(Diagnostic.of("not-json", str(error), pattern, key))
            values[key] = write_value(value)
    if pattern.value.identity and "name" in values:
        message = f"the case has two names, {pattern.value.identity} and {values['name']}"
        faults.append(Diagnostic.of("two-names", message, pattern, "name"))
    if pattern.value.identity:
        values["name"] = pattern.value.identity
        spans["name"] = Diagnostic.of("", "", pattern, "identity").span or Span(0, 0)
    for element in pattern.elements:
        hint = "write what is expected as properties: expected, calls, checks"
        faults.append(
            Diagnostic.of("unexpected-element", "a Case has no elements", element, hint=hint)
        )
    whole = Diagnostic.of("", "", pattern).span or Span(0, 0)
    return Row(document.source, whole, values, spans)


_BLANKS = re.compile(r"[ \t\r]*")


def jsonl_rows(source: Source, faults: list[Diagnostic]) -> Iterator[Row]:
    """The rows of JSON Lines; blank lines are left out.

    Args:
        source: the text.
        faults: gets the faults of lines that are no JSON object.
    """
    start = 0
    for line in source.text.split("\n"):
        if line.strip("\ufeff \t\r"):
            offset = start + len(line) - len(line.lstrip("\ufeff \t"))
            text = line.lstrip("\ufeff \t").rstrip()
            row = _row_of_line(source, Span(offset, offset + len(text)), text, faults)
            if row:
                yield row
        start += len(line) + 1


def _row_of_line(source: Source, span: Span, text: str, faults: list[Diagnostic]) -> Row | None:
    def refuse(code: str, message: str, at: int = 0, hint: str | None = None) -> None:
        place = Span(span.start + at, max(span.start + at + 1, span.end if at == 0 else 0))
        faults.append(Diagnostic(code, "error", message, span=place, hint=hint, source=source))

    try:
        value = read_json(text)
    except json.JSONDecodeError as error:
        hint = "write each case as one JSON object on one line"
        refuse("not-json", f"not JSON: {error.msg}", min(error.pos, len(text) - 1), hint)
    except ValueError as error:
        refuse("not-json", f"not JSON: {error}")
    else:
        if isinstance(value, dict):
            return Row(source, span, value, dict(_spans(text, span.start)))
        refuse("not-an-object", f"a case must be a JSON object, found {text[:20]}")
    return None


def _spans(text: str, offset: int) -> Iterator[tuple[str, Span]]:
    """Where the values of an object are, by key; the text has been parsed before."""
    decoder = json.JSONDecoder(parse_float=str, parse_int=str)
    at = 1
    while (at := _after_blanks(text, at)) < len(text) and text[at] != "}":
        if text[at] == ",":
            at = _after_blanks(text, at + 1)
        key, at = decoder.raw_decode(text, at)
        start = _after_blanks(text, _after_blanks(text, at) + 1)  # the colon is between them
        _, at = decoder.raw_decode(text, start)
        yield key, Span(offset + start, offset + at)


def _after_blanks(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    assert found
    return found.end()
