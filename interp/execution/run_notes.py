"""Notes of a recorded run: what happened that no State depends on.

They stand between the events and are kept, but not folded. `note_pattern` says how they are
written.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final, TypeAlias, Union

from attrs import field, frozen

from ..machine import At


def now() -> datetime:
    """The time, as notes have it."""
    return datetime.now(UTC)


CANCELLED: Final = "cancelled"
"""What a run was stopped by that was ended for good, see `cancel_run`."""


@frozen
class Begun:
    """The model is asked, or a tool is run that may run again; see `interp.machine.CallBegun`.

    Attributes:
        at: the position.
        time: when.
    """

    at: At
    time: datetime = field(factory=now)


@frozen
class Retried:
    """A request is sent again.

    Attributes:
        at: the position.
        error: what went wrong with the one before.
        wait: how many seconds later.
    """

    at: At
    error: str
    wait: float


@frozen
class Failed:
    """The model or a tool gave no event.

    Attributes:
        at: the position.
        error: what went wrong.
        seconds: how long it took.
    """

    at: At
    error: str
    seconds: float


@frozen
class Stopped:
    """The run stopped before its end.

    Attributes:
        error: why.
        time: when.
    """

    error: str
    time: datetime = field(factory=now)


Note: TypeAlias = Union[Begun, Retried, Failed, Stopped]
