"""``gram convert``: between gram and its canonical JSON."""

from __future__ import annotations

import json
from pathlib import Path

import click

from gram import GramDecodeError, Pattern, from_json, parse, to_json
from lenses_ext import dumps

from ..json_text import read_json
from .inputs import STDIN, read_text
from .output import show


@click.command("convert")
@click.argument("file")
@click.option("--to", "target", type=click.Choice(["json", "gram"]), help="What to print.")
def command(file: str, target: str | None) -> None:
    """Print a gram FILE as canonical JSON, or a JSON FILE as gram.

    The name of the file says which it is; for standard input (-), --to is needed.
    """
    if target is None:
        if file == STDIN:
            raise click.UsageError("standard input needs --to json or --to gram")
        target = "gram" if Path(file).suffix == ".json" else "json"
    text, name = read_text(file)
    if target == "json":
        data = to_json(parse(text, name).patterns)
        show(json.dumps(data, ensure_ascii=False, indent=2))
        return
    show(dumps(_patterns(text, name)))


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
