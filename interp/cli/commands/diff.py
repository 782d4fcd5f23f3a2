"""``gram diff``: what changed between two programs, in the words of the language."""

from __future__ import annotations

import errno
import posixpath
import sys
from collections.abc import Callable, Iterator
from functools import partial
from os.path import lexists, relpath
from pathlib import Path
from typing import TypeAlias

import click

from gram import GramError, Pattern
from gram.documents import decode
from lenses_ext import parse_program
from lenses_ext.composing import changes
from lenses_ext.names import SKILL_FILE, UnreadSkill, having_skills, load_project, skill_in

from ..failures import NO, exit_code_of, shown
from ..inputs import files as sources
from ..inputs.declaring import json_option
from ..inputs.files import STDIN, files_in_git, read_text
from ..terminal.changes_shown import FileChanges, Where, json_of, show_changes
from ..terminal.faults_shown import tell_failure
from ..terminal.output import note, show_json

_Read: TypeAlias = Callable[[], tuple[Pattern, ...]]
"""Reads a program, its agents with the skills that they name."""
_Side: TypeAlias = dict[str, _Read]
"""The files of one side by their paths; ``""`` is a file that was named itself."""


@click.command("diff")
@click.argument("what", nargs=-1, required=True, metavar="A B")
@click.option("--all", "everything", is_flag=True, help="Also show changes of order and spelling.")
@click.option("--exit-code", is_flag=True, help="Exit with 1 when something differs.")
@click.option("--markdown", is_flag=True, help="Print Markdown, for a review.")
@json_option
def command(
    what: tuple[str, ...], everything: bool, exit_code: bool, markdown: bool, as_json: bool
) -> None:
    """Say what changed from A to B: for callers, and for the functions that implement tools.

    A and B are files, folders, revisions of git or REV:path. With gram diff REV REV -- PATH… files
    and folders are compared in two revisions. Comments and layout do not count.
    """
    if as_json and markdown:
        raise click.UsageError("--json and --markdown cannot be used together")
    files: list[FileChanges] = []
    code = 0
    pairs = list(_pairs(what))
    for name, old, new in pairs:
        is_in: Where = "both" if old and new else "old" if old else "new"
        try:
            programs = (read() if read else () for read in (old, new))
            files.append(FileChanges(name, is_in, changes(*programs)))
        except (GramError, OSError) as failure:
            if len(pairs) == 1:
                raise
            tell_failure(failure)
            code = max(code, exit_code_of(failure))
            files.append(FileChanges(name, is_in, (), shown(failure)))
    if as_json:
        show_json(json_of(files, everything))
    else:
        show_changes(files, everything, markdown)
    if not any(each.found or each.error for each in files):
        note("no difference")
    elif exit_code and not code:
        code = NO
    sys.exit(code)


def _pairs(what: tuple[str, ...]) -> Iterator[tuple[str, _Read | None, _Read | None]]:
    """The name of each file with what reads it on both sides, None where it is not there."""
    if len(what) < 2:
        raise click.UsageError("write A B, or REV REV -- PATH")
    if len(what) == 2:
        sides = [(what[1], _side(*what), _side(*what[::-1]))]
    else:
        sides = [(path, _in_git(what[0], path), _in_git(what[1], path)) for path in what[2:]]
    for named, old, new in sides:
        if not old and not new:
            raise FileNotFoundError(errno.ENOENT, "no gram files on either side", named)
        if old and new and ("" in old) != ("" in new):
            raise click.UsageError("compare a file with a file, and a folder with a folder")
        for name in sorted(old.keys() | new.keys()):
            yield name or named, old.get(name), new.get(name)


def _side(given: str, other: str) -> _Side:
    """What an argument names; a revision alone is what the other argument names, there."""
    if given != STDIN and not lexists(given):
        return _in_git(given, None if ":" in given else other if lexists(other) else ".")
    if given == STDIN or not Path(given).is_dir():
        return {"": partial(_read, given)}
    return {relpath(each, given): partial(_read, str(each)) for each in sources.find_files(given)}


def _read(name: str) -> tuple[Pattern, ...]:
    if name == STDIN or not Path(name).is_file():
        return parse_program(*read_text(name)).patterns
    return load_project(name).with_skills


def _skill_in_git(program: str, path: str | None, folder: str) -> Pattern | UnreadSkill | None:
    """The skill in a folder that a program in git names, which is ``REV:path``."""
    revision, _, file = program.partition(":")
    file = file if path is None else sources.path_in_repository(file)
    shown = posixpath.normpath(posixpath.join(posixpath.dirname(file), folder, SKILL_FILE))
    content = sources.file_in_git(f"{revision}:{shown}")
    return None if content is None else skill_in(content, shown, folder)


def _in_git(revision: str, path: str | None) -> _Side:
    named = revision if path is None else f"{revision}:{path}"

    def read(name: str, hash_: str) -> tuple[Pattern, ...]:
        called = posixpath.join(named, name) if name else named
        patterns = parse_program(decode(sources.bytes_in_git(hash_), called), called).patterns
        return having_skills(patterns, partial(_skill_in_git, called, path))

    found = files_in_git(revision, path)
    return {name: partial(read, name, hash_) for name, hash_ in found.items()}
