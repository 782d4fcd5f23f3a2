"""``gram tools``: show which tools of a program bind, or write Python tools as gram."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gram import GramDecodeError, Json, Pattern, format_text, origin
from lenses_ext import (
    Match,
    dumps,
    parse,
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
from .diffs import show_diff
from .each_file import each_file
from .failures import NO
from .file_options import agent_option, json_option
from .inputs import read_document, read_libraries, read_text
from .options import match_option, mcp_option
from .output import show, show_json
from .program_files import STDIN, are_many
from .rewriting import rewrite


@click.command("tools")
@click.argument("files", nargs=-1, shell_complete=complete_files)
@click.option(
    "--tools",
    multiple=True,
    metavar="FILE.py[:NAME]",
    shell_complete=complete_tools,
    help="A Python file with the tools.",
)
@mcp_option
@agent_option
@match_option
@json_option
@click.option(
    "--print-gram", is_flag=True, help="Print the gram of the tools of --tools and --mcp."
)
@click.option(
    "--update",
    is_flag=True,
    help="Where a tool of --tools or --mcp has other words or types: show the difference, and "
    "write them to FILES.",
)
@click.option(
    "--write",
    multiple=True,
    metavar="FILE",
    help="Print the gram of the tools in a Python file, or in a JSON file of specifications.",
)
def command(
    files: tuple[str, ...],
    tools: tuple[str, ...],
    mcp: tuple[str, ...],
    agent: str | None,
    match: Match,
    as_json: bool,
    print_gram: bool,
    update: bool,
    write: tuple[str, ...],
) -> None:
    """Show which tools of the agent in FILES bind, and why the others do not.

    Those of agents and workflows inside it are among them.

    FILES are files, folders and globs. Of a file with several agents, --agent names one. Without
    --tools and --mcp it only lists the tools. Exits with 1 if a tool does not bind.
    """
    if print_gram:
        if files or write or update or not (tools or mcp):
            raise click.UsageError("--print-gram prints the tools of --tools and --mcp alone")
        from .library_specs import specs_of  # imported late: most commands write no tools

        for spec in specs_of(read_libraries(tools, mcp)):
            show(format_text(dumps(spec)), nl=False)
        return
    if bool(files) == bool(write):
        found = "both were given" if files else "neither was given"
        raise click.UsageError(f"give a program, or --write with a file of tools: {found}")
    if update and not (tools or mcp):
        raise click.UsageError("--update takes the words of the tools that --tools or --mcp name")
    if update and STDIN in files:
        raise click.UsageError("--update writes files, and standard input is none")
    if write:
        for name in write:
            for spec in _written(name):
                show(format_text(dumps(spec)), nl=False)
        return
    library = read_libraries(tools, mcp) if tools or mcp else None
    several = are_many(files)
    rows: list[dict[str, Json]] = []

    def judge(file: str) -> dict[str, Any]:
        if update and library is not None:
            _update(file, library, agent, is_shown=not as_json)
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


def _update(file: str, library: ToolLibrary, agent: str | None, *, is_shown: bool) -> None:
    """Write the words and types of a library's tools to a file, after showing the difference."""
    from .library_specs import with_words_of

    def change(text: str, name: str) -> str:
        document = parse(text, name)
        specs = the_tools(document, agent, to_bind=True)
        new = document.replace(with_words_of(library, document.patterns, specs)).text
        if is_shown:
            show_diff(text, new, name)
        return new

    rewrite(file, change)


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
