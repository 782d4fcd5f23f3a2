"""A run that is recorded once and replayed ever after."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import unicodedata
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, TypeAlias

from attrs import define, field

from gram import write_atomically

from ...errors import AgentError, ConfigurationError, ReplayError
from ...history.records import RecordedRun
from ...history.replaying import UntilChanged, recorded
from ...history.stores import load_run
from ...machine import pending
from ...running import BeginOptions

Mode: TypeAlias = Literal["once", "changed", "none", "all"]
"""What is recorded: runs without a recording, those too in what they ask otherwise than their
recording, nothing, or all runs anew."""

SUFFIX = ".run.gram"
_MOST_BYTES = 150  # of a file name, which may have 255 with what is added


@define
class Recording:
    """One run of a test, and the file it is recorded in.

    Attributes:
        path: the file; None if the run is not to be kept.
        mode: whether it is recorded or replayed.
        hint: how to record it, for messages.
        run: the run as it was, for as long as it is known; None before it began.
        was_replayed: whether that run was answered by what was recorded.
    """

    path: Path | None = None
    mode: Mode = "once"
    hint: str = ""
    run: RecordedRun | None = field(default=None, repr=False)
    was_replayed: bool = field(default=False, init=False)
    _changing: UntilChanged | None = field(default=None, init=False, repr=False)

    @property
    def is_replayed(self) -> bool:
        """Whether the run is answered by what was recorded, with `changed` as far as it fits."""
        if self.path is None or self.mode == "all":
            return False
        return self.mode == "none" or self.path.exists()

    @property
    def may_ask(self) -> bool:
        """Whether models may be asked, and tools may run."""
        return self.mode == "changed" or not self.is_replayed

    def beside(self, name: str) -> Recording:
        """The recording of another run that belongs to this one, such as that of its judge."""
        stem = self.path and self.path.name.removesuffix(SUFFIX)
        path = self.path and self.path.with_name(f"{stem}+{name}{SUFFIX}")
        return Recording(path, self.mode, self.hint)

    def around_judge(
        self, rubric: int, options: BeginOptions
    ) -> AbstractContextManager[BeginOptions]:
        """The same as `around` for the run of the judge of a rubric, by its number from 0."""
        return self.beside(f"judge{rubric + 1}").around(options)

    @contextmanager
    def around(self, options: BeginOptions) -> Iterator[BeginOptions]:
        """The options with which a run is recorded or replayed; the run takes place inside.

        A recording is written when the run has ended as its events say: with an answer, or at a
        limit. A run that was broken off by an error or by Ctrl-C leaves no recording.

        Raises:
            ReplayError: nothing is recorded, or the run is not the recorded one.
            OSError: the recording cannot be written.
        """
        if taken := sorted({"record", "handler"} & options.keys()):
            if self.path is None:
                yield options
                return
            raise ConfigurationError(f"a recorded test has its own {' and '.join(taken)}")
        with TemporaryDirectory(prefix="gram-") as folder:
            file = Path(folder) / f"this{SUFFIX}"
            added: BeginOptions = {"record": file}
            self._changing, self.was_replayed = None, self.is_replayed
            try:
                self.prepare()
                if self.is_replayed and self.may_ask:
                    added["handler"] = self._changing = UntilChanged.of(self._existing())
                elif self.is_replayed:
                    added["handler"] = recorded(self._existing())
                yield {**options, **added}
            except ReplayError as error:
                raise self._told(error) from None
            except AgentError as error:
                if error.state and not pending(error.state):
                    self._keep(file)
                raise
            else:
                self._keep(file)
            finally:
                if file.exists():
                    self.run = load_run(file)

    def prepare(self) -> None:
        """Make sure that the run can be recorded, before anything is asked that would be lost.

        Raises:
            OSError: the folder of the recording cannot be made, or not be written to.
        """
        if self.path is None or not self.may_ask:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not os.access(self.path.parent, os.W_OK):
            reason = "recordings cannot be written here"
            raise PermissionError(errno.EACCES, reason, str(self.path.parent))

    def _existing(self) -> Path:
        assert self.path
        if not self.path.exists():
            raise ReplayError("there is no recording")
        return self.path

    def _told(self, error: ReplayError) -> ReplayError:
        """The error with the file, named once, and how to record it anew."""
        has_place = str(error).startswith(f"{self.path}:")
        told = ReplayError(f"{error if has_place else f'{self.path}: {error}'}{self.hint}")
        told.state = error.state
        return told

    def _keep(self, file: Path) -> None:
        is_new = self._changing.is_changed if self._changing else not self.was_replayed
        if self.path and is_new:
            write_atomically(self.path, file.read_text("utf-8"))


def file_name(name: str) -> str:
    """A name of a test or case as one of a file, without its ending.

    Letters, digits and ``_ . -`` are kept. Names that would become the same one get a part of a
    hash each. Known keys are replaced.

    >>> file_name("greets-Alice"), file_name("a/b")
    ('greets-Alice', 'a-b-c14cddc0')
    """
    kept = re.sub(r"[^\w.-]+", "-", unicodedata.normalize("NFC", name)).strip(".-")
    kept = kept.encode()[:_MOST_BYTES].decode(errors="ignore")
    if kept and kept == name:
        return kept
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:8]
    return f"{kept}-{digest}" if kept else digest
