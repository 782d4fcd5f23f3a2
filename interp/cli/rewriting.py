"""Changes files in place, without losing what other programs wrote meanwhile."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from gram.documents import HeldFile, decode, holding

from .inputs.reading import read_text
from .process import interruptible
from .terminal.output import note

_TRIES, _PAUSE = 50, 0.02  # seconds; one second in all


def rewrite(file: str, change: Callable[[str, str], str]) -> bool:
    """Change the text of a file; a file that needs no change is not written.

    Before writing, the file is locked and read again; if another command has written it meanwhile,
    what it wrote is changed.

    Args:
        file: the name of the file.
        change: makes the new text from the old text and the name of the file.

    Returns:
        Whether the file was changed.

    Raises:
        OSError: the file cannot be read or written.
        GramDecodeError: the file is not UTF-8.
    """
    if Path(file).is_fifo():  # reading it would wait for a writer, and use up what it says
        raise OSError(errno.EINVAL, "a pipe cannot be written in place", file)
    text, name = read_text(file)
    new = change(text, name)
    if new == text:
        return False
    with interruptible(), _held(Path(file)) as held:
        content = held.read()
        if content is None:
            raise FileNotFoundError(errno.ENOENT, "removed while it was changed", file)
        now = decode(content, name)
        held.write(new if now == text else change(now, name))
    return True


@contextmanager
def _held(file: Path) -> Iterator[HeldFile]:
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
