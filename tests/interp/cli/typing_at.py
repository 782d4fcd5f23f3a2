"""The command line at a pseudo-terminal: what is typed, and what is seen."""

from __future__ import annotations

import os
import pty
import re
import select
import time
from contextlib import suppress
from pathlib import Path

from tests.interp.cli.process import without_keys
from tests.interp.forked import COMMANDS
from tests.interp.forking import Forked
from tests.paths import ROOT

_CONTROL = re.compile(r"\x1b\[[?0-9;]*[a-zA-Z]|\r")


class Terminal:
    """A command at a pseudo-terminal: what is typed, and what is seen.

    Args:
        arguments: the command's.
        answers: a file for its standard output, which is the terminal too otherwise.
        told: a file for its standard error, likewise.
        fed: a file for its standard input, likewise.
        environment: variables beside those that are there.
    """

    def __init__(
        self,
        *arguments: str,
        answers: str | Path | None = None,
        told: str | Path | None = None,
        fed: str | Path | None = None,
        **environment: str,
    ) -> None:
        self._mine, theirs = pty.openpty()
        files = (Path(answers or os.devnull), Path(told or os.devnull))
        given = Path(fed or os.devnull)
        with files[0].open("wb") as out, files[1].open("wb") as err, given.open("rb") as said:
            self._process = Forked(
                COMMANDS,
                arguments,
                environment=without_keys() | {"TERM": "dumb"} | environment,
                cwd=ROOT,
                streams=(
                    said if fed else theirs,
                    out if answers else theirs,
                    err if told else theirs,
                ),
                at_terminal=True,
            )
        os.close(theirs)
        self.seen = ""
        self.raw = ""  # with the codes for colours and the cursor

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._mine)

    def type(self, text: str) -> None:
        """Type some text; a line ends with a line break."""
        os.write(self._mine, text.encode())

    def say(self, text: str, seen: str) -> str:
        """Type a line at the prompt of a chat, and wait until a text is seen, as `until` does."""
        self.until("> ")
        self.type(f"{text}\n")
        return self.until(seen)

    def insist(self, key: str, text: str) -> None:
        """Type a key, more than once if it has to be, until a text is seen.

        Python's readline overlooks a signal that comes just before it begins to wait.
        """
        for _ in range(10):
            self.type(key)
            deadline = time.monotonic() + 2
            while text not in self.seen and time.monotonic() < deadline:
                self._read()
            if text in self.seen:
                break
        self.until(text)

    def until(self, text: str) -> str:
        """Wait until a text is seen; give what was seen since the last wait."""
        deadline = time.monotonic() + 30
        while text not in self.seen:
            assert time.monotonic() < deadline, f"never saw {text!r} in {self.seen!r}"
            if not self._read():
                assert text in self.seen, f"ended without {text!r}: {self.seen!r}"
        found, _, self.seen = self.seen.partition(text)
        return found + text

    def leaves_by(self, key: str) -> int:
        """Type a key, more than once if it has to be, until the command ends; give its exit code.

        A key that comes while the terminal changes its mode can be overlooked, as in `insist`.
        """
        for _ in range(10):
            with suppress(OSError):  # it has ended meanwhile
                self.type(key)
            deadline = time.monotonic() + 2
            while time.monotonic() < deadline:
                if not self._read():
                    return self.leaves()
        return self.leaves()

    def leaves(self) -> int:
        """Wait until the command ends; give its exit code."""
        deadline = time.monotonic() + 30
        while self._read():
            assert time.monotonic() < deadline, f"never left: {self.seen!r}"
        return self._process.wait(30)

    def _read(self) -> bool:
        """Take in what is there; False when the other side is closed."""
        ready, _, _ = select.select([self._mine], [], [], 0.5)
        if not ready:
            return self._process.poll() is None
        try:
            read = os.read(self._mine, 65536)
        except OSError:  # how a pseudo-terminal says that its other side is closed
            return False
        self.raw += read.decode(errors="replace")
        self.seen += _CONTROL.sub("", read.decode(errors="replace"))
        return bool(read)
