"""How the cost of a run grows: with earlier messages, with tools and with rounds, each a plot.

Run it with ``python -m benchmarks.growth``. Runs go over HTTP but those with many rounds, and what
counts is CPU time, the least of some turns.
"""

from __future__ import annotations

import sys

from benchmarks.model_server import serving
from benchmarks.runs import CONTENDERS, OURS, worker

GROWTH = (
    ("earlier messages", "over_http", "earlier", (0, 10, 100, 1_000, 10_000)),
    ("tools", "over_http", "tools", (1, 10, 50, 100)),
    ("rounds, in process", "in_process", "rounds", (1, 10, 50, 100)),
)
_WIDTH = 40


def main() -> None:
    """Measure each and print its plot."""
    with serving() as url, worker(sys.executable, CONTENDERS[OURS].module, url) as ask:
        for title, what, name, sizes in GROWTH:
            request = {"what": what, "times": 10}
            costs = {
                size: min(ask({**request, "arguments": {name: size}})["cpu"] for _ in range(3))
                for size in sizes
            }
            print(f"\nmilliseconds of CPU a run, by {title}")
            for size, cost in costs.items():
                bar = "█" * max(1, round(_WIDTH * cost / max(costs.values())))
                print(f"{size:>7,} {cost * 1e3:8.2f}  {bar}")


if __name__ == "__main__":
    main()
