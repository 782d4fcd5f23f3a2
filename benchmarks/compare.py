"""How the benchmarks measure: alternatives side by side in one run, told as ratios."""

from __future__ import annotations

import timeit
from collections.abc import Callable, Mapping


def compare(title: str, alternatives: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Time each alternative, the rounds interleaved, and print it as a multiple of the first.

    Returns:
        The best time of each, in seconds.
    """
    timers = {name: timeit.Timer(run) for name, run in alternatives.items()}
    number = max(1, next(iter(timers.values())).autorange()[0] // 4)
    best = dict.fromkeys(timers, float("inf"))
    for _ in range(7):
        for name, timer in timers.items():
            best[name] = min(best[name], timer.timeit(number) / number)
    print(title)
    first = next(iter(best.values()))
    for name, seconds in best.items():
        print(f"  {seconds / first:6.2f} x  {seconds * 1e6:10.2f} µs  {name}")
    return best
