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
    free: list[Effect] = []
    question: Ask | None = None
    for each in waiting:
        if not isinstance(each, Ask):
            free.append(each)
        elif question is None:
            question = each
    if question is None or any(isinstance(each, Ask) for each in under_way):
        return free
    return [*free, question]
