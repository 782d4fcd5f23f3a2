"""Makes a case of a row, and finds what is wrong with its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gram import Diagnostic
from gram.suggestions import nearest

from ...errors import ValidationError
from ...files import File, is_address
from ...json_text import Json, write_json
from ...reprs import shortened
from .case import Case, calls_of, names_of
from .row import COLUMNS, Row

_NEAR = 0.8  # a free column that is so like another one is a slip that would leave a case untested


def case_of(row: Row, faults: list[Diagnostic]) -> Case | None:
    """The case of a row, its name empty if it has none; None if something is wrong with it.

    Args:
        row: the row.
        faults: gets everything that is wrong with it.
    """
    cells: dict[str, Any] = {}
    columns: dict[str, Json] = {}
    found: list[Diagnostic] = []
    for column, value in row.values.items():
        if read := _CELLS.get(column):
            try:
                cells[column] = read(value)
            except ValueError as error:
                found.append(row.fault("ill-typed", f"{column} {error}", column))
        elif near := nearest(column.strip(), COLUMNS, cutoff=_NEAR):
            hint = f"did you mean {near[0]}? Else give the column another name"
            found.append(row.fault("near-column", f"{column} is not {near[0]}", column, hint))
        else:
            columns[column] = value
    if "input" not in row.values and not found:
        hint = f"it has {', '.join(row.values)}" if row.values else "write input: what is said"
        found.append(row.fault("missing-input", "the case has no input", hint=hint))
    if "program" in cells:
        program = Path(row.source.filename or "").parent / cells["program"]
        if not program.is_file():
            found.append(row.fault("no-program", f"there is no file {program}", "program"))
        cells["program"] = str(program)
    if "attach" in cells:
        cells["attachments"] = tuple(_files(row, cells.pop("attach"), found))
        if isinstance(cells.get("input"), dict):
            found.append(
                row.fault("ill-typed", "attach goes with an input that is a text", "attach")
            )
    faults.extend(found)
    if found:
        return None
    return Case(**{"name": "", **cells}, columns=columns, row=row)


def _files(row: Row, words: Iterable[str], found: list[Diagnostic]) -> Iterator[File]:
    """The files of a case, whose paths are from the folder of the file of cases."""
    for word in words:
        path = Path(row.source.filename or "").parent / word
        try:
            yield File(word if is_address(word) else path)
        except (OSError, ValidationError) as error:
            told = f"there is no file {path}" if isinstance(error, OSError) else str(error)
            found.append(row.fault("no-file", told.partition("\n")[0], "attach"))


def _text(value: Json) -> str:
    if isinstance(value, str) and value.strip():
        return value
    raise ValueError(f"must be a text that is not empty, found {_shown(value)}")


def _input(value: Json) -> Json:
    return value if isinstance(value, dict) else _text(value)


def _any(value: Json) -> Json:
    return value


_CELLS: Mapping[str, Callable[[Json], Any]] = dict(
    zip(COLUMNS, (_text, _input, names_of, _any, calls_of, names_of, _text, _text), strict=True)
)


def _shown(value: Json) -> str:
    return shortened(write_json(value), 40)
