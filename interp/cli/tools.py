"""``gram tools``: show which tools of a program bind, or write Python tools as gram."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gram import GramDecodeError, Json, Pattern, format_text, origin
from lenses_ext import (
    Match,
    dumps,
    signature_text,
    tool_spec_from_json,
    tool_spec_name,
    view,
)

from ..errors import ValidationError
from ..json_text import read_json
from ..programs import the_tools
from ..tools import ToolLibrary, explain_binding
from .completing import complete_files, complete_tools
from .each_file import each_file
from .failures import NO
from .file_options import agent_option, json_option
from .inputs import read_document, read_libraries, read_text
from .options import match_option
from .output import show, show_json
from .program_files import are_many


@click.command("tools")
@click.argument("files", nargs=-1, shell_complete=complete_files)
@click.option(
    "--tools",
    multiple=True,
    metavar="FILE.py[:NAME]",
    shell_complete=complete_tools,
    help="A Python file with the tools.",
)
@agent_option
@match_option
@json_option
@click.option(
    "--write",
    multiple=True,
    metavar="FILE",
    help="Print the gram of the tools in a Python file, or in a JSON file of specifications.",
)
def command(
    files: tuple[str, ...],
    tools: tuple[str, ...],
    agent: str | None,
    match: Match,
    as_json: bool,
    write: tuple[str, ...],
) -> None:
    """Show which tools of the agent in FILES bind, and why the others do not.

    Those of agents and workflows inside it are among them.

    FILES are files, folders and globs. Of a file with several agents, --agent names one. Without
    --tools it only lists the tools. Exits with 1 if a tool does not bind.
    """
    if bool(files) == bool(write):
        found = "both were given" if files else "neither was given"
        raise click.UsageError(f"give a program, or --write with a file of tools: {found}")
    if write:
        for name in write:
            for spec in _written(name):
                show(format_text(dumps(spec)), nl=False)
        return
    library = read_libraries(tools) if tools else None
    several = are_many(files)
    rows: list[dict[str, Json]] = []

    def judge(file: str) -> dict[str, Any]:
        specs = the_tools(read_document(file), agent, to_bind=True)
        of_file = [_row(spec, library, match) for spec in specs]
        rows.extend({"file": file, **row} for row in of_file)
        if not as_json:
            if several:
                show([(f"{file}:", "place")])
            _print(of_file)
        return {"code": NO if any(row.get("problem") for row in of_file) else 0}

    tally = each_file(files, judge)
    if as_json:
        show_json(rows)
    tally.leave()


def _row(spec: Pattern, library: ToolLibrary | None, match: Match) -> dict[str, Json]:
    """The row of one tool; with a library it says whether the tool binds."""
    name = view(tool_spec_name, spec)
    row: dict[str, Json] = {
        "name": name,
        "signature": signature_text(spec),
        "place": str(origin(spec) or ""),
    }
    if library is not None:
        problem = explain_binding(spec, library, match=match)
        tool = library.get(name)
        row |= {
            "binds": problem is None,
            "problem": problem,
            "implementation": tool.place if tool else None,
        }
    return row


def _print(rows: list[dict[str, Json]]) -> None:
    width = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        mark = [f"{'binds' if row['binds'] else 'does not bind':13}"] if "binds" in row else []
        signature = " ".join(row["signature"].split())
        show("  ".join([f"{row['name']:{width}}", *mark, signature]))
        if row.get("problem"):
            for line in row["problem"].splitlines():
                show(f"{'':{width}}  {line}")


def _written(name: str) -> list[Pattern]:
    """The specifications of the tools in a Python file, or in a JSON file of specifications."""
    if Path(name).suffix != ".json":
        library = read_libraries([name])
        from .. import tool_spec_from_function  # imported late: a library that runs needs none

        return [tool_spec_from_function(library[tool]) for tool in library]
    text, shown = read_text(name)
    try:
        data = read_json(text)
    except ValueError as error:
        raise ValidationError(f"{shown}: not JSON: {error}") from None
    try:
        return [tool_spec_from_json(each) for each in (data if isinstance(data, list) else [data])]
    except GramDecodeError as error:
        raise GramDecodeError(error.msg, filename=shown) from None
