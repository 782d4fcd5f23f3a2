"""The clock of a run: kept by whoever drives it, never by its state."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic


class Clock:
    """How much time a run has left.

    Args:
        seconds: how long it may take; None for as long as it needs.
    """

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else monotonic() + seconds

    @property
    def left(self) -> float | None:
        """The seconds left, none of them negative; None when there is no limit."""
        return None if self._end is None else max(0.0, self._end - monotonic())

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """What happens inside does not count, such as a person's thinking."""
        began = monotonic()
        try:
            yield
        finally:
            if self._end is not None:
                self._end += monotonic() - began
