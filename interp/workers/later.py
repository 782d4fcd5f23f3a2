"""That a run does not go on now: it goes on later, or with another worker."""

from __future__ import annotations

from .shared_limits import LONGEST_WAIT


class LaterError(Exception):
    """A run is to go on later.

    Attributes:
        seconds: how much later, an hour at most.
    """

    def __init__(self, reason: str, seconds: float) -> None:
        super().__init__(reason)
        self.seconds = min(seconds, LONGEST_WAIT)


class ElsewhereError(LaterError):
    """A run cannot be driven here, nor can those of its queue: others may take them at once."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, 0.0)
