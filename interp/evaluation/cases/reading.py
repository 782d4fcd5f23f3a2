"""Reads the cases of a file: JSON Lines, CSV or gram, all with the same columns."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from attrs import evolve

from gram import Diagnostic, Source, Span
from gram.documents import decode, resolved
from gram.errors import expect

from ...errors import ValidationError
from ...history.records import PathLike
from ...reprs import shortened
from .case import Case
from .cells import case_of
from .csv_rows import csv_rows
from .gram_rows import gram_rows
from .jsonl_rows import jsonl_rows
from .row import Row

_FORMS: Mapping[str, Callable[[Source, list[Diagnostic]], Iterable[Row]]] = {
    ".jsonl": jsonl_rows,
    ".csv": csv_rows,
    ".gram": gram_rows,
}
_OF_ALL = {"program", "agent"}
"""What a first row without anything else says for all cases."""

_FORM_HINT = "write each case as a JSON object on a line of its own, in a file .jsonl"

_LONGEST_NAME = 60  # characters of the input that name a case without a name


def read_cases(path: PathLike) -> tuple[Case, ...]:
    """Read the cases of a file, in the form that its ending names: .jsonl, .csv or .gram.

    A case has an ``input``. It may have a ``name``, files to ``attach`` (paths from the folder of
    the file, and addresses), the answer that is ``expected``, the ``calls``
    of tools that are expected, ``checks`` by name, and any other columns. A case, or a first row
    with nothing else, may name the ``program`` (a path from the folder of the file) and ``agent``.

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
    faults: list[Diagnostic] = []

    def refuse(code: str, message: str, hint: str) -> None:
        faults.append(Diagnostic(code, "error", message, span=Span(0, 0), hint=hint, source=source))

    rows: list[Row] = []
    if read := _FORMS.get(Path(source.filename or "").suffix.lower()):
        rows = list(read(source, faults))
        if rows and rows[0].values and set(rows[0].values) <= _OF_ALL:
            head, *rows = rows
            rows = [_below(head, row) for row in rows]
        if not rows and not faults:
            is_empty = not source.text.strip("\ufeff \t\r\n")
            found = "the file is empty" if is_empty else "there are no cases in the file"
            refuse("no-cases", found, "a case has at least an input")
    else:
        forms = ", ".join(_FORMS)
        refuse("unknown-form", f"the ending of the file is not one of {forms}", _FORM_HINT)
    cases = _named([made for row in rows if (made := case_of(row, faults))], faults)
    each_once = dict.fromkeys(faults)  # what is wrong for all cases is said once
    return cases, sorted(each_once, key=lambda each: each.span or Span(0, 0))


def _below(head: Row, row: Row) -> Row:
    """A row with what the first row says for all."""
    return evolve(row, values={**head.values, **row.values}, spans={**head.spans, **row.spans})


def _named(cases: Iterable[Case], faults: list[Diagnostic]) -> tuple[Case, ...]:
    """Name the cases that have no name by their inputs, and find names that are there twice."""
    cases = list(cases)
    taken: dict[str, Case] = {}
    for case in cases:
        if case.name and case.name in taken:
            message = f"{case.name} is the name of another case, at {taken[case.name].place}"
            faults.append(case.fault("duplicate-name", message, "name"))
        elif case.name:
            taken[case.name] = case
    named = []
    for case in cases:
        if not case.name:
            case = evolve(case, name=_free_name(case, taken))
            taken[case.name] = case
        named.append(case)
    return tuple(named)


def _free_name(case: Case, taken: Mapping[str, Case]) -> str:
    base = shortened(" ".join(case.message.split()), _LONGEST_NAME)
    name, count = base, 1
    while name in taken:
        count += 1
        name = f"{base} ({count})"
    return name
