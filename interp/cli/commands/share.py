"""``gram share``: one definition in the place of a copy in each of several files."""

from __future__ import annotations

import os
from pathlib import Path

import click

from gram import Document, Pattern, origin
from lenses_ext import FocusError, load_project, parse_program, share_definition
from lenses_ext.places import read_path

from ..each_file import each_file
from ..edits import Destination, edit_options, refuse_new_errors
from ..failures import Refused
from ..inputs.program_files import STDIN, SUFFIX
from ..inputs.reading import read_document
from ..renaming import show_or_write, shown_path
from ..terminal.output import tell


@click.command("share")
@click.option("--to", metavar="FILE", help="The file that has the definition then.")
@edit_options("PATH", shows_diff=True)
def command(path: str, files: list[str], destination: Destination, to: str | None) -> None:
    """Make of the copies of what is at PATH in FILES one definition that the files import.

    PATH is the name of a tool, an agent, a workflow or a type, or a path that ends with it. The
    copies are at the top of their files or, of a tool, in agents. Their words may differ: how is
    told, and those of the first file, or of FILE, are kept. Without --to the definition goes to
    NAME.gram in the folder that has all the files. What would change is shown; -i writes all files,
    or none.
    """
    if STDIN in files:
        raise click.UsageError("share changes files: standard input is none")
    name, documents = read_path(path)[-1], dict[Path, Document]()

    def read(file: str) -> None:
        documents[Path(file).resolve()] = read_document(file)

    tally = each_file(files, read)
    folder = os.path.commonpath([each.parent for each in documents] or [Path.cwd()])
    into = (Path(to) if to else Path(folder, f"{name}{SUFFIX}")).resolve()
    if into not in documents and into.exists():
        documents[into] = read_document(shown_path(into))
    try:
        shared = share_definition(documents, name, into)
    except FocusError as error:
        place = f"{origin(error.pattern)}: " if isinstance(error.pattern, Pattern) else ""
        raise Refused(f"{place}refused: {error.reason}\n  hint: {error.hint}") from None
    for changed in () if destination.force else shared.documents:
        before = documents.get(changed) or parse_program("", shown_path(changed))
        after = load_project(changed, shared.documents)
        refuse_new_errors(load_project(changed, {changed: before}), after)
    for old, key, said, says in shared.words:
        tell(f"{origin(old)}: the {key} {said!r} becomes {says!r}")
    texts = {
        each: (documents[each].text, document.text) if each in documents else (None, document.text)
        for each, document in shared.documents.items()
    }
    show_or_write(texts, destination.in_place)
    tally.leave()
