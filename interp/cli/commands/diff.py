"""``gram diff``: what changed between two programs, in the words of the language."""

from __future__ import annotations

import errno
import posixpath
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from os.path import lexists, relpath
from pathlib import Path
from typing import Any, TypeAlias

import click
from attrs import frozen

from gram import GramError, Pattern, origin
from gram.documents import decode
from gram.words import counted
from lenses_ext import parse_program
from lenses_ext.composing import ProgramChange, changes, level_of
from lenses_ext.names import SKILL_FILE, UnreadSkill, having_skills, load_project, skill_in

from ...shown import visible_text
from ..failures import NO, exit_code_of, shown
from ..inputs import files as sources
from ..inputs.declaring import json_option
from ..inputs.files import STDIN, files_in_git, read_text
from ..terminal.faults_shown import tell_failure
from ..terminal.output import forbid, note, show, show_json

_Read: TypeAlias = Callable[[], tuple[Pattern, ...]]
"""Reads a program, its agents with the skills that they name."""
_Side: TypeAlias = dict[str, _Read]
"""The files of one side by their paths; ``""`` is a file that was named itself."""


_MARKS = {
    "breaking for callers": "error",
    "breaking for functions": "warning",
    "changing behaviour": "info",
}
"""What a change means, with the style of it."""
_HOW = {"both": "", "old": " (removed)", "new": " (new)"}
"""On which sides a file is, and how that is said."""


@click.command("diff")
@click.argument("what", nargs=-1, required=True, metavar="A B")
@click.option("--all", "everything", is_flag=True, help="Also show changes of order and spelling.")
@click.option("--exit-code", is_flag=True, help="Exit with 1 when something differs.")
@click.option("--markdown", is_flag=True, help="Print Markdown, for a review.")
@json_option
def diff_command(
    what: tuple[str, ...], everything: bool, exit_code: bool, markdown: bool, as_json: bool
) -> None:
    """Say what changed from A to B: for callers, and for the functions that implement tools.

    A and B are files, folders, revisions of git or REV:path. With gram diff REV REV -- PATH… files
    and folders are compared in two revisions. Comments and layout do not count.
    """
    forbid(as_json and markdown, "--json and --markdown cannot be used together")
    files: list[_FileChanges] = []
    code = 0
    pairs = list(_pairs(what))
    for name, old, new in pairs:
        is_in = "both" if old and new else "old" if old else "new"
        try:
            programs = (read() if read else () for read in (old, new))
            files.append(_FileChanges(name, is_in, changes(*programs)))
        except (GramError, OSError) as failure:
            if len(pairs) == 1:
                raise
            tell_failure(failure)
            code = max(code, exit_code_of(failure))
            files.append(_FileChanges(name, is_in, (), shown(failure)))
    _show_changes(files, everything, markdown, as_json)
    if not any(each.found or each.error for each in files):
        note("no difference")
    elif exit_code and not code:
        code = NO
    sys.exit(code)


def _pairs(what: tuple[str, ...]) -> Iterator[tuple[str, _Read | None, _Read | None]]:
    """The name of each file with what reads it on both sides, None where it is not there."""
    forbid(len(what) < 2, "write A B, or REV REV -- PATH")
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


@frozen
class _FileChanges:
    """What changed in a file.

    Attributes:
        name: the name of the file.
        is_in: whether it is on both sides, or on one alone.
        found: what changed.
        error: why that cannot be said, or None.
    """

    name: str
    is_in: str
    found: tuple[ProgramChange, ...]
    error: str | None = None


def _show_changes(
    files: Sequence[_FileChanges], everything: bool, markdown: bool, as_json: bool
) -> None:
    """Print what changed, and at the end what it means for those who use the programs.

    Args:
        files: the changes of each file.
        everything: whether changes of order and spelling are printed too.
        markdown: print Markdown, in which what people wrote is code, so that it means nothing.
        as_json: print JSON.
    """
    every = [change for file in files for change in file.found]
    level = level_of(every)
    if as_json:
        rows = [_as_json(each, everything) for each in files if each.found or each.error]
        show_json({"level": level, "files": rows})
        return
    for file in files:
        changes = _told(file, everything)
        if (changes and len(files) > 1) or (markdown and (changes or file.error)):
            heading = visible_text(file.name) + _HOW[file.is_in]
            show(f"### {_code(heading)}\n" if markdown else [(heading, "place")])
        for change in changes:
            text, marks = visible_text(str(change)), _marks(change)
            if markdown:
                show(f"- {_code(text)}{' '.join(['', *(f'**{mark}**' for mark in marks)])}")
            else:
                show([(text, ""), *((f" [{mark}]", _MARKS[mark]) for mark in marks)])
        if markdown and file.error:
            show(f"- **not compared**: {_code(visible_text(file.error))}")
        if markdown and (changes or file.error):
            show("")
    if level is None:
        if every and not everything:
            note("only order and spelling differ: --all shows how")
        return
    changes = [each for each in every if not each.said.is_detail]
    counts = Counter(mark for each in changes for mark in _marks(each))
    sums = "".join(f", {counts[mark]} {mark}" for mark in _MARKS if counts[mark])
    summary = f"{counted(len(changes), 'change')}{sums}"
    show(f"**{level}**: {summary}" if markdown else [(level, "place"), (f": {summary}", "")])


def _as_json(file: _FileChanges, everything: bool) -> dict[str, Any]:
    return {
        "file": file.name,
        "in": file.is_in,
        "level": level_of(file.found),
        "changes": [_json_of(each) for each in _told(file, everything)],
        **({"error": file.error} if file.error else {}),
    }


def _json_of(change: ProgramChange) -> dict[str, Any]:
    said, place = change.said, origin(change.pattern)
    return {
        "what": list(change.what),
        "change": said.text,
        "level": None if said.is_detail else said.level,
        "breaks_callers": said.level == "major",
        "breaks_functions": said.unbinds,
        "changes_behaviour": said.behaves,
        "place": str(place) if place else None,
    }


def _told(file: _FileChanges, everything: bool) -> list[ProgramChange]:
    return [each for each in file.found if everything or not each.said.is_detail]


def _marks(change: ProgramChange) -> list[str]:
    said = change.said
    flags = said.level == "major", said.unbinds, said.behaves
    return [mark for mark, flag in zip(_MARKS, flags, strict=True) if flag]


def _code(text: str) -> str:
    """A text as code, whatever is in it: Markdown means nothing there, and nobody is called."""
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    return f"{fence} {text} {fence}"
