"""Reads the cases of a file: JSON Lines, CSV or gram, all with the same columns."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterable, Mapping
from itertools import chain, count
from pathlib import Path
from typing import Any, Final

from attrs import evolve

from gram import Diagnostic, GramError, Source, Span
from gram.documents import decode, resolved
from gram.errors import expect
from gram.words import nearest

from ...errors import ValidationError
from ...files import File, is_address
from ...history.records import PathLike, load_context
from ...json_text import Json, read_json
from ...shown import shortened
from .case import COLUMNS, READERS, Case, ExpectedCall, Row, found as shown, names_of
from .rows import Text, csv_rows, gram_rows, jsonl_rows

_NEAR = 0.8  # a free column that is so like another one is a slip that would leave a case untested
_PART: Final = re.compile(rf"(not)[._ -]*({'|'.join(READERS)})|(not)_()|(json)\.(.+)")
"""A free column that is meant as a part of ``not`` or ``json``."""


def case_of(row: Row, faults: list[Diagnostic]) -> Case | None:
    """The case of a row, its name empty if it has none; None if something is wrong with it.

    Args:
        row: the row.
        faults: gets everything that is wrong with it.
    """
    cells: dict[str, Any] = {}
    columns: dict[str, Json] = {}
    found: list[Diagnostic] = []
    readers = _readers(Path(row.source.filename or "").parent)
    for column, value in row.values.items():
        if read := readers.get(column):
            try:
                cells[_ATTRIBUTES.get(column, column)] = read(value)
            except (OSError, GramError) as error:
                told = str(error).partition("\n")[0]
                if isinstance(error, FileNotFoundError):
                    told = f"there is no file {error.filename}"
                hint = "gram conversations export writes one" if column == "after" else None
                found.append(row.fault(_NO_FILE.get(column, "ill-typed"), told, column, hint))
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
_NO_FILE: Final = {"after": "no-conversation", "attach": "no-file", "program": "no-program"}


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


_FORMS: Mapping[str, Callable[[Text], Iterable[Row]]] = {
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
    """The cases in the text of a file; see `read_cases`.

    Raises:
        GramDecodeError: the ending of its name is .gram and it is not gram.
        ValidationError: it has no cases, or something is wrong with them.
    """
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
    text, rows = Text(source), list[Row]()
    if read := _FORMS.get(Path(source.filename or "").suffix.lower()):
        rows = list(read(text))
        if rows and rows[0].values and set(rows[0].values) <= _OF_ALL:
            head, *others = rows
            for index, each in enumerate(others):
                values, spans = {**head.values, **each.values}, {**head.spans, **each.spans}
                others[index] = evolve(each, values=values, spans=spans)
            rows = others
        if not rows and not text.faults:
            is_empty = not source.text.strip("\ufeff \t\r\n")
            found = "the file is empty" if is_empty else "there are no cases in the file"
            text.refuse("no-cases", found, Span(0, 0), "a case has at least an input")
    else:
        message = f"the ending of the file is not one of {', '.join(_FORMS)}"
        hint = "write each case as a JSON object on a line of its own, in a file .jsonl"
        text.refuse("unknown-form", message, Span(0, 0), hint)
    cases = _named([made for row in rows if (made := case_of(row, text.faults))], text.faults)
    each_once = dict.fromkeys(text.faults)  # what is wrong for all cases is said once
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
    for index, case in enumerate(cases):
        if not case.name:
            base = shortened(" ".join(case.message.split()), 60)
            names = chain([base], (f"{base} ({number})" for number in count(2)))
            name = next(each for each in names if each not in taken)
            cases[index] = taken[name] = evolve(case, name=name)
    return tuple(cases)


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
    text = source.text
    for (start, end), changed in sorted(edits.items(), reverse=True):
        text = text[:start] + changed + text[end:]
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
