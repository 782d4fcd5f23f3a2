"""``gram tools``: show which tools of a program bind, or write Python tools as gram."""

from __future__ import annotations

import json
import sys
from pathlib import Path

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
from ..tools import ToolLibrary, explain_binding, tool_spec_from_function
from .failures import NO
from .inputs import read_document, read_libraries, read_text
from .options import agent_option, match_option
from .output import show


@click.command("tools")
@click.argument("file", required=False)
@click.option(
    "--tools", multiple=True, metavar="FILE.py[:NAME]", help="A Python file with the tools."
)
@agent_option
@match_option
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")
@click.option(
    "--write",
    multiple=True,
    metavar="FILE",
    help="Print the gram of the tools in a Python file, or in a JSON file of specifications.",
)
def command(
    file: str | None,
    tools: tuple[str, ...],
    agent: str | None,
    match: Match,
    as_json: bool,
    write: tuple[str, ...],
) -> None:
    """Show which tools of the agent in FILE bind, and why the others do not.

    Without --tools it only lists the tools. Exits with 1 if a tool does not bind.
    """
    if bool(file) == bool(write):
        found = "both were given" if file else "neither was given"
        raise click.UsageError(f"give a program, or --write with a file of tools: {found}")
    if write:
        for name in write:
            for spec in _written(name):
                show(format_text(dumps(spec)), nl=False)
        return
    assert file is not None
    specs = the_tools(read_document(file), agent)
    library = read_libraries(tools) if tools else None
    rows = [_row(spec, library, match) for spec in specs]
    if as_json:
        show(json.dumps(rows, ensure_ascii=False, indent=2))
    else:
        _print(rows)
    if any(row.get("problem") for row in rows):
        sys.exit(NO)


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
