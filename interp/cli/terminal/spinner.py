"""A line on the terminal that says what is being waited for, and for how many seconds."""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TextIO

from ...secrets import without_keys
from ...shown import visible_text
from .output import without_surrogates

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

_FRAMES: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_PLAIN_FRAMES: Final = "|/-\\"


class Spinner:
    """Shows what is waited for, on standard error, while there is a terminal for it.

    It is on a line of its own, which is erased when it stops. What a tool prints meanwhile is
    printed above it; while a tool reads from the terminal, nothing is shown.

    Args:
        is_wanted: whether to show anything.
    """

    def __init__(self, *, is_wanted: bool = True) -> None:
        self._is_wanted = is_wanted
        self._text = self._beside = ""
        self._live: Live | None = None  # while it is shown
        self._lock = threading.RLock()

    def start(self, text: str) -> None:
        """Say from now on that ``text`` is waited for, and nothing else any more."""
        self.stop()
        err = sys.stderr
        is_terminal = err is not None and err.isatty() and os.environ.get("TERM") != "dumb"
        if not (self._is_wanted and is_terminal):
            return
        from rich.console import Console  # imported late: only terminals need it
        from rich.live import Live

        self._text, self._beside, self._since = text, "", time.monotonic()
        self._console = Console(file=err)
        self._frames = _PLAIN_FRAMES if self._console.options.ascii_only else _FRAMES
        self._live = Live(
            get_renderable=self._drawn,
            console=self._console,
            transient=True,
            refresh_per_second=10,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._streams = (sys.stdout, sys.stderr)
        self._aside = tuple(stream and _Aside(stream, self) for stream in self._streams)
        sys.stdout, sys.stderr = self._aside
        self._show()

    def show_beside(self, text: str) -> None:
        """Show a text behind what is waited for, until that ends."""
        self._beside = text

    def stop(self) -> None:
        """Erase the line for good."""
        if self._live is not None:
            with self._lock:
                self.erase()
                self._live = None
            if (sys.stdout, sys.stderr) == self._aside:  # else a tool has put its own there
                sys.stdout, sys.stderr = self._streams

    def erase(self) -> None:
        """Take the line away, as where something else takes the terminal, such as ``input``."""
        with self._lock, suppress(OSError, ValueError):  # the terminal is gone
            if self._live is not None:
                self._live.stop()

    def print_aside(self, stream: TextIO, text: str) -> int:
        """Print what others print, above the line."""
        with self._lock:
            self.erase()
            count = stream.write(text)
            stream.flush()
            if text.endswith("\n"):
                self._show()
            return count

    def _show(self) -> None:
        with suppress(OSError, ValueError):
            if self._live is not None:
                self._live.start(refresh=True)

    def _drawn(self) -> Text:
        from rich.text import Text

        def part(text: str, room: int) -> Text:
            shown = Text(without_surrogates(visible_text(without_keys(text))))
            shown.truncate(max(room, 1), overflow="ellipsis")
            return shown

        elapsed, width = time.monotonic() - self._since, self._console.width
        frame, seconds = self._frames[int(elapsed * 10) % len(self._frames)], f" {elapsed:.0f}s"
        beside = part(self._beside and f" {self._beside}", width // 2)
        text = part(self._text, width - len(seconds) - beside.cell_len - 3)
        return Text.assemble(frame, " ", text, seconds, beside)


class _Aside:
    """A stream that prints above the line."""

    def __init__(self, stream: TextIO, spinner: Spinner) -> None:
        self._stream = stream
        self._spinner = spinner

    def write(self, text: str) -> int:
        return self._spinner.print_aside(self._stream, text)

    def fileno(self) -> int:
        self._spinner.erase()
        return self._stream.fileno()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
