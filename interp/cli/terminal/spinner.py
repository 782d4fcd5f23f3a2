"""A line on the terminal that says what is being waited for, and for how many seconds."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
import unicodedata
from contextlib import suppress
from itertools import cycle
from typing import Any, Final, TextIO

from ...secrets import without_keys
from ...visible_text import visible_text
from .output import without_surrogates

_FRAMES: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_PLAIN_FRAMES: Final = "|/-\\"
_SECONDS_A_FRAME: Final = 0.1
_ERASE: Final = "\r\x1b[K"


class Spinner:
    """Shows what is waited for, on standard error, while there is a terminal for it.

    It is on a line of its own, which is erased when it stops. What a tool prints meanwhile is
    printed above it; while a tool reads from the terminal, nothing is shown.

    Args:
        is_wanted: whether to show anything.
    """

    def __init__(self, *, is_wanted: bool = True) -> None:
        self._is_wanted = is_wanted
        self._shown: _Line | None = None

    def start(self, text: str) -> None:
        """Say from now on that ``text`` is waited for, and nothing else any more."""
        self.stop()
        err = sys.stderr
        is_terminal = err is not None and err.isatty() and os.environ.get("TERM") != "dumb"
        if self._is_wanted and is_terminal:
            self._shown = _Line(text, err)

    def show_beside(self, text: str) -> None:
        """Show a text behind what is waited for, until that ends."""
        if self._shown is not None:
            self._shown.beside = _shown(text)

    def stop(self) -> None:
        """Erase the line."""
        if self._shown is not None:
            self._shown.close()
            self._shown = None


class _Line:
    """The line while it is shown; a thread draws it."""

    def __init__(self, text: str, terminal: TextIO) -> None:
        self.beside = ""
        self._text = _shown(text)
        self._terminal = terminal
        self._since = time.monotonic()
        self._is_closed = threading.Event()
        self._lock = threading.RLock()
        self._is_line_free = True  # whether what others printed ended with a line break
        self._streams = (sys.stdout, sys.stderr)
        self._aside = tuple(stream and _Aside(stream, self) for stream in self._streams)
        sys.stdout, sys.stderr = self._aside
        self._thread = threading.Thread(target=self._draw, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Erase the line, and end the thread."""
        self._is_closed.set()
        self._thread.join()
        if (sys.stdout, sys.stderr) == self._aside:  # else a tool has put its own there
            sys.stdout, sys.stderr = self._streams
        self.erase()

    def erase(self) -> None:
        """Take the line away until it is drawn again."""
        if self._is_line_free:
            self._write(_ERASE)

    def print_aside(self, stream: TextIO, text: str) -> int:
        """Print what others print, above the line."""
        with self._lock:
            self.erase()
            self._is_line_free = text.endswith("\n") or (self._is_line_free and not text)
            count = stream.write(text)
            stream.flush()
            return count

    def give_way(self) -> None:
        """Show nothing any more: something else takes the terminal, such as ``input``."""
        with self._lock:
            self.erase()
            self._is_line_free = False

    def _draw(self) -> None:
        is_unicode = (self._terminal.encoding or "").lower().replace("-", "") == "utf8"
        for frame in cycle(_FRAMES if is_unicode else _PLAIN_FRAMES):
            columns = shutil.get_terminal_size().columns
            seconds = f" {time.monotonic() - self._since:.0f}s"
            beside = _fitting(self.beside and f" {self.beside}", columns // 2)
            room = columns - sum(map(_width, seconds + beside)) - 3
            with self._lock:
                if self._is_line_free:
                    self._write(f"{_ERASE}{frame} {_fitting(self._text, room)}{seconds}{beside}")
            if self._is_closed.wait(_SECONDS_A_FRAME):
                return

    def _write(self, text: str) -> None:
        encoding = self._terminal.encoding or "ascii"
        with suppress(OSError, ValueError):  # the terminal is gone
            self._terminal.write(text.encode(encoding, "replace").decode(encoding))
            self._terminal.flush()


class _Aside:
    """A stream that prints above the line."""

    def __init__(self, stream: TextIO, line: _Line) -> None:
        self._stream = stream
        self._line = line

    def write(self, text: str) -> int:
        return self._line.print_aside(self._stream, text)

    def fileno(self) -> int:
        self._line.give_way()
        return self._stream.fileno()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _shown(text: str) -> str:
    return without_surrogates(visible_text(without_keys(text)))


def _fitting(text: str, room: int) -> str:
    """As much of a text as has room on the line.

    >>> _fitting("abcd", 4), _fitting("abcdef", 4), _fitting("日本語", 4)
    ('abcd', 'abc…', '日…')
    """
    if sum(map(_width, text)) <= room:
        return text
    kept = ""
    for char in text:
        room -= _width(char)
        if room < 1:
            break
        kept += char
    return f"{kept}…"


def _width(char: str) -> int:
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
