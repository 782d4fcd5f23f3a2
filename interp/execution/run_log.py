"""Where a run is recorded: a file, or a store."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import ClassVar, NamedTuple, Protocol

from ..machine import Effect, Event, State
from ..tools import Tool
from .run_notes import Note


class Folded(NamedTuple):
    """An event, and what it led to.

    Attributes:
        event: the event.
        effect: what it answers; None for `CallBegun`, `Resumed` and `TimeUp`.
        state: the State that it led to.
    """

    event: Event
    effect: Effect | None
    state: State


class RunLog(Protocol):
    """What the entries of one run are written to, see `RunFile`.

    Attributes:
        blocks: whether it may take long to answer, so that it is asked in a thread.
        has_begun: whether it has its first entry.
    """

    blocks: ClassVar[bool]
    has_begun: bool

    @property
    def name(self) -> str:
        """How messages name it."""

    def begin(self, state: State, tools: Iterable[Tool]) -> None:
        """Make it, with its first entry and the events of the State.

        Raises:
            OSError, StoreError: it exists, or cannot be written.
        """

    def held(
        self, standing: Callable[[], State] | None = None
    ) -> AbstractContextManager[tuple[Event, ...]]:
        """Keep others from writing to it.

        Events that the State has and the log has not are written. What it gives are those that
        the log has and the State has not, to be folded: whoever wrote them was stopped before it
        folded them.

        Args:
            standing: gives the State of the run, which is asked for when it is taken up, and when
                it is let go.

        Raises:
            OSError, StoreError: it cannot be written, or somebody else writes to it.
        """

    def append(self, folded: Folded, seconds: float | None = None) -> None:
        """Write an event; the log has to be held.

        Args:
            folded: the event, what it answers and what it led to.
            seconds: how long the effect took that it answers, if that is known.

        Raises:
            OSError, StoreError: it cannot be written.
        """

    def note(self, note: Note) -> None:
        """Write a note; nothing is written once the log is let go.

        Raises:
            OSError, StoreError: it cannot be written.
        """
