"""Writes a shrunk run as a folder: a program, a case, and the run, for a report or for a test."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from attrs import asdict

from gram import write_atomically
from gram.plurals import counted

from ...history.records import program_text, run_text
from ...json_text import write_json
from ...machine import Limits, context_before
from ..testing import SUFFIX
from .shrinking import Shrunk

PROGRAM: Final = "program.gram"
CASES: Final = "cases.jsonl"
RUN: Final = f"recordings/{CASES}/shrunk{SUFFIX}"
"""Where ``gram test`` looks for the recording of the case."""


def write_folder(
    shrunk: Shrunk, folder: str | Path, check: str | None = None, *, says: bool = True
) -> list[str]:
    """Write a shrunk run to a folder, which is made if it is not there.

    Args:
        shrunk: the run.
        folder: the folder.
        check: the name of the check that said that it fails; None for none.
        says: what the check says of a run that fails; the case expects the opposite.

    Returns:
        What the case has no place for; the run file has it.

    Raises:
        OSError: a file cannot be written.
    """
    state, place = shrunk.state, Path(folder)
    run = state.beginning.run
    row = {"program": PROGRAM, "name": "shrunk", "input": run.given.value}
    if check:
        row |= {"not": {"checks": [check]}} if says else {"checks": [check]}
    (place / RUN).parent.mkdir(parents=True, exist_ok=True)
    write_atomically(place / PROGRAM, program_text(state.agent)[0].rstrip("\n") + "\n")
    write_atomically(place / CASES, f"{write_json(row)}\n")
    write_atomically(place / RUN, run_text(state, shrunk.library))
    usual = asdict(Limits(), recurse=False)
    counts = {
        "earlier message": len(context_before(state)),
        "attachment": len(run.attachments),
        "model": run.model is not None,
        "setting": len(run.settings),
        "limit": sum(getattr(run.limits, name) != of for name, of in usual.items()),
    }
    return [counted(int(count), what) for what, count in counts.items() if count]
