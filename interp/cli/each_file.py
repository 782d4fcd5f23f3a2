"""Does the same with each of many files, and changes them without loss."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Any, TypeAlias

from attrs import Factory, define

import lenses_ext
from gram import Document, GramError, Pattern
from gram.documents import HeldFile, holding, write_together
from gram.words import counted
from lenses_ext import FocusError, PathError, Place, Project, ReadOnlyError, find_places

from .failures import NO, Refused, shown
from .inputs.declaring import Options, json_option, option
from .inputs.files import STDIN, SUFFIX, are_many, find_files, read_program, read_text
from .process import interruptible
from .terminal.console import detail, forbid, note, show, show_diff, show_json, tell

Work: TypeAlias = Callable[[str], dict[str, Any] | None]
"""Gets the name of a file, and returns what there is to say of it: an object, whose entry ``code``
is the exit code if that is not 0."""


class Nowhere(Refused):
    """There is nothing at a path in a file; where there are several files, it is passed over."""


@define(eq=False, repr=False)
class Tally:
    """What became of each file."""

    rows: list[dict[str, Any]] = Factory(list)
    code: int = 0

    def leave(self) -> None:
        """End the command if a file failed."""
        if self.code:
            sys.exit(self.code)

    def show(self, as_json: bool, *, verb: str) -> None:
        """Tell what became of the files: as JSON on standard output, else a summary."""
        if as_json:
            show_json(self.rows)
        elif len(self.rows) > 1:
            changed = sum(bool(row.get("changed")) for row in self.rows)
            failed = sum("error" in row for row in self.rows)
            unchanged = len(self.rows) - changed - failed
            counts = ((changed, verb), (unchanged, "unchanged"), (failed, "failed"))
            note(", ".join(f"{counted(count, 'file')} {what}" for count, what in counts if count))

    @staticmethod
    def show_by_file(found: Mapping[str, Any], several: bool) -> None:
        """Print what was found as JSON: an object from file to it, or what is in the only file."""
        if found:
            show_json({**found} if several else next(iter(found.values())))

    def do(self, name: str, work: Work, *, is_alone: bool) -> None:
        """Do the work with a file; errors are raised if it is the only one."""
        try:
            row = work(name) or {}
        except Refused as failure:
            if is_alone or not isinstance(failure, Nowhere):
                return self.fail(name, failure)
            detail(str(failure))
            row = {"changed": False, "nowhere": str(failure)}
        except BrokenPipeError:
            raise
        except (GramError, OSError) as failure:
            if is_alone:
                raise
            return self.fail(name, failure)
        self.code = max(self.code, row.pop("code", 0))
        self.rows.append({"file": name, **row})

    def fail(self, name: str, failure: GramError | OSError) -> None:
        """Tell that a file failed, and count it."""
        from .terminal.faults_shown import tell_failure  # imported late: most files do not fail

        self.code = max(self.code, tell_failure(failure))
        what = failure.strerror if isinstance(failure, OSError) else shown(failure)
        kind = "refused" if isinstance(failure, Refused) else "error"
        self.rows.append({"file": name, kind: str(what or failure)})


def each_file(given: Sequence[str], work: Work, *, suffix: str = SUFFIX) -> Tally:
    """Call a function with each file that the arguments name.

    What it raises is told, and the next file follows. Of one file that is named itself, errors
    are raised, but for those that say no.
    """
    tally, seen = Tally(), set[str]()
    is_alone = not are_many(given, suffix)
    for argument in given:
        try:
            names = [argument] if is_alone else find_files(argument, suffix)
        except OSError as failure:
            tally.fail(argument, failure)
            continue
        for name in names:
            if (path := os.path.realpath(name)) not in seen:
                seen.add(path)
                tally.do(name, work, is_alone=is_alone)
    if tally.rows and all("nowhere" in row for row in tally.rows):
        tell(tally.rows[0]["nowhere"])
        if others := len(tally.rows) - 1:
            tell(f"nor is there anything in {counted(others, 'other file')}")
        tally.code = max(tally.code, NO)
    return tally


_PATIENCE = 1.0  # seconds


Changes: TypeAlias = Mapping[str, tuple[str, str]]
"""The old and the new texts of files, by their names."""


def rewrite(file: str, change: Callable[[str, str], str]) -> bool:
    """Change the text of a file, which is written only where it changes; whether it did."""

    def changes() -> Changes:
        text, name = read_text(file)
        new = change(text, name)
        return {} if new == text else {file: (text, new)}

    return write_changes(file, changes)


def write_changes(file: str, changes: Callable[[], Changes]) -> bool:
    """Write new texts of files, of all of them or of none; whether there was something to write.

    Before writing, the files are locked; where another command has written one of them since it
    was read, all are read and changed again.
    """
    if Path(file).is_fifo():  # reading it would wait for a writer, and use up what it says
        raise OSError(errno.EINVAL, "a pipe cannot be written in place", file)
    while found := changes():
        old, new = ({Path(name): found[name][which] for name in found} for which in (0, 1))
        try:
            with interruptible():
                write_together(new, old, held_file)
            return True
        except OSError as error:
            if error.errno != errno.ESTALE:
                raise
    return False


def changed_texts(before: Project, after: Project) -> Changes:
    """The texts of the files that an edit of a program changed, with long new patterns laid out."""
    changed = [(before.documents[at], after.documents[at]) for at in after.changed_since(before)]
    return {str(old.filename): (old.text, laid_out(new)) for old, new in changed}


def laid_out(edited: Document) -> str:
    """The text of an edited document, with long new patterns as ``gram fmt`` would write them."""
    if all(each.old is not None for each in edited.changed_since()):
        return edited.text
    from gram.documents import format_changes  # imported late: most edits put in no pattern

    return format_changes(edited)


@contextmanager
def held_file(file: Path) -> Iterator[HeldFile]:
    """Hold a file; tell the user when that takes longer than other edits do."""
    told = Timer(_PATIENCE, note, [f"waiting for another gram process that uses {file}"])
    told.start()
    try:
        with holding(file) as held:
            told.cancel()
            yield held
    finally:
        told.cancel()


Edit: TypeAlias = Callable[[Project, bool], Sequence[Pattern]]
"""Makes the new patterns of a program; told whether it is one of several, each edited by itself."""


class ShowOptions(Options):
    """The options of commands that show what they change, and write it with ``-i``."""

    in_place: bool = option("Write the files, atomically.", name="-i --in-place")
    force: bool = option("Edit even if gram check then finds new errors.")
    as_json: bool = json_option
    diff = True  # what changes is shown, not the new text

    def __attrs_post_init__(self) -> None:
        forbid(self.as_json and not self.in_place, "--json says what became of files: add -i")


class EditOptions(ShowOptions):
    """The options of commands that print a new text, or write it with ``-i``."""

    diff: bool = option("Print what would change; write nothing.")

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        forbid(self.in_place and self.diff, "-i writes, and --diff writes nothing: choose one")


def places_in(program: Project, path: str, *, own: bool = False) -> tuple[Place, ...]:
    """The places that a path matches.

    Args:
        own: whether the path begins in the file itself, and not in one that it imports.

    Raises:
        Nowhere: nothing is at the path.
    """
    try:
        return find_places(program, path, own=own)
    except PathError as error:
        raise Nowhere(f"{program.filename}: {error}") from None


def deliver(files: Sequence[str], edit: Edit, options: ShowOptions) -> None:
    """Edit files, and print their new texts, print what would change, or write them.

    A file whose edit is refused is left as it is. Where several files are named, those that have
    nothing at the path are passed over. For writing in place, a file is locked, read again and
    edited; several files that one edit changes are all written, or none.
    """
    forbid(options.in_place and STDIN in files, "standard input cannot be written in place")
    several = are_many(files)
    seen: set[tuple[str, str]] = set()

    def changes(program: Project) -> Changes:
        try:
            edited = program.replace(edit(program, several))
        except (FocusError, ReadOnlyError) as error:
            hint = "\n  hint: it is computed from other parts, such as the signature: set those"
            told = f"refused: {error.in_words}{hint * isinstance(error, ReadOnlyError)}"
            raise Refused(f"{program.filename}: {told}") from None
        if edited is not program and not options.force:
            refuse_new_errors(program, edited)
        return changed_texts(program, edited)

    def deliver_one(file: str) -> dict[str, Any]:
        if options.in_place:
            return {"changed": write_changes(file, lambda: changes(read_program(file)))}
        program = read_program(file)
        found = changes(program)
        text = program.document.text
        for name, (old, new) in (found or {str(program.filename): (text, text)}).items():
            if not options.diff:
                show(f"// {name}\n" * (several or name != program.filename) + new, nl=False)
            elif (name, new) not in seen:
                seen.add((name, new))  # several files may import and change one
                show_diff(old, new, name)
        return {"changed": bool(found)}

    tally = each_file(files, deliver_one)
    if options.in_place:
        tally.show(options.as_json, verb="changed")
    tally.leave()


def refuse_new_errors(program: Project, edited: Project) -> None:
    """Refuse an edit that makes a program invalid."""
    if new := lenses_ext.new_errors(program, edited):  # it is loaded when it is asked for
        told = f"{program.filename}: refused because the program would be invalid"
        lines = [f"{told} (use --force to do it anyway):"]
        for fault in new:
            lines.append(f"  {fault.severity}[{fault.code}] {fault.message}")
            lines += [f"    hint: {fault.hint}"] if fault.hint else []
        raise Refused("\n".join(lines))
