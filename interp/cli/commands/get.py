"""``gram get``: print the value at a path."""

from __future__ import annotations

import json
from typing import Any

import click

from gram import Pattern, Subject, freeze, is_edge, to_json, write_value
from gram.json import Json, value_to_json
from gram.trees import WALK_SUBJECT
from lenses_ext import FocusError, Model, Project, write_program
from lenses_ext.labels import WORKFLOW
from lenses_ext.places import ANY, read_path

from ..completion.completing import path_argument
from ..each_file import Nowhere, each_file
from ..edits import places_in
from ..failures import INVALID
from ..inputs.declaring import json_option
from ..inputs.program_files import are_many, words_and_files
from ..inputs.reading import read_program
from ..terminal.output import show, show_json, tell


@click.command("get")
@path_argument("PATH")
@json_option
def command(arguments: tuple[str, ...], as_json: bool) -> None:
    """Print the value at PATH in FILES, such as greeter.tools.wave.description.

    The files come first or last: gram get a.gram PATH, or gram get PATH agents/. They are files,
    folders and globs; of several, each value is printed with its file.

    The first word is the name of an agent, or of a tool outside the agents.

    A path with * prints each matching value with its path, and leaves out properties that are not
    set. Exits with 1 if there is no value, and with 3 if a part is of the wrong type. --json prints
    an object from path to value; of several files, an object from file to such objects.
    """
    (path,), files = words_and_files(arguments, "PATH")
    several = are_many(files)
    found: dict[str, dict[str, Any]] = {}

    def find(file: str) -> dict[str, Any]:
        values, wrong = _values(read_program(file), path, own=several)
        if not values and not wrong:
            raise Nowhere(f"{file}: `{path}` is not set")
        for where, value in values.items():
            found.setdefault(file, {})[where] = value
            if not as_json:
                words = [file] * several + [where] * (ANY in read_path(path))
                show("".join(f"{word}: " for word in words) + _shown(value))
        for each in wrong:
            tell(each.in_words)
        return {"code": INVALID if wrong else 0}

    tally = each_file(files, find)
    if as_json and found:
        by_file = {
            file: {where: value_as_json(value) for where, value in values.items()}
            for file, values in found.items()
        }
        show_json(by_file if several else next(iter(by_file.values())))
    tally.leave()


def _values(program: Project, path: str, *, own: bool) -> tuple[dict[str, Any], list[FocusError]]:
    """The values at a path, by the path of each, and the parts of the wrong type."""
    values, wrong = {}, []
    for place in places_in(program, path, own=own):
        try:
            value = place.get(program.patterns)
        except FocusError as error:
            wrong.append(error)
        else:
            if value is not None:
                values[place.path] = written(value)
    return values, wrong


def written(value: Any) -> Any:
    """A value as it is in the notation: models are texts."""
    if isinstance(value, tuple) and any(isinstance(each, Model) for each in value):
        texts = [str(each) for each in value]
        return texts[0] if len(texts) == 1 else freeze(texts)
    return str(value) if isinstance(value, Model) else value


def _shown(value: Any) -> str:
    """The text of a value: a plain string, a schema in JSON, or gram notation."""
    if isinstance(value, str):
        return value
    if isinstance(value, Pattern):
        return _as_element(value)
    if isinstance(value, tuple):
        return "\n".join(map(_as_element, value))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return write_value(value)


def _as_element(pattern: Pattern) -> str:
    """The text of a pattern; an arrow as it is written in a workflow, where nodes have ``::``."""
    if not is_edge(pattern) and pattern.value != WALK_SUBJECT:
        return write_program(pattern)
    around = write_program(Pattern(Subject("", {WORKFLOW}), (pattern,)))
    return around.removeprefix(f"[:{WORKFLOW} | ").removesuffix("]")


def value_as_json(value: Any) -> Json:
    """A value as JSON, which `gram set --from` reads."""
    if isinstance(value, Pattern | tuple):
        return to_json(value)
    if isinstance(value, dict):
        return value
    return value_to_json(value)
