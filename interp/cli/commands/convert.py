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
from ..inputs.reading import read_text
from ..terminal.output import show, show_json


@click.command("convert")
@click.argument("files", nargs=-1, required=True, shell_complete=complete_files)
@click.option("--to", "target", type=click.Choice(["json", "gram"]), help="What to print.")
def command(files: tuple[str, ...], target: str | None) -> None:
    """Print gram FILES as canonical JSON, or JSON FILES as gram.

    The name of a file says which it is; for standard input (-), --to is needed. Of several files,
    an object from file to JSON is printed, or the gram of each under its name.
    """
    several = are_many(files)
    as_json: dict[str, Json] = {}

    def convert(file: str) -> None:
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
