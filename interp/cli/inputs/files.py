"""Finds and reads the files that a command line names, in the working tree or in git.

Of a folder, these are all files ``*.gram`` in it, at any depth, in the order of their paths,
without recorded runs (``*.run.gram``) and those that git ignores. A file that is named itself is
always meant.

A revision that a user names is given to git once, to look up the object of it; all else goes by
its hash.
"""

from __future__ import annotations

import errno
import os
import posixpath
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from glob import glob, has_magic
from itertools import groupby
from pathlib import Path

from gram import Document
from gram.documents import decode
from lenses_ext import Project, load_project, parse_program

from ..terminal.console import forbid

STDIN = "-"
SUFFIX = ".gram"
RECORDED = ".run.gram"

_NEVER_MEANT = {"node_modules", "__pycache__", "site-packages"}
"""Folders of other people's files; hidden folders are left out too."""


def find_files(given: str, suffix: str = SUFFIX) -> list[str]:
    """The files that one argument names.

    Args:
        suffix: how the names of the files in a folder end: `SUFFIX`, or `RECORDED` for run files,
            which are no programs.

    Raises:
        OSError: a folder has no gram files, nothing matches a glob, or the name is empty.
    """
    if not given:  # as where a variable of a script is not set; a path of it is this folder
        raise FileNotFoundError(errno.ENOENT, "the name of a file is empty")
    path = Path(given)
    if path.is_dir():
        found = _files_in(given, suffix)
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

    >>> words_and_files(["a.gram", "b.model", "Ollama/x"], "PATH VALUE")
    (['b.model', 'Ollama/x'], ['a.gram'])
    >>> words_and_files(["*.model", "Ollama/x", "a.gram", "b.gram"], "PATH VALUE")
    (['*.model', 'Ollama/x'], ['a.gram', 'b.gram'])
    """
    count = len(words.split())
    forbid(len(arguments) <= count, f"write FILE… {words}, or {words} FILE…")
    first, last = is_input(arguments[0]), is_input(arguments[-1])
    forbid(not (first or last), f"no such file: neither {arguments[0]} nor {arguments[-1]}")
    if first and last:  # a folder may have the name of an agent, and a value may be -
        first = arguments[0] == STDIN or Path(arguments[0]).is_file()
    if first:
        return list(arguments[-count:]), list(arguments[:-count])
    return list(arguments[:count]), list(arguments[count:])


def _files_in(folder: str, suffix: str) -> list[str]:
    found = []
    for inside, folders, files in os.walk(folder):
        folders[:] = [each for each in folders if each[0] != "." and each not in _NEVER_MEANT]
        meant = (Path(inside, each) for each in files if _ending(each) == suffix)
        found += [str(each) for each in meant if not each.is_fifo()]  # which waits for a writer
    return sorted(_without_ignored(found))


def _ending(name: str) -> str | None:
    return next((each for each in (RECORDED, SUFFIX) if name.endswith(each)), None)


def _matches(pattern: str, suffix: str) -> Iterator[str]:
    """The files that a glob matches, and those in the folders that it matches."""
    takes_any = "." in Path(pattern).name
    takes_recorded = RECORDED in (suffix, pattern[-len(RECORDED) :])
    matched = sorted(glob(pattern, recursive=True))  # noqa: PTH207  # it may be absolute
    files = [
        each
        for each in matched
        if not (Path(each).is_dir() or Path(each).is_fifo())
        and (takes_any or each.endswith(SUFFIX))
        and (takes_recorded or not each.endswith(RECORDED))
    ]
    meant = {*_without_ignored(files)}
    for each in matched:
        if each in meant:
            yield each
        elif not pattern.endswith("**") and Path(each).is_dir():  # else its files match too
            yield from _files_in(each, suffix)


def _without_ignored(files: Iterable[str]) -> Iterator[str]:
    """The files that git does not ignore; outside a repository, or without git, all of them."""
    environment = {name: value for name, value in os.environ.items() if name[:4] != "GIT_"}
    for folder, paths in groupby(sorted(files, key=os.path.dirname), os.path.dirname):
        names = {Path(each).name: each for each in paths}
        try:
            ignored = subprocess.run(
                ["git", "check-ignore", "-z", "--stdin"],
                input="\0".join(names),
                cwd=folder or ".",
                env=environment,
                capture_output=True,
                text=True,
                errors="surrogateescape",
            ).stdout.split("\0")
        except OSError:
            ignored = []
        yield from (path for name, path in names.items() if name not in ignored)


def files_in_git(revision: str, path: str | None = None) -> dict[str, str]:
    """The gram files of a revision: their hashes, by their paths below what is named.

    A file that is named itself has the path ``""``. Links and submodules are left out.

    Args:
        revision: a revision, or ``REV:path`` as git takes it.
        path: a file or folder, from the working directory. The revision may lack it.

    Raises:
        FileNotFoundError: git knows no such revision, or no such path in it.
    """
    named = revision if path is None else f"{revision}:{path_in_repository(path)}"
    found = _hash_of(named)
    if found is None and path is not None and _hash_of(revision):
        return {}
    if found is None:
        tree, _, within = revision.partition(":")
        reason = "no such file, and no such revision in git"
        if within and _hash_of(tree):
            reason = f"no such path in git at {tree}"
            if not within.startswith("./") and _hash_of(f"{tree}:./{within}"):
                reason += f"; from the working directory it is {tree}:./{within}"
        raise FileNotFoundError(errno.ENOENT, reason, revision)
    if _git("cat-file", "-t", found).strip() == b"blob":
        return {"": found}
    files = {}
    for row in _git("ls-tree", "-r", "-z", "--full-tree", found).split(b"\0"):
        about, _, name = row.partition(b"\t")
        file = os.fsdecode(name)
        is_program = file.endswith(SUFFIX) and not file.endswith(RECORDED)
        if is_program and about.startswith((b"100644", b"100755")):
            files[file] = about.split()[2].decode()
    return files


def file_in_git(named: str) -> bytes | None:
    """The content of ``REV:path``, a path from the root of the repository; None if it has none."""
    found = _hash_of(named)
    return bytes_in_git(found) if found else None


def bytes_in_git(hash_: str) -> bytes:
    """The content of a file, by its hash."""
    return _git("cat-file", "blob", hash_)


def _hash_of(named: str) -> str | None:
    found = _git("rev-parse", "--verify", "--quiet", "--end-of-options", named).decode().strip()
    return found if re.fullmatch(r"[0-9a-f]{40,64}", found) else None  # a range gives two


def path_in_repository(path: str) -> str:
    """A path from the working directory, from the root of the repository."""
    prefix = os.fsdecode(_git("rev-parse", "--show-prefix")).rstrip("\n")
    from_root = posixpath.normpath(posixpath.join(prefix, Path(os.path.relpath(path)).as_posix()))
    return "" if from_root == "." else from_root


def run_git(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run git."""
    return subprocess.run(["git", *arguments], capture_output=True)


def _git(*arguments: str) -> bytes:
    """What git prints; nothing when it fails, or there is none."""
    try:
        return run_git(*arguments).stdout
    except (OSError, ValueError):  # a NUL in an argument is a ValueError
        return b""


def read_text(name: str, stdin_filename: str | None = None) -> tuple[str, str]:
    """Read the text of a file, and its name for messages; ``-`` is standard input."""
    if name == STDIN:
        if sys.stdin is None:
            raise OSError(errno.EBADF, "standard input is closed")
        name = stdin_filename or "<stdin>"
        return decode(sys.stdin.buffer.read(), name), name
    return decode(Path(name).read_bytes(), name), name


def read_document(name: str) -> Document:
    """Read the document in a file; ``-`` is standard input."""
    return parse_program(*read_text(name))


def read_program(name: str) -> Project:
    """Read the program in a file with what it imports; ``-`` is standard input, by itself."""
    document = read_document(name)
    return Project.of(document) if name == STDIN else load_project(name, {Path(name): document})


def read_word(word: str) -> str:
    """The text that an argument gives or names.

    ``@FILE`` and ``-`` are read, without the last line break; ``@@`` begins a text with ``@``.

    >>> read_word("@@alice, hello"), read_word("plain")
    ('@alice, hello', 'plain')
    """
    if word == STDIN or (word.startswith("@") and not word.startswith("@@")):
        name = word.removeprefix("@")
        try:
            text, _ = read_text(name)
        except FileNotFoundError as failure:
            reason = f"{failure.strerror}; to begin a text with @, write @@"
            raise FileNotFoundError(failure.errno, reason, name) from None
        return text.removesuffix("\n").removesuffix("\r")
    return word[1:] if word.startswith("@@") else word


def read_word_beside(word: str, files: Iterable[str]) -> str:
    """Read a word with `read_word`; standard input is read once only."""
    forbid(word == STDIN and STDIN in files, "standard input cannot be both program and value")
    return read_word(word)
