"""Which effects may be performed next."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..machine import Ask, CallTool, Effect


def startable(
    waiting: Iterable[Effect],
    under_way: Iterable[Effect] = (),
    *,
    at_once: int | None = None,
    is_alone: Callable[[CallTool], bool] = lambda _: False,
) -> list[Effect]:
    """The effects that may begin now, the first to begin first.

    Everything but questions may begin at once, in the order of the calls. Questions come after
    that and one at a time, so that whatever needs no approval has been done when a run stops at a
    question that stays open.

    Args:
        waiting: what is to do.
        under_way: what has begun.
        at_once: how many may be under way at once; None is no limit.
        is_alone: whether no other call may be under way beside a call.

    >>> add, send, delete = (Ask((0, n), name, "{}") for n, name in enumerate(["a", "s", "d"]))
    >>> startable([add, send]) == [add], startable([send], under_way=[delete])
    (True, [])
    """
    going = list(under_way)
    questions: list[Effect] = []
    found: list[Effect] = []
    for each in waiting:
        if isinstance(each, Ask):
            questions.append(each)
            continue
        going_on = [other for other in (*going, *found) if not isinstance(other, Ask)]
        if at_once is not None and len(going_on) >= at_once:
            break
        calls = [other for other in going_on if isinstance(other, CallTool)]
        if isinstance(each, CallTool) and calls and any(map(is_alone, (each, *calls))):
            continue
        found.append(each)
    if any(isinstance(each, Ask) for each in going):
        return found
    return [*found, *questions[:1]]
