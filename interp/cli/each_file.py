"""Does the same with each of many files: one that fails does not stop the others."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from attrs import Factory, define

from gram import GramError
from gram.words import counted

from .failures import NO, Refused, exit_code_of
from .inputs.program_files import SUFFIX, are_many, find_files
from .terminal.output import detail, note, show_json, tell


class Nowhere(Refused):
    """There is nothing at a path in a file."""


@define(eq=False, repr=False)
class Tally:
    """What became of each file.

    Attributes:
        rows: an object for each file, in the order of the files.
        code: the exit code of the command so far: the greatest of those of its files.
    """

    rows: list[dict[str, Any]] = Factory(list)
    code: int = 0

    def refuse_if_all_passed_over(self) -> None:
        """Tell the user that a path leads to nothing in any of the files."""
        if self.rows and all("nowhere" in row for row in self.rows):
            tell(self.rows[0]["nowhere"])
            if len(self.rows) > 1:
                others = len(self.rows) - 1
                files = "file" if others == 1 else f"{others} files"
                tell(f"nor is there anything in the other {files}")
            self.code = max(self.code, NO)

    def leave(self) -> None:
        """End the command if a file failed."""
        if self.code:
            sys.exit(self.code)

    def show(self, as_json: bool, *, verb: str) -> None:
        """Tell what became of the files: as JSON on standard output, else a summary.

        Args:
            as_json: print the rows.
            verb: what was done with a file that needed it.
        """
        if as_json:
            show_json(self.rows)
        elif len(self.rows) > 1:
            changed = sum(bool(row.get("changed")) for row in self.rows)
            failed = sum("error" in row for row in self.rows)
            unchanged = len(self.rows) - changed - failed
            counts = ((changed, verb), (unchanged, "unchanged"), (failed, "failed"))
            note(", ".join(f"{counted(count, 'file')} {what}" for count, what in counts if count))


def each_file(
    given: Sequence[str],
    work: Callable[[str], dict[str, Any] | None],
    *,
    suffix: str = SUFFIX,
) -> Tally:
    """Call a function with each file that the arguments name.

    What it raises is told, and the next file follows. Of one file that is named itself, errors
    are raised.

    Args:
        given: the arguments: files, folders and globs.
        work: gets the name of a file, and returns what there is to say of it: an object, whose
            entry ``code`` is the exit code if that is not 0.
        suffix: how the names of the files in folders end, see `find_files`.

    Raises:
        BrokenPipeError: nobody reads the output any more.
        GramError, OSError: the only file fails.
    """
    tally = Tally()
    if not are_many(given, suffix):
        try:
            _done(tally, given[0], work(given[0]))
        except Refused as failure:
            _failed(tally, given[0], failure)
        return tally
    seen: set[str] = set()
    for argument in given:
        try:
            names = find_files(argument, suffix)
        except OSError as failure:
            _failed(tally, argument, failure)
            continue
        for name in names:
            if (path := os.path.realpath(name)) in seen:
                continue
            seen.add(path)
            try:
                _done(tally, name, work(name))
            except BrokenPipeError:
                raise
            except (GramError, OSError) as failure:
                _failed(tally, name, failure)
    return tally


def _done(tally: Tally, name: str, row: dict[str, Any] | None) -> None:
    row = row or {}
    tally.code = max(tally.code, row.pop("code", 0))
    tally.rows.append({"file": name, **row})


def passing_over(work: Callable[[str], dict[str, Any]]) -> Callable[[str], dict[str, Any]]:
    """The same work, that passes over files in which there is nothing at the path."""

    def work_or_pass(name: str) -> dict[str, Any]:
        try:
            return work(name)
        except Nowhere as nowhere:
            detail(str(nowhere))
            return {"changed": False, "nowhere": str(nowhere)}

    return work_or_pass


def _failed(tally: Tally, name: str, failure: GramError | OSError) -> None:
    from .failures import shown
    from .terminal.faults_shown import tell_failure

    tell_failure(failure)
    what = failure.strerror if isinstance(failure, OSError) else shown(failure)
    kind = "refused" if isinstance(failure, Refused) else "error"
    tally.rows.append({"file": name, kind: str(what or failure)})
    tally.code = max(tally.code, exit_code_of(failure))
