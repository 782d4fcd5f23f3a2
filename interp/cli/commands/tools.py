"""``gram tools``: show which tools bind, or print tools from elsewhere as gram."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote
from typing import Any

import click

from gram import Pattern, format_text, origin
from gram.json import Json
from lenses_ext import (
    find_agents,
    new_errors,
    signature_text,
    tool_spec_name,
    view,
    write_program,
)
from lenses_ext.schemas import Match

from ...programs import the_tools
from ...tools import ToolLibrary, explain_binding
from ..each_file import each_file
from ..edits import Changes, changed_texts, write_changes
from ..failures import NO, Refused
from ..inputs.file_options import agent_option, json_option, mcp_option, openapi_option
from ..inputs.options import match_option
from ..inputs.program_files import STDIN, are_many
from ..inputs.project import tools_of_project
from ..inputs.reading import read_libraries, read_program, read_tool_specs
from ..library_specs import specs_of, with_words_of
from ..terminal.changes_shown import show_diff
from ..terminal.output import note, show, show_json


@click.command("tools")
@click.argument("files", nargs=-1)
@click.option(
    "--tools",
    multiple=True,
    metavar="FILE.py[:NAME]",
    callback=tools_of_project,
    help="A Python file with the tools.",
)
@mcp_option
@openapi_option
@agent_option
@match_option
@json_option
@click.option(
    "--print-gram", is_flag=True, help="Print the gram of the tools of FILES, --tools, --mcp…"
)
@click.option(
    "--update",
    is_flag=True,
    help="Show where tools of --tools, --mcp or --openapi have other words or types; with -i, "
    "write them.",
)
@click.option("-i", "--in-place", is_flag=True, help="Write what --update shows, atomically.")
def command(
    files: tuple[str, ...],
    tools: tuple[str, ...],
    mcp: tuple[str, ...],
    openapi: tuple[str, ...],
    agent: str | None,
    match: Match,
    as_json: bool,
    print_gram: bool,
    update: bool,
    in_place: bool,
) -> None:
    """Show which tools of the agent in FILES bind, and why the others do not.

    Those of agents and workflows inside it are among them.

    FILES are files, folders and globs. Of a file with several agents, --agent names one. Without
    --tools, --mcp and --openapi it only lists the tools. Exits with 1 if a tool does not bind.

    A file may also be Python (FILE.py[:NAME]), or JSON with tools as OpenAI, Anthropic or MCP have
    them; --print-gram prints these as gram.
    """
    named = (*tools, *mcp, *openapi)
    if print_gram:
        if update or as_json or not (files or named):
            raise click.UsageError("--print-gram prints the tools of FILES, --tools and --mcp")
        _print_gram(files, agent, read_libraries(tools, mcp, openapi) if named else None)
        return
    if not files:
        raise click.UsageError("give a program, or --print-gram and what has tools")
    if update and not named:
        raise click.UsageError("--update takes the words of the tools that --tools or --mcp name")
    if in_place and (not update or STDIN in files):
        raise click.UsageError("-i writes the FILES that --update changes")
    library = read_libraries(tools, mcp, openapi) if named else None
    several = are_many(files)
    rows: list[dict[str, Json]] = []

    def judge(file: str) -> dict[str, Any]:
        if update and library is not None:
            _update(file, library, agent, is_shown=not as_json, is_written=in_place)
        specs = read_tool_specs(file, agent, to_bind=True)
        of_file = [_row(spec, library, match) for spec in specs]
        rows.extend({"file": file, **row} for row in of_file)
        if library is not None and tools and not mcp and not openapi and file != STDIN:
            given = "".join(f" --tools {quote(each)}" for each in tools)
            _tell_of_others(file, agent, library, specs, given)
        if not as_json:
            if several:
                show([(f"{file}:", "place")])
            _print(of_file)
        return {"code": NO if any(row.get("problem") for row in of_file) else 0}

    tally = each_file(files, judge)
    if as_json:
        show_json(rows)
    tally.leave()


def _update(
    file: str, library: ToolLibrary, agent: str | None, *, is_shown: bool, is_written: bool
) -> None:
    """Show how the words and types of a library's tools change a file, and write them if asked.

    Raises:
        Refused: the program would have new errors.
    """

    def changes() -> Changes:
        program = read_program(file)
        specs = the_tools(program, agent, to_bind=True)
        after = program.replace(with_words_of(library, program.patterns, specs))
        if errors := new_errors(program, after):
            raise Refused(f"{file}: not updated, it would be invalid: {errors[0].message}")
        found = changed_texts(program, after)
        for name, (old, new) in found.items() if is_shown else ():
            show_diff(old, new, name)
        return found

    if is_written:
        write_changes(file, changes)
    else:
        changes()


def _tell_of_others(
    file: str, agent: str | None, library: ToolLibrary, specs: Sequence[Pattern], given: str
) -> None:
    """Say which tools of a library the program does not have, and what adds them."""
    known = {view(tool_spec_name, spec) for spec in specs}
    whys = {name: library[name].why_undescribed for name in library if name not in known}
    for why in filter(None, whys.values()):
        note(why)
    others = [name for name, why in whys.items() if why is None]
    if not others:
        return
    names = [agent] if agent else [each.value.identity for each in find_agents(read_program(file))]
    where = names[0] if len(names) == 1 else "AGENT"
    command = f"gram add {quote(file)} {where}.tools{given} {' '.join(others)} -i"
    note(f"{file} does not have {', '.join(others)}\n  hint: {command}")


def _print_gram(files: tuple[str, ...], agent: str | None, library: ToolLibrary | None) -> None:
    """Print the specifications of the tools of files and of a library."""

    def print_specs(file: str) -> None:
        for spec in read_tool_specs(file, agent):
            show(format_text(write_program(spec)), nl=False)

    for spec in specs_of(library) if library is not None else ():
        show(format_text(write_program(spec)), nl=False)
    if files:
        each_file(files, print_specs).leave()


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
