"""``gram convert``: between gram and its canonical JSON."""

from __future__ import annotations

from pathlib import Path

import click

from gram import GramDecodeError, Pattern, from_json, parse, to_json
from gram.json import Json
from lenses_ext import write_program

from ...json_text import read_json
from ..completion.completing import complete_files
from ..each_file import each_file
from ..inputs.program_files import STDIN, are_many
from ..inputs.reading import read_program, read_text
from ..rewriting import laid_out
from ..terminal.output import show, show_json


@click.command("convert")
@click.argument("files", nargs=-1, required=True, shell_complete=complete_files)
@click.option("--to", "target", type=click.Choice(["json", "gram"]), help="What to print.")
@click.option("--bundle", "is_bundled", is_flag=True, help="Print FILE with all that it imports.")
def command(files: tuple[str, ...], target: str | None, is_bundled: bool) -> None:
    """Print gram FILES as canonical JSON, or JSON FILES as gram.

    The name of a file says which it is; for standard input (-), --to is needed. Of several files,
    an object from file to JSON is printed, or the gram of each under its name.

    With --bundle the gram of one text is printed: a file and what it uses of those that it imports.
    What clashes is put inside the agents and tools that use it; where that cannot be, it says why.
    """
    several = are_many(files)
    as_json: dict[str, Json] = {}
    if is_bundled and target == "json":
        raise click.UsageError("--bundle prints gram: convert what it prints to JSON")

    def convert(file: str) -> None:
        if is_bundled:
            from lenses_ext import bundle  # imported late, as it is rare

            program = bundle(read_program(file))
            show(f"// {file}\n" * several + laid_out(program), nl=False)
            return
        if target is None and file == STDIN:
            raise click.UsageError("standard input needs --to json or --to gram")
        text, name = read_text(file)
        if (target or ("gram" if Path(file).suffix == ".json" else "json")) == "json":
            as_json[name] = to_json(parse(text, name).patterns)
        else:
            show(f"// {name}\n" * several + write_program(_patterns(text, name)))

    tally = each_file(files, convert)
    if as_json:
        show_json(as_json if several else next(iter(as_json.values())))
    tally.leave()


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
