"""Reads the cases of a file: JSON Lines, CSV or gram, all with the same columns.

In CSV, cells are separated by commas. A cell with a comma, a quote or a line break is put in
quotes, and quotes in it are doubled.

.. code-block:: text

    {program: "hello.gram"}
    [greets:Case {input: "I am Alice", expected: "Hello, Alice!", calls: ["sayHello"]}]

The identity of a pattern is the case's name. A file with agents of its own is the program.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any, Final

from attrs import evolve

from gram import Diagnostic, GramError, Pattern, Source, Span, write_value
from gram.documents import decode, resolved
from gram.errors import expect
from gram.words import counted, did_you_mean, nearest
from lenses_ext import find_agents, parse_program
from lenses_ext.schemas import NotJson, to_json_value

from ...errors import ValidationError
from ...files import File, is_address
from ...history.records import PathLike, load_context
from ...json_text import Json, json_or_text, read_json
from ...shown import shortened
from .case import COLUMNS, READERS, Case, ExpectedCall, Row, found as shown, names_of

_CELL = re.compile(r'(?:"(?P<quoted>(?:[^"]|"")*)"|(?P<plain>[^",\r\n][^,\r\n]*|))')
_END = re.compile(r",|\r?\n|\r|\Z")
_NEXT = re.compile(r"[ \t\r,:]*")

LISTS = ("attach", "calls", "checks", "tags")
"""Columns whose cells are lists: JSON arrays, or names with commas or blanks between them."""

_DATA = ("json", "schema", "not")
"""Columns whose cells are JSON objects; what is below one may have columns of its own, such as
``not.contains`` and ``json.order.id``."""

_Cell = tuple[str, Span]


def csv_rows(source: Source, faults: list[Diagnostic]) -> Iterator[Row]:
    """The rows of CSV; cells that are empty are left out, and rows without any text."""

    def refuse(code: str, message: str, span: Span, hint: str | None = None) -> None:
        faults.append(Row(source, span).fault(code, message, hint=hint))

    lines = (cells for cells in _lines(source, faults) if any(cell.strip() for cell, _ in cells))
    head = next(lines, [])
    names = [cell.strip() for cell, _ in head]
    if len(names) == 1 and re.search("[;\t]", names[0]):  # as some spreadsheets write
        refuse("not-commas", "the columns have to be separated by commas", head[0][1])
        return
    for index, name in enumerate(names):
        if not name:
            refuse("no-column-name", f"column {index + 1} has no name", head[index][1])
        elif names.index(name) < index:
            refuse("duplicate-column", f"column {name} is there twice", head[index][1])
    for cells in lines:
        whole = Span(cells[0][1].start, max(cells[-1][1].end, cells[0][1].start + 1))
        if len(cells) != len(names):
            found, named = counted(len(cells), "cell"), counted(len(names), "column")
            message = f"the row has {found}, and the first line names {named}"
            refuse("wrong-row", message, whole, "put a cell that has a comma in quotes")
            continue
        spans = {name: span for name, (cell, span) in zip(names, cells, strict=True) if cell}
        values: dict[str, Json] = {}
        for name, (cell, span) in zip(names, cells, strict=True):
            try:
                values |= {name: _value(name.removeprefix("not."), cell)} if cell else {}
            except ValueError as error:
                refuse("not-json", f"{name} is not JSON: {error}", span)
        for name in [*values]:
            column, dot, below = name.partition(".")
            if dot and column in ("not", "json") and isinstance(values.get(column, {}), dict):
                if below in values.get(column, {}):
                    refuse("duplicate-column", f"{column} says {below} already", spans[name])
                spans.setdefault(column, spans[name])
                values[column] = {**values.get(column, {}), below: values.pop(name)}
        yield Row(source, whole, values, spans)


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


def _lines(source: Source, faults: list[Diagnostic]) -> Iterator[list[_Cell]]:
    """The cells of each line; a cell whose quotes are not closed ends the reading."""
    content = source.text
    at = int(content.startswith("\ufeff"))  # spreadsheets write one
    cells: list[_Cell] = []
    while at < len(content):
        cell = _CELL.match(content, at)
        end = cell and _END.match(content, cell.end())
        if not cell or not end:
            hint = "double each quote in a cell that is in quotes"
            message = "a quote that is not closed, or text after one"
            faults.append(Row(source, Span(at, at + 1)).fault("not-csv", message, hint=hint))
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


def gram_rows(source: Source, faults: list[Diagnostic]) -> Iterator[Row]:
    """The rows of a gram file: first what holds for all cases, if it says so, then the cases.

    Raises:
        GramDecodeError: the text is not gram.
    """
    document = parse_program(source.text, source.filename)
    source, head = document.source, Row(document.source, Span(0, 0))
    if document.header is not None:
        head = _row_of_pattern(source, document.header, [])
    named = {key: head.values[key] for key in ("program", "agent") if key in head.values}
    if find_agents(document):
        named.setdefault("program", Path(document.filename or "").name)
    if named:
        yield evolve(head, values=named)
    for pattern in document.patterns:
        if CASE in pattern.value.labels:
            yield _row_of_pattern(source, pattern, faults)
            continue
        for label in sorted(pattern.value.labels):
            if near := did_you_mean(label, [CASE]):
                message = f"the label {label} is not {CASE}"
                fault = Diagnostic.of("unknown-label", message, pattern, "labels", hint=near)
                faults.append(fault)


def _row_of_pattern(source: Source, pattern: Pattern, faults: list[Diagnostic]) -> Row:
    def span_of(part: str | None = None) -> Span:
        return Diagnostic.of("", "", pattern, part).span or Span(0, 0)

    values: dict[str, Json] = {}
    spans: dict[str, Span] = {}
    properties = pattern.value.properties
    for key in sorted(properties, key=lambda each: span_of(each).start):  # as they are written
        spans[key], value = span_of(key), properties[key]
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


def jsonl_rows(source: Source, faults: list[Diagnostic]) -> Iterator[Row]:
    """The rows of JSON Lines; blank lines are left out."""
    start = 0
    for line in source.text.split("\n"):
        shown = line.lstrip("\ufeff \t").rstrip()
        at = start + len(line) - len(line.lstrip("\ufeff \t"))
        start += len(line) + 1
        if not shown:
            continue
        span = Span(at, at + len(shown))
        try:
            value = read_json(shown)
        except ValueError as error:  # most know where it is
            at += min(getattr(error, "pos", 0), len(shown) - 1)
            place = Span(at, at + 1) if at > span.start else span
            hint = "write each case as one JSON object on one line"
            told = f"not JSON: {getattr(error, 'msg', error)}"
            faults.append(Row(source, place).fault("not-json", told, hint=hint))
        else:
            if isinstance(value, dict):
                yield Row(source, span, value, dict(_spans(shown, span.start)))
            else:
                told = f"a case must be a JSON object, found {shown[:20]}"
                faults.append(Row(source, span).fault("not-an-object", told))


def _spans(text: str, offset: int) -> Iterator[tuple[str, Span]]:
    """Where the values of an object are, by key; the text has been parsed before."""
    decoder, at = json.JSONDecoder(parse_float=str, parse_int=str), 1
    while (begun := _NEXT.match(text, at)) and text[begun.end()] != "}":
        key, at = decoder.raw_decode(text, begun.end())
        if colon := _NEXT.match(text, at):
            _, at = decoder.raw_decode(text, colon.end())
            yield key, Span(offset + colon.end(), offset + at)


_NEAR = 0.8  # a free column that is so like another one is a slip that would leave a case untested
_PART: Final = re.compile(rf"(not)[._ -]*({'|'.join(READERS)})|(not)_()|(json)\.(.+)")
"""A free column that is meant as a part of ``not`` or ``json``."""


def case_of(row: Row, faults: list[Diagnostic]) -> Case | None:
    """The case of a row, its name empty if it has none; None if something is wrong with it."""
    cells: dict[str, Any] = {}
    columns: dict[str, Json] = {}
    found: list[Diagnostic] = []
    readers = _readers(Path(row.source.filename or "").parent)
    for column, value in row.values.items():
        if read := readers.get(column):
            try:
                cells[_ATTRIBUTES.get(column, column)] = read(value)
            except OSError as error:
                is_gone = isinstance(error, FileNotFoundError)
                told = f"there is no file {error.filename}" if is_gone else str(error)
                found.append(row.fault("no-file", told, column))
            except GramError as error:
                found.append(row.fault("ill-formed", str(error).partition("\n")[0], column))
            except ValueError as error:
                found.append(row.fault("ill-typed", f"{column} {error}", column))
        elif slip := _slip(column.strip()):
            found.append(row.fault("near-column", slip[0], column, slip[1]))
        else:
            columns[column] = value
    if "input" not in row.values and not found:
        hint = f"it has {', '.join(row.values)}" if row.values else "write input: what is said"
        found.append(row.fault("missing-input", "the case has no input", hint=hint))
    if cells.get("attachments") and isinstance(cells.get("input"), dict):
        told = "attach goes with an input that is a text"
        found.append(row.fault("ill-typed", told, "attach"))
    faults.extend(found)
    return None if found else Case(**{"name": "", **cells}, columns=columns, row=row)


_ATTRIBUTES: Final = {"not": "not_", "attach": "attachments"}


def _slip(column: str) -> tuple[str, str] | None:
    """What is wrong with a free column that is likely to be meant as another one, and a hint."""
    if part := _PART.fullmatch(column):
        whole, name = (each for each in part.groups() if each is not None)
        name = name or "contains"
        hint = f'write "{whole}": {{"{name}": …}}; in CSV, a column {whole}.{name}'
        return f"{column} is no column, but a part of {whole}", hint
    is_limit = column.startswith("max_")  # no free column does
    known = [each for each in COLUMNS if each.startswith("max_") or not is_limit]
    near = nearest(column, known, cutoff=0 if is_limit else _NEAR)
    if not near or (near[0] == "not" and column.casefold() != "not"):  # such as "note"
        return None
    hint = f"did you mean {near[0]}? Else give the column another name"
    return f"{column} is not {near[0]}", hint


def _readers(folder: Path) -> dict[str, Callable[[Any], Any]]:
    """What reads each column; paths are from the folder of the file of cases."""

    def with_schema(of: Json) -> Json:
        """Expectations whose schema is named by its file, with the schema itself."""
        if not isinstance(of, dict) or not isinstance(file := of.get("schema"), str):
            return of
        try:
            return {**of, "schema": read_json((folder / file).read_text("utf-8"))}
        except (OSError, ValueError) as error:
            told = "there is no such file" if isinstance(error, FileNotFoundError) else error
            raise ValueError(f"{folder / file}: {told}") from None

    def program(value: Json) -> str:
        file = folder / _text(value)
        if not file.is_file():
            raise FileNotFoundError(errno.ENOENT, "there is no file", str(file))
        return str(file)

    def file(name: str) -> File:
        return File(name if is_address(name) else folder / name)

    return {
        **READERS,
        "schema": lambda value: READERS["schema"](with_schema({"schema": value})["schema"]),
        "not": lambda value: READERS["not"](with_schema(value)),
        "name": _text,
        "input": lambda value: value if isinstance(value, dict) else _text(value),
        "attach": lambda value: tuple(map(file, names_of(value))),
        "after": lambda value: load_context(folder / _text(value)),
        "tags": names_of,
        "cluster": lambda value: _text(str(value) if type(value) is int else value),
        "program": program,
        "agent": _text,
    }


def _text(value: Json) -> str:
    if isinstance(value, str) and value.strip():
        return value
    raise ValueError(f"must be a text that is not empty, found {shown(value)}")


_FORMS: Mapping[str, Callable[[Source, list[Diagnostic]], Iterable[Row]]] = {
    ".jsonl": jsonl_rows,
    ".csv": csv_rows,
    ".gram": gram_rows,
}
_OF_ALL = {"program", "agent"}
"""What a first row without anything else says for all cases."""


def read_cases(path: PathLike) -> tuple[Case, ...]:
    """Read the cases of a file, in the form that its ending names: .jsonl, .csv or .gram.

    The columns are the attributes of `Case` (``not`` is `Case.not_`), ``attach`` (files, by paths
    from the folder of the file, or addresses), and any others. A first row with nothing else may
    name the ``program`` (a path from the folder of the file) and ``agent`` of all cases.

    Raises:
        OSError: the file cannot be read.
        GramDecodeError: it is not UTF-8, or its ending is .gram and it is not gram.
        ValidationError: it has no cases, or something is wrong with them; ``faults`` has
            everything that was found, with places.
    """
    expect(path, (str, os.PathLike), "path", by="read_cases")
    file = Path(path)
    resolved(file)  # refuses what is no path
    return cases_in(Source(decode(file.read_bytes(), str(path)), str(path)))


def cases_in(source: Source) -> tuple[Case, ...]:
    """The cases in the text of a file; see `read_cases`."""
    cases, faults = _read(source)
    if faults:
        raise ValidationError.of(faults)
    return cases


def case_faults(source: Source) -> tuple[Diagnostic, ...]:
    """What is wrong with the cases in the text of a file; see `read_cases`.

    Raises:
        GramDecodeError: the ending of its name is .gram and it is not gram.
    """
    return tuple(_read(source)[1])


def _read(source: Source) -> tuple[tuple[Case, ...], list[Diagnostic]]:
    faults, rows, whole = list[Diagnostic](), list[Row](), Row(source, Span(0, 0))
    if read := _FORMS.get(Path(source.filename or "").suffix.lower()):
        rows = list(read(source, faults))
        if rows and rows[0].values and set(rows[0].values) <= _OF_ALL:
            head, *others = rows
            for index, each in enumerate(others):
                values, spans = {**head.values, **each.values}, {**head.spans, **each.spans}
                others[index] = evolve(each, values=values, spans=spans)
            rows = others
        if not rows and not faults:
            hint = "a case has at least an input"
            faults.append(whole.fault("no-cases", "there are no cases in the file", hint=hint))
    else:
        message = f"the ending of the file is not one of {', '.join(_FORMS)}"
        hint = "write each case as a JSON object on a line of its own, in a file .jsonl"
        faults.append(whole.fault("unknown-form", message, hint=hint))
    cases = _named([made for row in rows if (made := case_of(row, faults))], faults)
    each_once = dict.fromkeys(faults)  # what is wrong for all cases is said once
    return cases, sorted(each_once, key=lambda each: each.span or Span(0, 0))


def _named(cases: list[Case], faults: list[Diagnostic]) -> tuple[Case, ...]:
    """Name the cases that have no name by their inputs, and find names that are there twice."""
    taken: dict[str, Case] = {}
    for case in cases:
        if case.name in taken:
            message = f"{case.name} is the name of another case, at {taken[case.name].place}"
            faults.append(case.fault("duplicate-name", message, "name"))
        elif case.name:
            taken[case.name] = case
    names: dict[str, Iterator[str]] = {}  # what is left of those that begin alike
    for index, case in enumerate(cases):
        if not case.name:
            base = shortened(" ".join(case.message.split()), 60)
            left = names.setdefault(base, _numbered(base))
            name = next(each for each in left if each not in taken)
            cases[index] = taken[name] = evolve(case, name=name)
    return tuple(cases)


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name} ({number})" for number in count(2))


def rename_in_cases(
    source: Source, kind: str, old: str, new: str, holder: str, is_meant: Callable[[Case], bool]
) -> str:
    """The text of a file of cases with another name for something of the program.

    Args:
        source: the text.
        kind: what is renamed: ``agent``, ``workflow``, ``tool``, ``parameter``, ….
        old: its name.
        new: its new name.
        holder: of a parameter, the tool or agent that has it.
        is_meant: whether a case is about it.

    Raises:
        ValidationError: it is no file of cases, or a name in it cannot be changed alone.
        GramDecodeError: the text is not gram, and its ending says so.
    """
    after = r"(?=[\"'`]*\s*:)" if kind == "parameter" else r"(?![\w.-])(?![\"'`]*\s*:)"
    name = re.compile(rf"(?<![\w.-]){re.escape(old)}{after}")  # of a parameter, a key
    edits: dict[tuple[int, int], str] = {}
    cases = cases_in(source)
    wanted = [_renamed(each, kind, old, new, holder) if is_meant(each) else each for each in cases]
    for case, other in zip(cases, wanted, strict=True):
        for column in ("agent", "calls", "input", "not"):
            part = "not_" if column == "not" else column
            if case.row and getattr(case, part) != getattr(other, part):
                start, end = case.row.spans[column]
                edits[start, end] = name.sub(lambda _: new, source.text[start:end])
    parts, at = list[str](), 0
    for (start, end), changed in sorted(edits.items()):
        parts += [source.text[at:start], changed]
        at = end
    text = "".join([*parts, source.text[at:]])
    found = cases_in(Source(text, source.filename)) if edits else cases
    if [*map(_parts, found)] != [*map(_parts, wanted)]:
        raise ValidationError(f"{source.filename}: {old} is named in cases: change it by hand")
    return text


def _parts(case: Case) -> tuple[object, ...]:
    return case.agent, case.calls, case.input, case.not_


def _renamed(case: Case, kind: str, old: str, new: str, holder: str) -> Case:
    def keys(given: Any) -> Any:
        is_object = isinstance(given, Mapping)
        return {new if key == old else key: given[key] for key in given} if is_object else given

    def named(call: ExpectedCall) -> ExpectedCall:
        if kind == "parameter":
            return evolve(call, arguments=keys(call.arguments)) if call.name == holder else call
        return evolve(call, name=new) if call.name == old else call

    unwanted: Any = case.not_
    if unwanted and "calls" in unwanted:
        unwanted = {**unwanted, "calls": [*map(named, unwanted["calls"])]}
    wanted = evolve(case, calls=case.calls and tuple(map(named, case.calls)), not_=unwanted)
    if kind == "parameter":
        is_asked = case.agent in (None, holder)
        return evolve(wanted, input=keys(case.input)) if is_asked else wanted
    return evolve(wanted, agent=new if case.agent == old else case.agent)
