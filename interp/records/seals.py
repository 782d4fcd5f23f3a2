"""Seals: what shows that the events of a run are as they were recorded, and lead to the same.

Each event, and the first entry, has a property ``verify`` of two halves:

- the fingerprint of the entry, and of the seal of the event before it: whether it was changed;
- the fingerprint of what the event led to, which is what the run waits for since: whether this
  version makes the same of it. The first entry has none.

Entries are compared in their canonical form, so that layout and comments do not count. An entry
without a seal is not compared: older versions wrote none, and whoever changes a file on purpose
removes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from typing import Final, NamedTuple

from attrs import evolve

from gram import Pattern

from ..machine import AgentFrame, Effect, Event, State, Status, step
from .fingerprints import Fingerprints
from .nodes import pattern_line

VERIFY: Final = "verify"
"""The property; no other of an event is behind it in the order of the alphabet."""

_HALF: Final = 8  # hexadecimal digits


class Folded(NamedTuple):
    """An event, and what it led to.

    Attributes:
        event: the event.
        effect: what it answers; None for `Resumed` and `TimeUp`.
        state: the State that it led to.
        new: what is to be done since.
    """

    event: Event
    effect: Effect | None
    state: State
    new: Sequence[Effect]

    @classmethod
    def of(cls, before: State, event: Event, effect: Effect | None = None) -> Folded:
        """Fold an event into a State.

        Raises:
            GramError: the run does not come to this event.
        """
        return cls(event, effect, *step(before, event))


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
        bare = evolve(subject, properties=subject.properties.remove(VERIFY))
        return cls(recorded, seal_of_entry(pattern_line(evolve(entry, value=bare)), before))

    @property
    def is_whole(self) -> bool:
        """Whether the entry is as it was recorded."""
        return self.recorded[:_HALF] == self.entry

    def leads_to(self, folded: Folded, fingerprints: Fingerprints) -> bool:
        """Whether an event leads to what it led to."""
        return not self.recorded or self.recorded[_HALF:] == seal_of_rest(folded, fingerprints)


UNSEALED: Final = Seal("", "")


def seal_of_entry(line: str, before: str = "") -> str:
    """The first half of a seal, see `Seal`."""
    return _half(f"{before}{line}")


def seal_of_rest(folded: Folded, fingerprints: Fingerprints) -> str:
    """The second half of a seal: what the run waits for since an event."""
    state = folded.state
    parts = [state.status.name, *map(fingerprints.of_effect, folded.new)]
    if state.status is Status.DONE and not isinstance(state.frame, AgentFrame):
        parts.append(fingerprints.of_json(state.context[-1].content))  # no entry has that answer
    return _half("\0".join(parts)) if len(parts) > 1 else _half_of_status(parts[0])


def _half(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:_HALF]


_half_of_status = cache(_half)
