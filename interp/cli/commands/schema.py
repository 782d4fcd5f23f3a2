"""``gram schema``: print the tools of a program for models and other programs."""

from __future__ import annotations

import click

from gram import Pattern
from gram.json import Json
from lenses_ext.language import tool_spec_of

from ...machine import TOOL_FORMS, tools_to_json
from ...programs import the_agent
from ..each_file import each_file
from ..inputs.declaring import agent_option
from ..inputs.libraries import read_tool_specs
from ..inputs.program_files import are_many
from ..inputs.reading import read_program
from ..terminal.output import note, show_json


@click.command("schema")
@click.argument("files", nargs=-1, required=True)
@agent_option
@click.option(
    "--as",
    "form",
    type=click.Choice(list(TOOL_FORMS)),
    default="openai",
    help="Whose form to write; spec is ours, with the signatures.  [default: openai]",
)
@click.option("--itself", is_flag=True, help="The agent or workflow itself, as the tool it is.")
@click.option("--enforced", "strict", is_flag=True, help="Write schemas that OpenAI can enforce.")
def command(
    files: tuple[str, ...], agent: str | None, form: str, itself: bool, strict: bool
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
        specs = (_itself(file, agent),) if itself else read_tool_specs(file, agent)
        prefix = f"{file}: " if several else ""
        written = tools_to_json(
            specs, form, strict=strict, tell=lambda said: note(f"{prefix}{said}")
        )
        by_file[file] = written[0] if itself else written

    tally = each_file(files, describe)
    if by_file:
        show_json(by_file if several else next(iter(by_file.values())))
    tally.leave()


def _itself(file: str, agent: str | None) -> Pattern:
    """An agent or workflow as the tool that others call."""
    return tool_spec_of(the_agent(read_program(file), agent, by="schema"))
