"""What a server writes to its standard error: logged, and its end kept for messages."""

from __future__ import annotations

import logging
import os
import threading
from collections import deque
from typing import TextIO

from .untrusted import said

_LINE = 4_000  # characters
_PATIENCE = 0.5  # seconds

_log = logging.getLogger("interp.mcp")


class ErrorLines:
    """A pipe for the standard error of a server; a thread reads it."""

    def __init__(self, server: str) -> None:
        reading, writing = os.pipe()
        self.writer: TextIO = os.fdopen(writing, "w")
        self._last: deque[str] = deque(maxlen=3)
        self._reader = threading.Thread(target=self._read, args=(server, reading), daemon=True)
        self._reader.start()

    def last(self) -> str:
        """The last lines of a server that has ended."""
        self.writer.close()
        self._reader.join(_PATIENCE)
        return "\n".join(self._last)

    def _read(self, server: str, reading: int) -> None:
        with os.fdopen(reading, encoding="utf-8", errors="replace") as lines:
            while line := lines.readline(_LINE):
                if shown := said(line):
                    self._last.append(shown)
                    _log.debug("%s: %s", server, shown)
