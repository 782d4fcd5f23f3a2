"""Makes a case of a row, and finds what is wrong with its columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from gram import Diagnostic, GramError
from gram.words import nearest

from ...errors import ValidationError
from ...files import File, is_address
from ...history.records import load_context
from ...json_text import Json, read_json
from .case import Case, Row
from .expectations import READERS, found as shown, names_of

_NEAR = 0.8  # a free column that is so like another one is a slip that would leave a case untested
_LIMIT: Final = "max_"
"""How columns of limits begin; no free column does."""
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
    folder = Path(row.source.filename or "").parent
    for column, value in row.values.items():
        if read := _CELLS.get(column):
            try:
                if column == "schema":
                    value = _with_schema({column: value}, folder)[column]
                elif column == "not":
                    value = _with_schema(value, folder)
                cells["not_" if column == "not" else column] = read(value)
            except ValueError as error:
                found.append(row.fault("ill-typed", f"{column} {error}", column))
        elif part := _PART.fullmatch(column.strip()):
            whole, name = (each for each in part.groups() if each is not None)
            name = name or "contains"
            hint = f'write "{whole}": {{"{name}": …}}; in CSV, a column {whole}.{name}'
            said = f"{column} is no column, but a part of {whole}"
            found.append(row.fault("near-column", said, column, hint))
        elif near := _meant(column.strip()):
            hint = f"did you mean {near}? Else give the column another name"
            found.append(row.fault("near-column", f"{column} is not {near}", column, hint))
        else:
            columns[column] = value
    if "input" not in row.values and not found:
        hint = f"it has {', '.join(row.values)}" if row.values else "write input: what is said"
        found.append(row.fault("missing-input", "the case has no input", hint=hint))
    if "program" in cells:
        program = folder / cells["program"]
        if not program.is_file():
            found.append(row.fault("no-program", f"there is no file {program}", "program"))
        cells["program"] = str(program)
    if "attach" in cells:
        cells["attachments"] = tuple(_files(row, cells.pop("attach"), found))
        if isinstance(cells.get("input"), dict):
            found.append(
                row.fault("ill-typed", "attach goes with an input that is a text", "attach")
            )
    if "after" in cells:
        try:
            cells["after"] = load_context(folder / cells["after"])
        except (OSError, GramError) as error:
            is_missing = isinstance(error, FileNotFoundError)
            told = f"there is no file {folder / cells['after']}" if is_missing else str(error)
            hint = "gram conversations export writes one"
            found.append(row.fault("no-conversation", told.partition("\n")[0], "after", hint))
    faults.extend(found)
    if found:
        return None
    return Case(**{"name": "", **cells}, columns=columns, row=row)


def _meant(column: str) -> str | None:
    """The column that was meant by the name of another one; None if it is a free one."""
    if column.startswith(_LIMIT):
        return nearest(column, filter(lambda each: each.startswith(_LIMIT), COLUMNS), cutoff=0)[0]
    near = nearest(column, COLUMNS, cutoff=_NEAR)
    is_free = not near or (near[0] == "not" and column.casefold() != "not")  # such as "note"
    return None if is_free else near[0]


def _with_schema(of: Json, folder: Path) -> Json:
    """Expectations whose schema is named by its file, with the schema itself."""
    if not isinstance(of, dict) or not isinstance(file := of.get("schema"), str):
        return of
    try:
        return {**of, "schema": read_json((folder / file).read_text("utf-8"))}
    except (OSError, ValueError) as error:
        told = "there is no such file" if isinstance(error, FileNotFoundError) else error
        raise ValueError(f"{folder / file}: {told}") from None


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
    raise ValueError(f"must be a text that is not empty, found {shown(value)}")


def _input(value: Json) -> Json:
    return value if isinstance(value, dict) else _text(value)


_CELLS: Final[Mapping[str, Callable[[Any], Any]]] = {
    **READERS,
    "name": _text,
    "input": _input,
    "attach": names_of,
    "after": _text,
    "tags": names_of,
    "cluster": lambda value: _text(str(value) if type(value) is int else value),
    "program": _text,
    "agent": _text,
}
COLUMNS: Final = tuple(_CELLS)
"""The columns that have a meaning; all others are free."""
