"""Seals: what shows that the events of a run are as they were recorded, and lead to the same.

Each event, and the first entry, has a property ``verify`` of two halves:

- the checksum of the entry, and of the seal of the event before it: whether it was changed;
- the checksum of what it led to, which is what the run waits for since: whether this version
  makes the same of it.

Entries are compared in their canonical form, so that layout and comments do not count. An entry
without a seal is not compared: older versions wrote none, and whoever changes a file on purpose
removes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple
from zlib import crc32

from gram import Pattern

from ..machine import AgentFrame, Effect, Event, State, Status, step
from .fingerprints import Fingerprints
from .nodes import Node

VERIFY: Final = "verify"
"""The property; no other of an event is behind it in the order of the alphabet."""

_HALF: Final = 8  # hexadecimal digits of a CRC-32


class Folded(NamedTuple):
    """An event, and what it led to.

    Attributes:
        event: the event.
        effect: what it answers; None for `Resumed` and `TimeUp`.
        state: the State that it led to.
        new: what is to be done since.
        before: the State that the event was folded into, if that is known.
    """

    event: Event
    effect: Effect | None
    state: State
    new: Sequence[Effect]
    before: State | None = None

    @classmethod
    def of(cls, before: State, event: Event, effect: Effect | None = None) -> Folded:
        """Fold an event into a State.

        Raises:
            GramError: the run does not come to this event.
        """
        return cls(event, effect, *step(before, event), before)


class Seal(NamedTuple):
    """The seal of an entry that was read.

    Attributes:
        recorded: the one that it has, or "".
        entry: the first half that it should have.
    """

    recorded: str
    entry: str

    @classmethod
    def of(cls, entry: Pattern, before: str) -> Seal:
        """The seal of an entry.

        Args:
            entry: the entry.
            before: the seal of the event before it.
        """
        subject = entry.value
        recorded = subject.properties.get(VERIFY)
        if not isinstance(recorded, str):
            return UNSEALED
        properties = {key: each for key, each in subject.properties.items() if key != VERIFY}
        bare = Node(" ".join(sorted(subject.labels)), properties, entry.elements)
        return cls(recorded, seal_of_entry(bare.line(), before))

    @property
    def is_whole(self) -> bool:
        """Whether the entry is as it was recorded."""
        return self.recorded[:_HALF] == self.entry

    def leads_to(self, state: State, new: Sequence[Effect], fingerprints: Fingerprints) -> bool:
        """Whether what an entry leads to is what it led to, see `seal_of_rest`."""
        return not self.recorded or self.recorded[_HALF:] == seal_of_rest(state, new, fingerprints)


UNSEALED: Final = Seal("", "")


def seal_of_entry(line: str, before: str = "") -> str:
    """The first half of a seal, see `Seal`."""
    return _half(f"{before}{line}")


def seal_of_rest(state: State, new: Sequence[Effect], fingerprints: Fingerprints) -> str:
    """The second half of a seal.

    Args:
        state: the State that an entry led to.
        new: what is to be done since.
        fingerprints: makes fingerprints of it.
    """
    status = state.status
    if status is Status.DONE and not isinstance(state.frame, AgentFrame):
        answer = state.context[-1].content  # which no entry has
        return _half(f"{status.name}\0{answer}")
    if not new:
        return _half_of_status(status.name)
    return _half("\0".join([status.name, *map(fingerprints.of_effect, new)]))


def _half(text: str) -> str:
    """A checksum: whoever edits an entry by hand is told, and nobody is kept from anything."""
    return f"{crc32(text.encode(errors='surrogatepass')):08x}"


_half_of_status = cache(_half)
