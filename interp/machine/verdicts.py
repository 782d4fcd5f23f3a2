"""How an event and what follows from it are taken, for those that lose their keys in a record.

What a run's record has instead of a key need not fit where the key did, or fits where it did not.
So an event of such a record says how it was taken: which calls and uses of nodes were run, asked
about or refused, and which results and answers were of their types. It is taken so again.
"""

from __future__ import annotations

from attrs import evolve

from .effects import At, Event, TimeUp, Verdict
from .fold import step
from .state import State


def with_verdicts(before: State, event: Event) -> Event:
    """An event that says how it is taken.

    Args:
        before: the State that it is folded into.
        event: the event.
    """
    if isinstance(event, TimeUp):
        return event
    found: dict[tuple[str, At], str] = {(each.of, each.at): each.said for each in event.verdicts}
    step(State(evolve(before.shared, verdicts=found), before.frame), evolve(event, verdicts=()))
    verdicts = tuple(Verdict(of, at, said) for (of, at), said in found.items())
    return evolve(event, verdicts=verdicts)
