"""Reads files as they are in a revision of git, without touching the working tree.

What a user names is given to git once, to look up the object of it; all else goes by its hash.
"""

from __future__ import annotations

import errno
import os
import posixpath
import re
import subprocess
from pathlib import Path

from .program_files import RECORDED, SUFFIX


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
        raise FileNotFoundError(errno.ENOENT, "no such file, and no such revision in git", revision)
    if _git("cat-file", "-t", found).strip() == b"blob":
        return {"": found}
    files = {}
    for row in _git("ls-tree", "-r", "-z", found).split(b"\0"):
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
    """Run git.

    Raises:
        OSError: there is no git.
    """
    return subprocess.run(["git", *arguments], capture_output=True)


def _git(*arguments: str) -> bytes:
    """What git prints; nothing when it fails, or there is none."""
    try:
        return run_git(*arguments).stdout
    except (OSError, ValueError):  # a NUL in an argument is a ValueError
        return b""
