"""The tools of programs: ``tools`` shows which bind, ``schema`` prints them for models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from shlex import quote
from typing import Any

import attrs
import click

import lenses_ext
from gram import Pattern, format_text, origin
from gram.json import Json
from gram.trees import ReadFrom, read_from
from lenses_ext import put, tool_spec_description, tool_spec_name, tool_spec_type_signature, view
from lenses_ext.language import parameter, parameter_names, tool_spec_of
from lenses_ext.optics import any_property
from lenses_ext.schemas import Match

from ...machine import TOOL_FORMS, tools_to_json
from ...programs import the_agent, the_tools
from ...tools import Tool, ToolLibrary, explain_binding
from ..each_file import Changes, changed_texts, each_file, write_changes
from ..failures import NO, Refused
from ..inputs.declaring import agent_option, command, json_option, option
from ..inputs.files import STDIN, are_many, read_program
from ..inputs.libraries import ToolOptions, read_tool_specs
from ..inputs.options import match_option
from ..inputs.project import tools_of_project
from ..terminal.console import forbid, note, show, show_diff, show_json


class _ToolsOptions(ToolOptions):
    tools: tuple[str, ...] = option(
        "A Python file with the tools.", "FILE.py[:NAME]", callback=tools_of_project
    )
    agent: str | None = agent_option
    match: Match = match_option
    as_json: bool = json_option
    print_gram: bool = option("Print the gram of the tools of FILES, --tools, --mcp…")
    update: bool = option("Show where the tools have other words or types; with -i, write them.")
    in_place: bool = option("Write what --update shows, atomically.", name="-i --in-place")


@command("tools")
def tools_command(options: _ToolsOptions, files: tuple[str, ...] = ()) -> None:
    """Show which tools of the agent in FILES bind, and why the others do not.

    Those of agents and workflows inside it are among them.

    FILES are files, folders and globs. Of a file with several agents, --agent names one. Without
    --tools, --mcp and --openapi it only lists the tools. Exits with 1 if a tool does not bind.

    A file may also be Python (FILE.py[:NAME]), or JSON with tools as OpenAI, Anthropic or MCP have
    them; --print-gram prints these as gram.
    """
    update, named = options.update, options.named_tools
    if options.print_gram and (update or options.as_json or not (files or named)):
        raise click.UsageError("--print-gram prints the tools of FILES, --tools and --mcp")
    forbid(not (files or options.print_gram), "give a program, or --print-gram and what has tools")
    forbid(update and not named, "--update takes the words of the tools that --tools or --mcp name")
    forbid(options.in_place and (not update or STDIN in files), "-i writes what --update changes")
    library = options.library() if named else None
    if options.print_gram:
        if library is not None:
            _print_gram(specs_of(library))
        each_file(files, lambda file: _print_gram(read_tool_specs(file, options.agent))).leave()
        return
    several = are_many(files)
    rows: list[dict[str, Json]] = []

    def judge(file: str) -> dict[str, Any]:
        if update and library is not None:
            _update(file, library, options)
        specs = read_tool_specs(file, options.agent, to_bind=True)
        of_file = [_row(spec, library, options.match) for spec in specs]
        rows.extend({"file": file, **row} for row in of_file)
        if library is not None and named == options.tools and file != STDIN:
            _tell_of_others(file, library, specs, options)
        if not options.as_json:
            if several:
                show([(f"{file}:", "place")])
            _print(of_file)
        return {"code": NO if any(row.get("problem") for row in of_file) else 0}

    tally = each_file(files, judge)
    if options.as_json:
        show_json(rows)
    tally.leave()


def _update(file: str, library: ToolLibrary, options: _ToolsOptions) -> None:
    """Show how the words and types of a library's tools change a file, and write them if asked."""

    def changes() -> Changes:
        program = read_program(file)
        found_specs = the_tools(program, options.agent, to_bind=True)
        specs = {read_from(each): each for each in found_specs}
        after = program.replace([_updated(library, each, specs) for each in program.patterns])
        if errors := lenses_ext.new_errors(program, after):
            raise Refused(f"{file}: not updated, it would be invalid: {errors[0].message}")
        found = changed_texts(program, after)
        for name, (old, new) in {} if options.as_json else found.items():
            show_diff(old, new, name)
        return found

    if options.in_place:
        write_changes(file, changes)
    else:
        changes()


def _tell_of_others(
    file: str, library: ToolLibrary, specs: Sequence[Pattern], options: _ToolsOptions
) -> None:
    """Say which tools of a library the program does not have, and what adds them."""
    known = {view(tool_spec_name, spec) for spec in specs}
    whys = {name: library[name].why_undescribed for name in library if name not in known}
    for why in filter(None, whys.values()):
        note(why)
    others = [name for name, why in whys.items() if why is None]
    if not others:
        return
    agents = [each.value.identity for each in lenses_ext.find_agents(read_program(file))]
    where = options.agent or (agents[0] if len(agents) == 1 else "AGENT")
    given = "".join(f" --tools {quote(each)}" for each in options.tools)
    added_by = f"gram add {quote(file)} {where}.tools{given} {' '.join(others)} -i"
    note(f"{file} does not have {', '.join(others)}\n  hint: {added_by}")


def _print_gram(specs: Iterable[Pattern]) -> None:
    for spec in specs:
        show(format_text(lenses_ext.write_program(spec)), nl=False)


def _row(spec: Pattern, library: ToolLibrary | None, match: Match) -> dict[str, Json]:
    """The row of one tool; with a library it says whether the tool binds."""
    name = view(tool_spec_name, spec)
    row: dict[str, Json] = {
        "name": name,
        "signature": lenses_ext.signature_text(spec),
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


@command("schema")
def schema_command(
    files: tuple[str, ...],
    agent: str | None = agent_option,
    form: str = option(
        "Whose form to write; spec is ours, with the signatures.  [default: openai]",
        name="--as",
        type=click.Choice(list(TOOL_FORMS)),
        default="openai",
    ),
    itself: bool = option("The agent or workflow itself, as the tool it is."),
    strict: bool = option("Write schemas that OpenAI can enforce.", name="--enforced"),
) -> None:
    """Print the tools of the agent in FILES as JSON, in the form that a model API takes.

    FILES are files, folders and globs; of several, an object from file to tools is printed. A file
    may also be Python or JSON with tools, as for gram tools. What the form has no place for is
    told on standard error.
    """
    if strict and not TOOL_FORMS[form].has_strict:
        having = ", ".join(name for name, each in TOOL_FORMS.items() if each.has_strict)
        raise click.UsageError(f"--enforced is for {having}, found --as {form}")
    several = are_many(files)
    by_file: dict[str, Json] = {}

    def describe(file: str) -> None:
        if itself:
            specs: Sequence[Pattern] = [
                tool_spec_of(the_agent(read_program(file), agent, by="schema"))
            ]
        else:
            specs = read_tool_specs(file, agent)
        prefix = f"{file}: " if several else ""
        written = tools_to_json(
            specs, form, strict=strict, tell=lambda said: note(f"{prefix}{said}")
        )
        by_file[file] = written[0] if itself else written

    tally = each_file(files, describe)
    tally.show_by_file(by_file, several)
    tally.leave()


def specs_of(library: ToolLibrary, names: Iterable[str] | None = None) -> list[Pattern]:
    """The specifications of the tools of a library; those of a server or a document say which."""
    chosen = library.restrict(names if names is not None else [*library, *library.ambiguous])
    return [_spec_of(chosen[name]) for name in (names if names is not None else chosen)]


def _spec_of(tool: Tool) -> Pattern:
    from ... import tool_spec_from_function  # imported late: a library that runs needs none

    spec = tool_spec_from_function(tool)
    if tool.server is None:
        return spec
    subject = spec.value
    said = subject.properties.set("source", tool.server).update(tool.hints)
    return attrs.evolve(spec, value=attrs.evolve(subject, properties=said))


def _updated(
    library: ToolLibrary, pattern: Pattern, specs: Mapping[ReadFrom | None, Pattern]
) -> Pattern:
    """A pattern whose specifications, those of ``specs``, say what the tools of a library say."""
    if lenses_ext.is_tool(pattern):
        spec = specs.get(read_from(pattern))
        return pattern if spec is None else _with_new_words(library, pattern, spec)
    elements = tuple(_updated(library, each, specs) for each in pattern.elements)
    return pattern if elements == pattern.elements else attrs.evolve(pattern, elements=elements)


def _with_new_words(library: ToolLibrary, pattern: Pattern, spec: Pattern) -> Pattern:
    """A specification as its tool has it; its types stay where they bind.

    Args:
        library: the library.
        pattern: the specification as it is written.
        spec: the same with the types that it shares with others, behind its own elements.
    """
    tool = library.get(view(tool_spec_name, spec))
    if tool is None or explain_binding(spec, library) is None:
        return pattern
    said = tool.description.strip()
    if said and said != view(tool_spec_description, spec).strip():
        spec = put(tool_spec_description, tool.description, spec)
    for name, part in tool.schema.get("properties", {}).items():
        if name in parameter_names(spec) and isinstance(part, dict) and part.get("description"):
            words = parameter(name) & any_property("description")
            spec = put(words, part["description"], spec)
    own = spec.elements[: len(pattern.elements)]
    pattern = attrs.evolve(pattern, value=spec.value, elements=own)
    if explain_binding(spec, library, match="full" if said else "types") is None:
        return pattern
    schema = _with_words(tool.schema, view(lenses_ext.tool_spec_schema, spec))
    result = tool.result_schema
    text = lenses_ext.json_schema_to_type_signature(schema, return_schema=result, like=spec)
    return put(tool_spec_type_signature, text, pattern)


def _with_words(schema: Mapping[str, Any], words: Mapping[str, Any]) -> dict[str, Any]:
    """A schema of parameters with the descriptions of another where it has none."""
    properties = dict(schema.get("properties", {}))
    for name, other in words.get("properties", {}).items():
        part = properties.get(name)
        if isinstance(part, dict) and isinstance(other, dict) and other.get("description"):
            properties[name] = {
                **part,
                "description": part.get("description") or other["description"],
            }
    return {**schema, "properties": properties} if properties else dict(schema)
