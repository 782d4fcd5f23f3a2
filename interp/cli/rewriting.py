"""Changes files in place, without losing what other programs wrote meanwhile."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeAlias

from gram import Document
from gram.documents import HeldFile, holding, write_together
from lenses_ext import Project

from .inputs.reading import read_text
from .process import interruptible
from .terminal.output import note

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
