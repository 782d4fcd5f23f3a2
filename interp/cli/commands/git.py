"""``gram git``: have git merge and show programs as programs."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

import click

from gram import write_atomically
from gram.documents import decode

from ..failures import Refused
from ..inputs.program_files import run_git
from ..terminal.output import note, tell

_ATTRIBUTES = "*.gram merge=gram diff=gram"
_ACROSS = "merge --across"
_OUR_HOOK = "# written by gram git install"
_HEADS = "^[[:space:]]*([[(][^]|()[:space:]]+::?(Agent|Workflow|Loop|ToolSpecification|Tool))"


@click.group("git")
def command() -> None:
    """Have git merge programs by structure, and show whose change a hunk is."""


@command.command("install")
@click.option("--undo", is_flag=True, help="Take away what this command has put there.")
def install(undo: bool) -> None:
    """Make gram the merge driver for *.gram in the git repository of this folder.

    It writes .gitattributes, which is for everybody who has the repository, and the configuration
    and a hook of this clone, which each one needs: the hook judges what lies across files before a
    merge is committed. What is there already stays.
    """
    top = run_git("rev-parse", "--show-toplevel")
    if top.returncode:
        raise Refused("gram: this folder is in no git repository")
    _change_attributes(Path(_said(top.stdout), ".gitattributes"), undo=undo)
    for key, value in _settings().items():
        _change_setting(key, value, undo=undo)
    hook = run_git("rev-parse", "--git-path", "hooks/pre-merge-commit")
    _change_hook(Path(_said(hook.stdout)), undo=undo)


def _gram() -> str:
    """The command that runs gram, for a shell."""
    return "gram" if shutil.which("gram") else f"{shlex.quote(sys.executable)} -m interp"


def _settings() -> dict[str, str]:
    driver = "merge -i --marker-size %L --path %P -L %X -L %S -L %Y %O %A %B"
    return {
        "merge.gram.name": "gram programs by structure",
        "merge.gram.driver": f"{_gram()} {driver}",
        "diff.gram.xfuncname": _HEADS,
    }


def _change_attributes(file: Path, *, undo: bool) -> None:
    text = decode(file.read_bytes(), str(file)) if file.exists() else ""
    lines = text.splitlines(keepends=True)
    others = [line for line in lines if line.strip() != _ATTRIBUTES]
    if undo and len(others) < len(lines):
        note(f"{file}: removed: {_ATTRIBUTES}")
        write_atomically(file, "".join(others)) if others else file.unlink()
    elif not undo and len(others) == len(lines):
        note(f"{file}: added: {_ATTRIBUTES}")
        gap = "\n" if text and not text.endswith("\n") else ""
        write_atomically(file, f"{text}{gap}{_ATTRIBUTES}\n")


def _change_setting(key: str, value: str, *, undo: bool) -> None:
    known = _said(run_git("config", "--local", key).stdout)
    if undo and known:
        note(f"git config: removed: {key}")
        run_git("config", "--local", "--unset", key)
    elif not undo and known != value:
        note(f"git config: {key} = {value}")
        run_git("config", "--local", key, value)


def _change_hook(file: Path, *, undo: bool) -> None:
    text = decode(file.read_bytes(), str(file)) if file.exists() else None
    if undo and text and _OUR_HOOK in text:
        note(f"{file}: removed")
        file.unlink()
    elif not undo and text is None:
        note(f"{file}: runs {_gram()} {_ACROSS}")
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, f"#!/bin/sh\n{_OUR_HOOK}\nexec {_gram()} {_ACROSS}\n")
        file.chmod(0o755)
    elif not undo and text and _ACROSS not in text:
        tell(f"{file} is there already: add the line {_gram()} {_ACROSS} || exit 1")


def _said(output: bytes) -> str:
    return os.fsdecode(output).rstrip("\n")
