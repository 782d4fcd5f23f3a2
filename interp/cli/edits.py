"""Shared code of the editing commands: reading values, and changing files without loss."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import click
from attrs import frozen

from gram import Document, GramDecodeError, Pattern, loads
from gram.documents import HeldFile, holding, write_together
from lenses_ext import FocusError, PathError, Place, Project, ReadOnlyError, find_places
from lenses_ext.places import read_pattern as read_pattern, read_value as read_value

from .each_file import Nowhere, each_file
from .failures import Refused
from .inputs.declaring import given_by, json_option, option
from .inputs.program_files import STDIN, are_many
from .inputs.reading import read_program, read_text
from .process import interruptible
from .terminal.changes_shown import show_diff
from .terminal.output import note, show

_TRIES, _PAUSE = 50, 0.02  # seconds; one second in all


Changes: TypeAlias = Mapping[str, tuple[str, str]]
"""The old and the new texts of files, by their names."""


def rewrite(file: str, change: Callable[[str, str], str]) -> bool:
    """Change the text of a file; a file that needs no change is not written.

    Args:
        file: the name of the file.
        change: makes the new text from the old text and the name of the file.

    Returns:
        Whether the file was changed.

    Raises:
        OSError: the file cannot be read or written.
        GramDecodeError: the file is not UTF-8.
    """

    def changes() -> Changes:
        text, name = read_text(file)
        new = change(text, name)
        return {} if new == text else {file: (text, new)}

    return write_changes(file, changes)


def write_changes(file: str, changes: Callable[[], Changes]) -> bool:
    """Write new texts of files, of all of them or of none.

    Before writing, the files are locked; where another command has written one of them since it
    was read, all are read and changed again.

    Args:
        file: the file that was named.
        changes: reads the files, and makes their new texts.

    Returns:
        Whether there was something to write.

    Raises:
        OSError: a file cannot be read or written.
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
    return {
        str(before.documents[path].filename): (
            before.documents[path].text,
            laid_out(after.documents[path]),
        )
        for path in after.changed_since(before)
    }


def laid_out(edited: Document) -> str:
    """The text of an edited document, with long new patterns as ``gram fmt`` would write them."""
    if all(each.old is not None for each in edited.changed_since()):
        return edited.text
    from gram.documents import format_changes  # imported late: most edits put in no pattern

    return format_changes(edited)


@contextmanager
def held_file(file: Path) -> Iterator[HeldFile]:
    """Hold a file; tell the user when that takes longer than other edits do."""
    with ExitStack() as holder:
        for _ in range(_TRIES):
            try:
                held = holder.enter_context(holding(file, wait=False))
            except BlockingIOError:
                time.sleep(_PAUSE)
            else:
                break
        else:
            note(f"waiting for another gram process that uses {file}")
            held = holder.enter_context(holding(file))
        yield held


Edit: TypeAlias = Callable[[Project, bool], Sequence[Pattern]]
"""Makes the new patterns of a program; told whether it is one of several, each edited by itself."""


@frozen(kw_only=True, slots=False)
class ShowOptions:
    """The options of commands that show what they change, and write it with ``-i``."""

    in_place: bool = option("Write the files, atomically.", name="-i --in-place")
    force: bool = option("Edit even if gram check then finds new errors.")
    as_json: bool = given_by(json_option)

    def __attrs_post_init__(self) -> None:
        if self.as_json and not self.in_place:
            raise click.UsageError("--json says what became of the files: use it with -i")

    @property
    def shows_diff(self) -> bool:
        """Whether what changes is shown, not the new text."""
        return True


@frozen(kw_only=True, slots=False)
class EditOptions(ShowOptions):
    """The options of commands that print a new text, or write it with ``-i``."""

    diff: bool = option("Print what would change; write nothing.")

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if self.in_place and self.diff:
            raise click.UsageError("-i writes the files and --diff writes nothing: choose one")

    @property
    def shows_diff(self) -> bool:
        """Whether what changes is shown, not the new text."""
        return self.diff


def places_in(program: Project, path: str, *, own: bool = False) -> tuple[Place, ...]:
    """The places that a path matches.

    Args:
        program: the program.
        path: the path.
        own: whether the path begins in the file itself, and not in one that it imports.

    Raises:
        Nowhere: there are none.
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

    Args:
        files: files, folders and globs; ``-`` is standard input.
        edit: makes the new patterns of a program.
        options: what to do with the new texts.
    """
    if options.in_place and STDIN in files:
        raise click.UsageError("standard input cannot be written in place")
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
            if not options.shows_diff:
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
    """Refuse an edit that makes a program invalid.

    Raises:
        Refused: it has errors that it did not have.
    """
    from lenses_ext import (
        new_errors,  # imported late: only an edit that changes something is judged
    )

    new = new_errors(program, edited)
    if new:
        faults = "\n".join(f"  {fault.severity}[{fault.code}] {fault.message}" for fault in new)
        raise Refused(
            f"{program.filename}: refused because the program would be invalid (use --force to "
            f"do it anyway):\n{faults}"
        )


def read_element(text: str) -> Pattern:
    """Read an element of a pattern: a pattern, or the bare name of one that is defined elsewhere.

    Raises:
        GramDecodeError: the text is not gram, or not exactly one element.
    """
    try:
        (around,) = loads(f"[ | {text}\n]")
        (element,) = around.elements
    except (GramDecodeError, ValueError):
        return read_pattern(text)
    return element
