"""Does the same with each of many files: one that fails does not stop the others."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from attrs import Factory, define

from gram import GramError
from gram.words import counted

from .failures import NO, Refused, exit_code_of, shown
from .inputs.program_files import SUFFIX, are_many, find_files
from .terminal.output import detail, note, show_json, tell

Work: TypeAlias = Callable[[str], dict[str, Any] | None]
"""Gets the name of a file, and returns what there is to say of it: an object, whose entry ``code``
is the exit code if that is not 0."""


class Nowhere(Refused):
    """There is nothing at a path in a file; where there are several files, it is passed over."""


@define(eq=False, repr=False)
class Tally:
    """What became of each file.

    Attributes:
        rows: an object for each file, in the order of the files.
        code: the exit code of the command so far: the greatest of those of its files.
    """

    rows: list[dict[str, Any]] = Factory(list)
    code: int = 0

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

    def _do(self, name: str, work: Work, *, is_alone: bool) -> None:
        try:
            row = work(name) or {}
        except Refused as failure:
            if is_alone or not isinstance(failure, Nowhere):
                return self._failed(name, failure)
            detail(str(failure))
            row = {"changed": False, "nowhere": str(failure)}
        except BrokenPipeError:
            raise
        except (GramError, OSError) as failure:
            if is_alone:
                raise
            return self._failed(name, failure)
        self.code = max(self.code, row.pop("code", 0))
        self.rows.append({"file": name, **row})

    def _failed(self, name: str, failure: GramError | OSError) -> None:
        from .terminal.faults_shown import tell_failure  # imported late: most files do not fail

        tell_failure(failure)
        what = failure.strerror if isinstance(failure, OSError) else shown(failure)
        kind = "refused" if isinstance(failure, Refused) else "error"
        self.rows.append({"file": name, kind: str(what or failure)})
        self.code = max(self.code, exit_code_of(failure))

    def _refuse_if_all_passed_over(self) -> None:
        """Tell the user that a path leads to nothing in any of the files."""
        if self.rows and all("nowhere" in row for row in self.rows):
            tell(self.rows[0]["nowhere"])
            if others := len(self.rows) - 1:
                files = "file" if others == 1 else f"{others} files"
                tell(f"nor is there anything in the other {files}")
            self.code = max(self.code, NO)


def each_file(given: Sequence[str], work: Work, *, suffix: str = SUFFIX) -> Tally:
    """Call a function with each file that the arguments name.

    What it raises is told, and the next file follows. Of one file that is named itself, errors
    are raised, but for those that say no.

    Args:
        given: the arguments: files, folders and globs.
        work: what is done with each file.
        suffix: how the names of the files in folders end, see `find_files`.

    Raises:
        BrokenPipeError: nobody reads the output any more.
        GramError, OSError: the only file fails.
    """
    tally, seen = Tally(), set[str]()
    is_alone = not are_many(given, suffix)
    for argument in given:
        try:
            names = [argument] if is_alone else find_files(argument, suffix)
        except OSError as failure:
            tally._failed(argument, failure)
            continue
        for name in names:
            if (path := os.path.realpath(name)) not in seen:
                seen.add(path)
                tally._do(name, work, is_alone=is_alone)
    tally._refuse_if_all_passed_over()
    return tally
