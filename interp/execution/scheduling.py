"""Which effects may be performed next: one answer for both drivers, so that both stop alike."""

from __future__ import annotations

from collections.abc import Iterable

from ..machine import Ask, Effect


def startable(waiting: Iterable[Effect], under_way: Iterable[Effect] = ()) -> list[Effect]:
    """The effects that may begin now, the first to begin first.

    Everything but questions may begin at once, in the order of the calls. Questions come after
    that and one at a time, so that whatever needs no approval has been done when a run stops at a
    question that stays open.

    >>> add, send, delete = (Ask((0, n), name, "{}") for n, name in enumerate(["a", "s", "d"]))
    >>> startable([add, send]) == [add], startable([send], under_way=[delete])
    (True, [])
    """
    waiting = list(waiting)
    free: list[Effect] = [each for each in waiting if not isinstance(each, Ask)]
    if any(isinstance(each, Ask) for each in under_way):
        return free
    return free + [each for each in waiting if isinstance(each, Ask)][:1]
