"""Patterns with holes: ``query`` finds where one matches, ``rewrite`` puts another there."""

from __future__ import annotations

from collections import Counter
from typing import Any

import click
from attrs import frozen

from gram import Pattern, origin, to_json, write_value
from gram.comparing import Bound, QueryError, holes_in
from gram.json import value_to_json
from gram.writing import abridged
from lenses_ext import Project, query, rewrite
from lenses_ext.errors import describe
from lenses_ext.places import read_pattern

from ..completion.completing import path_argument
from ..each_file import Nowhere, ShowOptions, deliver, each_file
from ..failures import NO, Refused
from ..inputs.declaring import given_by, json_option, option, options_of
from ..inputs.files import are_many, read_program, read_word_beside, words_and_files
from ..terminal.output import forbid, show, show_json

_as_written_option: Any = option("Follow no reference, and read Tool as Tool alone.")


@frozen(kw_only=True, slots=False)
class _Options:
    as_written: bool = _as_written_option
    count: bool = option("Print how often it is found in each file.")
    only_files: bool = option("Print the names of the files alone.", name="--files")
    as_json: bool = given_by(json_option)


@click.command("query")
@click.argument("pattern")
@click.argument("files", nargs=-1, required=True)
@options_of(_Options)
def query_command(pattern: str, files: tuple[str, ...], options: _Options) -> None:
    """Find where PATTERN matches in FILES, and print each place with what the holes match.

    PATTERN is gram with holes: a name, a label, a key or a symbol value that begins with _, as in
    '[_agent:Agent {model: _m} | [:Tool {description: _d}]]'. _ alone is anything, __x means _x, the
    same hole twice is the same, and what is left out does not matter. @FILE reads it from a file.

    FILES are files, folders and globs; - is standard input. A file that is not gram is told, and
    the others are searched. Exits with 1 if nothing is found.
    """
    count, only_files, as_json = options.count, options.only_files, options.as_json
    forbid(count and only_files, "--count and --files print different things: choose one")
    wanted = read_pattern(read_word_beside(pattern, files), "PATTERN")
    rows: list[dict[str, Any]] = []
    counts: Counter[str] = Counter()

    def find(file: str) -> None:
        program = read_program(file)
        for match in query(wanted, program, as_written=options.as_written, own=True):
            counts[file] += 1
            if only_files:
                break
            pattern = match.place.pattern(program.patterns)
            place = origin(pattern)
            assert place is not None, "it was read"
            if as_json:
                bindings = {name: _as_json(bound) for name, bound in match.bindings.items()}
                row = {"file": file, "line": place.lineno, "column": place.colno}
                rows.append({**row, "bindings": bindings})
            elif not count:
                told = (f"{name}: {_shown(bound)}" for name, bound in match.bindings.items())
                found = ", ".join(told) or _shown(pattern)
                show([(f"{file}:{place.lineno}:{place.colno}:", "place"), (f" {found}", "")])

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


def _shown(bound: Bound) -> str:
    if not isinstance(bound, Pattern):
        return write_value(bound, fences=False)
    return describe(bound) if bound.value.identity or bound.value.labels else abridged(bound)


def _as_json(bound: Bound) -> Any:
    return to_json(bound) if isinstance(bound, Pattern) else value_to_json(bound)


@frozen(kw_only=True, slots=False)
class _RewriteOptions(ShowOptions):
    as_written: bool = _as_written_option


@click.command("rewrite")
@path_argument("PATTERN NEW")
@options_of(_RewriteOptions)
def rewrite_command(arguments: tuple[str, ...], options: _RewriteOptions) -> None:
    """Put NEW wherever PATTERN matches in FILES, and show what would change; -i writes.

    Both are gram with holes, see gram query: in NEW they take what they match in PATTERN. What
    PATTERN names and NEW does not is removed, what neither names stays:

    gram rewrite '[_a:Agent {model: "OpenAI/x", topP: _}]' '[_a:Agent {model: "OpenAI/y"}]' agents

    A part of NEW is that of the same name or hole in PATTERN, else the one in its place. A tool
    that an agent refers to is changed where it is defined. The change is refused if the program
    would become invalid. @FILE reads a pattern from a file.
    """
    (pattern, new), files = words_and_files(arguments, "PATTERN NEW")
    old = read_pattern(read_word_beside(pattern, files), "PATTERN")
    wanted = read_pattern(read_word_beside(new, files), "NEW")

    if unbound := sorted(holes_in(wanted) - holes_in(old)):
        raise click.UsageError(f"NEW has {', '.join(unbound)}, and PATTERN does not")

    def edit(program: Project, _: bool) -> tuple[Pattern, ...]:
        try:
            after = rewrite(old, wanted, program, as_written=options.as_written, own=True)
        except QueryError as error:
            raise Refused(f"refused: {error}") from None
        changed = after.patterns
        if changed == program.patterns:
            raise Nowhere(f"{program.filename}: nothing to change: the pattern is not found")
        return changed

    deliver(files, edit, options)
