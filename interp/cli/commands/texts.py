"""Files in other forms: ``fmt`` lays them out, ``convert`` prints them as JSON or as gram."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from attrs import frozen

from gram import GramDecodeError, Pattern, format_text, from_json, parse, to_json
from gram.json import Json
from lenses_ext import bundle, write_program

from ...exchange import Exchanged, NoCounterpartError, from_agent_spec, to_agent_spec
from ...json_text import read_json
from ..each_file import each_file, laid_out, rewrite
from ..failures import NO
from ..inputs import declaring
from ..inputs.declaring import agent_option, given_by, json_option, option, options_of
from ..inputs.files import STDIN, are_many, read_program, read_text
from ..terminal.output import forbid, note, show, show_diff, tell


@frozen(kw_only=True, slots=False)
class _FmtOptions:
    check: bool = option("Exit with 1 when a file would change; write nothing.")
    diff: bool = option("Print what would change; write nothing.")
    as_json: bool = given_by(json_option)
    stdin_filename: str | None = declaring.stdin_filename_option


@click.command("fmt")
@click.argument("files", nargs=-1, required=True)
@options_of(_FmtOptions)
def fmt_command(files: tuple[str, ...], options: _FmtOptions) -> None:
    """Lay out FILES in place: files, folders and globs.

    - reads standard input and writes standard output.
    """
    diff, as_json = options.diff, options.as_json
    writes = not (options.check or diff)
    if as_json and (diff or STDIN in files):
        raise click.UsageError("--json says what became of the files: not with --diff, nor with -")

    def lay_out(file: str) -> dict[str, Any]:
        if writes and file != STDIN:
            return {"changed": rewrite(file, format_text)}
        text, name = read_text(file, options.stdin_filename)
        laid_out = format_text(text, name)
        if writes:
            show(laid_out, nl=False)
            return {}
        if laid_out == text:
            return {"changed": False}
        if diff:
            show_diff(text, laid_out, name)
        if options.check and not as_json:
            note(f"{name} would change")
        return {"changed": True, "code": NO}

    tally = each_file(files, lay_out)
    tally.show(as_json, verb="laid out" if writes else "would change")
    tally.leave()


_TARGETS = ("json", "gram", "agentspec")


@click.command("convert")
@click.argument("files", nargs=-1, required=True)
@click.option("--to", "target", type=click.Choice(_TARGETS), help="What to print.")
@click.option("--bundle", "is_bundled", is_flag=True, help="Print FILE with all that it imports.")
@agent_option
def convert_command(
    files: tuple[str, ...], target: str | None, is_bundled: bool, agent: str | None
) -> None:
    """Print gram FILES as canonical JSON, or JSON and Agent Spec FILES as gram.

    The name of a file says which it is; for standard input (-), --to is needed. Of several files,
    an object from file to JSON is printed, or the gram of each under its name.

    With --to agentspec the one agent or workflow of a program, or that of --agent, is printed as
    Open Agent Spec, in YAML. What has no counterpart is told on standard error, both ways, each
    with its path.

    With --bundle the gram of one text is printed: a file and what it uses of those that it imports.
    What clashes is put inside the agents and tools that use it; where that cannot be, it says why.
    """
    several = are_many(files)
    as_json: dict[str, Json] = {}
    is_exported = target == "agentspec"
    if is_bundled and target not in (None, "gram"):
        raise click.UsageError("--bundle prints gram: convert what it prints to JSON")
    forbid(agent is not None and not is_exported, "--agent chooses what --to agentspec prints")
    if is_exported and several:
        raise click.UsageError("an Agent Spec file is of one program: convert one file at a time")

    def convert(file: str) -> None:
        if is_bundled:
            program = bundle(read_program(file))
            show(f"// {file}\n" * several + laid_out(program), nl=False)
            return
        forbid(target is None and file == STDIN, "standard input needs --to json or --to gram")
        if is_exported:
            source = read_program(file)
            _show(file, lambda: to_agent_spec(source, agent))
            return
        text, name = read_text(file)
        read = {".json": "gram", ".yaml": "gram", ".yml": "gram"}
        if (target or read.get(Path(file).suffix, "json")) == "json":
            as_json[name] = to_json(parse(text, name).patterns)
        elif _is_agent_spec(text, file):
            show(f"// {name}\n" * several, nl=False)
            _show(name, lambda: from_agent_spec(text, name))
        else:
            show(f"// {name}\n" * several + write_program(_patterns(text, name)))

    tally = each_file(files, convert)
    tally.show_by_file(as_json, several)
    tally.leave()


def _is_agent_spec(text: str, file: str) -> bool:
    """Whether a text that becomes gram is Agent Spec: YAML, or an object that says so."""
    return not text.lstrip().startswith(("{", "[")) or (
        '"component_type"' in text and '"subject"' not in text
    )


def _show(name: str, make: Callable[[], Exchanged]) -> None:
    try:
        made = make()
    except NoCounterpartError as error:
        raise NoCounterpartError(f"{name}: {error}") from None
    for loss in made.losses:
        tell(f"{name}: {loss}")
    show(made.text, nl=False)


def _patterns(text: str, name: str) -> Pattern | tuple[Pattern, ...]:
    try:
        data = read_json(text)
    except ValueError as error:
        at = getattr(error, "pos", 0)
        message = f"not JSON: {getattr(error, 'msg', error)}"
        raise GramDecodeError(message, text, at, filename=name) from None
    try:
        patterns: Pattern | tuple[Pattern, ...] = from_json(data)
    except GramDecodeError as error:
        raise GramDecodeError(error.msg, filename=name) from None
    return patterns
