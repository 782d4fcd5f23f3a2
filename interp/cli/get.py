"""``gram get``: print the value at a path."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from gram import Json, Pattern, to_json, value_to_json, write_value
from lenses_ext import ANY, FocusError, Model, dumps, read_path

from .edits import complete_path, places_in
from .failures import INVALID, NO
from .inputs import read_document
from .output import show, tell


@click.command("get")
@click.argument("file")
@click.argument("path", shell_complete=complete_path)
@click.option("--json", "as_json", is_flag=True, help="Print an object from path to value.")
def command(file: str, path: str, as_json: bool) -> None:
    """Print the value at PATH in FILE, such as greeter.tools.wave.description.

    The first word is the name of an agent, or of a tool outside the agents.

    A path with * prints each matching value with its path, and leaves out properties that are not
    set. Exits with 1 if there is no value, and with 3 if a part is of the wrong type.
    """
    document = read_document(file)
    found, wrong = [], []
    for place in places_in(document, path):
        try:
            value = place.get(document.patterns)
        except FocusError as error:
            wrong.append(error)
        else:
            found += [] if value is None else [(place.path, value)]
    if as_json and found:
        show(json.dumps({where: _as_json(value) for where, value in found}, ensure_ascii=False))
    elif found:
        prefixed = ANY in read_path(path)
        for where, value in found:
            show(f"{where}: {_shown(value)}" if prefixed else _shown(value))
    for each in wrong:
        tell(str(each))
    if wrong:
        sys.exit(INVALID)
    if not found:
        tell(f"{document.filename}: `{path}` is not set")
        sys.exit(NO)


def _shown(value: Any) -> str:
    """The text of a value: a plain string, a schema in JSON, or gram notation."""
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
