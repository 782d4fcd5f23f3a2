"""Cycles among things that lead to each other, and what some of them lead to."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


def cycles(leads_to: Mapping[K, Iterable[K]]) -> Iterator[list[K]]:
    """For each way that closes a circle, what is along it: the last leads back to the first.

    >>> list(cycles({"a": ["b"], "b": ["c", "b"], "c": ["a"]}))
    [['a', 'b', 'c'], ['b']]
    """
    done: set[K] = set()
    for start in leads_to:
        way = [start]
        pending = [iter(() if start in done else leads_to[start])]
        entered = {start: 0}
        while pending:
            for each in pending[-1]:
                if each in entered:
                    yield way[entered[each] :]
                elif each in leads_to and each not in done:
                    entered[each] = len(way)
                    way.append(each)
                    pending.append(iter(leads_to[each]))
                    break
            else:
                pending.pop()
                done.add(last := way.pop())
                del entered[last]


def reached(starts: Iterable[K], leads_to: Callable[[K], Iterable[K]]) -> dict[K, None]:
    """What things lead to, at any distance, and they themselves: the nearest first.

    >>> list(reached(["a"], {"a": ["b"], "b": ["c", "a"], "c": []}.__getitem__))
    ['a', 'b', 'c']
    """
    found = dict.fromkeys(starts)
    pending = [*found]
    for each in pending:
        for other in leads_to(each):
            if other not in found:
                found[other] = None
                pending.append(other)
    return found
