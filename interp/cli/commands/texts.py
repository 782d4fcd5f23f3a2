"""Programs in other forms: ``fmt`` lays files out, ``convert`` prints them as JSON or as gram,
``graph`` draws them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from gram import GramDecodeError, Pattern, format_text, from_json, parse, to_json
from gram.json import Json
from lenses_ext import bundle, drawing_of, to_dot, to_mermaid, to_svg, write_program

from ...exchange import Exchanged, NoCounterpartError, from_agent_spec, to_agent_spec
from ...json_text import read_json
from ..each_file import each_file, laid_out, rewrite
from ..failures import NO
from ..inputs import declaring
from ..inputs.declaring import Options, agent_option, given_by, json_option, option, options_of
from ..inputs.files import STDIN, are_many, read_program, read_text
from ..terminal import console
from ..terminal.console import forbid, note, show, show_diff, tell


class _FmtOptions(Options):
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


_FORMS = {"mermaid": to_mermaid, "dot": to_dot, "svg": to_svg}
_SUFFIXES = {"": "mermaid", ".mmd": "mermaid", ".svg": "svg", ".dot": "dot", ".gv": "dot"}


class _GraphOptions(Options):
    form: str | None = option(
        "What to draw it as; without it, the suffix of OUT decides, else Mermaid.",
        name="--as",
        type=click.Choice([*_FORMS]),
    )
    out: str | None = option("Write to this file.", "OUT", name="-o")
    run: str | None = option("Show what this run came to, and how often.", "RUN")
    agent: str | None = given_by(agent_option)


@click.command("graph")
@click.argument("file")
@options_of(_GraphOptions)
def graph_command(file: str, options: _GraphOptions) -> None:
    """Draw the agents, tools and workflows of the program in FILE, and the arrows between them.

    Faulty programs are drawn too: a name that is not defined is drawn as such.
    """
    out, form, recorded = options.out, options.form, options.run
    console.expect_a_name(out, "-o")
    console.expect_other_file(out)
    forbid(file == recorded == STDIN, "standard input cannot be both the program and the run")
    suffix = Path(out or "").suffix.lower()
    if form is None and suffix not in _SUFFIXES:
        raise click.UsageError(f"no {suffix} is drawn: name OUT .svg, .dot or .mmd")
    drawing = drawing_of(read_program(file), options.agent)
    if recorded is not None:
        from ...history.replaying import timeline  # imported late: only this needs runs
        from ...views import with_counts
        from ..inputs.record_option import named_runs

        run = timeline(named_runs(recorded)[-1], has_prices=False)
        drawing = with_counts(drawing, run)
        if run.requests + run.calls and not any(each.count for each in drawing.nodes):
            tell(f"gram: {recorded} is a run of {run.agent}, and came to nothing that is drawn")
    chosen = form or _SUFFIXES[suffix]
    text = _FORMS[chosen](drawing)
    if out is None:
        show(text)
    else:
        console.write_result(out, f"{text}\n")
