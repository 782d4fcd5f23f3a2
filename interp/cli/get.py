"""``gram get``: print what stands at a path."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from gram import Pattern, to_json
from gram.canonical_json import Json, value_to_json
from gram.serializer import write_value
from lenses_ext import Model, dumps
from lenses_ext.paths import ANY, read_path

from .edits import complete_path, places_in
from .failures import NO
from .inputs import read_document
from .terminal import tell


@click.command("get")
@click.argument("file")
@click.argument("path", shell_complete=complete_path)
@click.option("--json", "as_json", is_flag=True, help="Print an object from path to value.")
def command(file: str, path: str, as_json: bool) -> None:
    """Print what stands at PATH in FILE, such as greeter.tools.wave.description.

    The first word is an agent's name.

    A path with * prints each place with its own path. Exits with 1 when there is nothing.
    """
    document = read_document(file)
    places = places_in(document, path)
    found = [(place.path, place.get(document.patterns)) for place in places]
    found = [(where, value) for where, value in found if value is not None]
    if not found:
        tell(f"{document.filename}: `{path}` is not set")
        sys.exit(NO)
    if as_json:
        click.echo(
            json.dumps({where: _as_json(value) for where, value in found}, ensure_ascii=False)
        )
        return
    for where, value in found:
        prefix = f"{where}: " if ANY in read_path(path) else ""
        click.echo(f"{prefix}{_shown(value)}")


def _shown(value: Any) -> str:
    """A string as it is, anything else in gram notation (a schema in JSON)."""
    if isinstance(value, str | Model):
        return str(value)
    if isinstance(value, Pattern):
        return dumps(value)
    if isinstance(value, tuple):
        return "\n".join(map(dumps, value))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return write_value(value)


def _as_json(value: Any) -> Json:
    if isinstance(value, Pattern | tuple):
        return to_json(value)
    if isinstance(value, dict):
        return value
    return str(value) if isinstance(value, Model) else value_to_json(value)
