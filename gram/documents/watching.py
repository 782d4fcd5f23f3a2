"""Files whose changes are looked for."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from pathlib import Path


class WatchedFiles:
    """Some files, and how they were when they were looked at last.

    Args:
        files: the files.
    """

    def __init__(self, files: Iterable[Path]) -> None:
        self._seen = {path: _stamp(path) for path in files}

    def have_changed(self) -> bool:
        """Whether one has changed since the last look."""
        before, self._seen = self._seen, {path: _stamp(path) for path in self._seen}
        return before != self._seen

    def expect_regular(self) -> None:
        """Refuse folders and pipes where files were: reading a pipe may wait for ever.

        Raises:
            OSError: one is there, and is no file.
        """
        for path in self._seen:
            if path.exists() and not path.is_file():
                raise OSError(errno.EINVAL, "not a regular file", str(path))

    def are(self, files: Iterable[Path]) -> None:
        """Watch other files from now on; those that were watched before stay as they were seen."""
        before = self._seen
        self._seen = {path: before[path] if path in before else _stamp(path) for path in files}


def _stamp(path: Path) -> tuple[int, int] | None:
    """When a file was changed, and how long it is; None if it does not exist."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
