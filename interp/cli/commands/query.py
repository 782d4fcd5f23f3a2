"""``gram query``: find where a pattern with holes matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import click

from gram import Pattern, origin, to_json, write_value
from gram.comparing import Bound
from gram.json import value_to_json
from gram.writing import abridged
from lenses_ext import Match, query
from lenses_ext.errors import describe

from ..completion.completing import complete_files
from ..each_file import each_file
from ..edits import read_pattern
from ..failures import NO
from ..inputs.file_options import json_option
from ..inputs.program_files import are_many
from ..inputs.reading import read_program, read_word_beside
from ..terminal.output import show, show_json

as_written_option = click.option(
    "--as-written", is_flag=True, help="Follow no reference, and read Tool as Tool alone."
)


@click.command("query")
@click.argument("pattern")
@click.argument("files", nargs=-1, required=True, shell_complete=complete_files)
@as_written_option
@click.option("--count", is_flag=True, help="Print how often it is found in each file.")
@click.option("--files", "only_files", is_flag=True, help="Print the names of the files alone.")
@json_option
def command(
    pattern: str,
    files: tuple[str, ...],
    as_written: bool,
    count: bool,
    only_files: bool,
    as_json: bool,
) -> None:
    """Find where PATTERN matches in FILES, and print each place with what the holes stand for.

    PATTERN is gram with holes: a name, a label, a key or a symbol value that begins with _, as in
    '[_agent:Agent {model: _m} | [:Tool {description: _d}]]'. _ alone is anything, __x means _x, the
    same hole twice is the same, and what is left out does not matter. @FILE reads it from a file.

    FILES are files, folders and globs; - is standard input. A file that is not gram is told, and
    the others are searched. Exits with 1 if nothing is found.
    """
    if count and only_files:
        raise click.UsageError("--count and --files print different things: choose one")
    wanted = read_pattern(read_word_beside(pattern, files), "PATTERN")
    rows: list[dict[str, Any]] = []
    counts: Counter[str] = Counter()

    def find(file: str) -> None:
        program = read_program(file)
        for match in query(wanted, program, as_written=as_written, own=True):
            counts[file] += 1
            if only_files:
                break
            row = _row(match, program.patterns)
            if as_json:
                rows.append({"file": file, **row, "bindings": _each(match, _as_json)})
            elif not count:
                told = ", ".join(f"{name}: {it}" for name, it in _each(match, _shown).items())
                place = f"{file}:{row['line']}:{row['column']}"
                found = told or _shown(match.place.pattern(program.patterns))
                show([(f"{place}:", "place"), (f" {found}", "")])

    tally = each_file(files, find)
    if as_json:
        show_json([*counts] if only_files else counts if count else rows)
    elif only_files:
        show("".join(f"{file}\n" for file in counts), nl=False)
    elif count:
        several = are_many(files)
        for row in tally.rows:
            if "error" not in row:
                show(f"{row['file']}: " * several + str(counts[row["file"]]))
    if not counts:
        tally.code = max(tally.code, NO)
    tally.leave()


def _row(match: Match, patterns: tuple[Pattern, ...]) -> dict[str, Any]:
    place = origin(match.place.pattern(patterns))
    assert place is not None, "it was read"
    return {"line": place.lineno, "column": place.colno}


def _each(match: Match, show_as: Callable[[Bound], Any]) -> dict[str, Any]:
    return {name: show_as(bound) for name, bound in match.bindings.items()}


def _shown(bound: Bound) -> str:
    if not isinstance(bound, Pattern):
        return write_value(bound, fences=False)
    return describe(bound) if bound.value.identity or bound.value.labels else abridged(bound)


def _as_json(bound: Bound) -> Any:
    return to_json(bound) if isinstance(bound, Pattern) else value_to_json(bound)
