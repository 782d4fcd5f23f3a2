"""Finds the files that a command line names: files, folders, globs and standard input.

Of a folder, these are all files ``*.gram`` in it, at any depth, in the order of their paths,
without recorded runs (``*.run.gram``) and those that git ignores. A file that is named itself is
always meant.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from functools import cache
from glob import glob, has_magic
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

STDIN = "-"
SUFFIX = ".gram"
RECORDED = ".run.gram"

_NEVER_MEANT = {"node_modules", "__pycache__", "site-packages"}
"""Folders of other people's files; hidden folders are left out too."""


def find_files(given: str, suffix: str = SUFFIX) -> list[str]:
    """The files that one argument names.

    Args:
        given: a file, a folder or a glob.
        suffix: how the names of the files in a folder end: `SUFFIX`, or `RECORDED` for run files,
            which are no programs.

    Raises:
        OSError: a folder has no gram files, nothing matches a glob, or the name is empty.
    """
    if not given:  # as where a variable of a script is not set; a path of it is this folder
        raise FileNotFoundError(errno.ENOENT, "the name of a file is empty")
    path = Path(given)
    if path.is_dir():
        found = sorted(_files_in(path, suffix))
        reason = f"no {suffix} files in this folder, apart from those that git ignores"
    elif given != STDIN and has_magic(given) and not path.exists():
        found = list(_matches(given, suffix))
        reason = "no file matches"
    else:
        return [given]
    if not found:
        raise FileNotFoundError(errno.ENOENT, reason, given)
    return [os.path.normpath(each) for each in found]


def are_many(given: Sequence[str], suffix: str = SUFFIX) -> bool:
    """Whether arguments may name more than one file, so that results have to name theirs."""
    return len(given) != 1 or (given[0] != STDIN and find_files(given[0], suffix) != [given[0]])


def is_input(argument: str) -> bool:
    """Whether an argument names files, rather than a part of a program."""
    if argument == STDIN or argument.endswith(SUFFIX) or os.path.lexists(argument):
        return True
    return has_magic(argument) and os.sep in argument


def words_and_files(arguments: Sequence[str], words: str) -> tuple[list[str], list[str]]:
    """Tell the words of an edit from the files, which come before or after them.

    Args:
        arguments: what was typed.
        words: the names of the words, such as ``PATH VALUE``.

    Raises:
        click.UsageError: there are too few arguments, or none of them names a file.

    >>> words_and_files(["a.gram", "b.model", "Ollama/x"], "PATH VALUE")
    (['b.model', 'Ollama/x'], ['a.gram'])
    >>> words_and_files(["*.model", "Ollama/x", "a.gram", "b.gram"], "PATH VALUE")
    (['*.model', 'Ollama/x'], ['a.gram', 'b.gram'])
    """
    count = len(words.split())
    if len(arguments) <= count:
        raise click.UsageError(f"write FILE… {words}, or {words} FILE…")
    first, last = is_input(arguments[0]), is_input(arguments[-1])
    if not (first or last):
        raise click.UsageError(f"no such file: neither {arguments[0]} nor {arguments[-1]}")
    if first and last:  # a folder may have the name of an agent, and a value may be -
        first = arguments[0] == STDIN or Path(arguments[0]).is_file()
    if first:
        return list(arguments[-count:]), list(arguments[:-count])
    return list(arguments[:count]), list(arguments[count:])


def _files_in(folder: Path, suffix: str) -> Iterator[str]:
    rules = _Ignored(folder)
    for inside, folders, files in os.walk(folder):
        here = Path(inside)
        folders[:] = [
            each
            for each in folders
            if not each.startswith(".")
            and each not in _NEVER_MEANT
            and not rules.cover(here / each, is_folder=True)
        ]
        for each in files:
            is_meant = each.endswith(suffix) and each.endswith(RECORDED) == (suffix == RECORDED)
            if is_meant and not rules.cover(here / each):
                yield str(here / each)


def _matches(pattern: str, suffix: str) -> Iterator[str]:
    """The files that a glob matches, and those in the folders that it matches."""
    fixed = takewhile(lambda part: not has_magic(part), Path(pattern).parts)
    rules = _Ignored(Path(*fixed))
    takes_any = "." in Path(pattern).name
    for each in sorted(glob(pattern, recursive=True)):  # noqa: PTH207  # it may be absolute
        path = Path(each)
        if path.is_dir():
            if not pattern.endswith("**"):  # else the files in it match too
                yield from sorted(_files_in(path, suffix))
        elif path.name.endswith(RECORDED) and RECORDED not in (suffix, pattern[-len(RECORDED) :]):
            continue
        elif (takes_any or path.suffix == SUFFIX) and not rules.cover(path):
            yield each


class _Ignored:
    """The rules of git for the files in a folder.

    They are in the files ``.gitignore`` of each folder up to that of the repository, in its
    ``.git/info/exclude`` and in the user's own file. Outside a repository, those from the
    current folder down count.
    """

    def __init__(self, folder: Path) -> None:
        start = folder.resolve()
        above = (start, *start.parents)
        outside = Path.cwd() if Path.cwd() in above else start
        self._top = next((each for each in above if (each / ".git").exists()), outside)

    def cover(self, path: Path, *, is_folder: bool = False) -> bool:
        """Whether git ignores a path; the rules that are nearest to it count."""
        path = path.absolute() if path.is_symlink() else path.resolve()
        for folder in path.parents:
            rules = _rules_in(folder)
            if rules is not None:
                relative = path.relative_to(folder).as_posix() + "/" * is_folder
                verdict: bool | None = rules.check_file(relative).include
                if verdict is not None:
                    return verdict
            if folder == self._top:
                break
        return False


@cache
def _rules_in(folder: Path) -> GitIgnoreSpec | None:
    """The rules that are written for a folder; None if there are none."""
    files = [folder / ".gitignore"]
    if (folder / ".git").exists():
        configured = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser()
        files = [configured / "git/ignore", folder / ".git/info/exclude", *files]
    lines: list[str] = []
    for file in files:
        if file.is_file():
            lines += file.read_text("utf-8", "replace").splitlines()
    if not lines:
        return None
    from pathspec import GitIgnoreSpec  # imported late: most folders need no rules

    return GitIgnoreSpec.from_lines(lines)
