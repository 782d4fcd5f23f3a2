"""How the cost of a run grows: with earlier messages, with tools and with rounds, each a plot.

Run it with ``python -m benchmarks.growth``; it prints each figure when it is known, and draws
docs/plots. Runs go over HTTP but those with many rounds, and what counts is CPU time, the least of
some turns. It takes about two minutes.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path

from benchmarks.model_server import serving
from benchmarks.plots import plot
from benchmarks.runs import CONTENDERS, LOOP, OURS, worker

GROWTH = (
    ("messages", "earlier messages", "over_http", "earlier", (0, 1_000, 2_500, 5_000, 10_000)),
    ("tools", "tools", "over_http", "tools", (1, 10, 25, 50, 100)),
    ("rounds", "rounds, in process", "in_process", "rounds", (1, 10, 25, 50, 100)),
)
PLOTS = Path(__file__).parent.parent / "docs" / "inside" / "plots"
_FEW = 100
"""Up to this size a run is short, so that more of them are measured."""


def main() -> None:
    """Measure each, print it and draw its plot; the loop has only messages that can be many."""
    with serving() as url, ExitStack() as stack:
        for file, title, what, name, sizes in GROWTH:
            contenders = (OURS, LOOP) if name == "earlier" else (OURS,)
            asks = {
                each: stack.enter_context(
                    worker(CONTENDERS[each].python, CONTENDERS[each].module, url)
                )
                for each in contenders
            }
            lines: dict[str, list[tuple[float, float]]] = defaultdict(list)
            print(f"\nmilliseconds of CPU a run, by {title}", flush=True)
            for size in sizes:
                request = {
                    "what": what,
                    "arguments": {name: size},
                    "times": 10 if size <= _FEW else 1,
                }
                turns = 6 if size <= _FEW else 3
                for each, ask in asks.items():
                    cost = min(ask(request)["cpu"] for _ in range(turns)) * 1e3
                    lines[each].append((size, cost))
                    print(f"{size:>7,} {cost:8.2f}  {each}", flush=True)
            plot(PLOTS / f"{file}.svg", f"One run, by {title}", title, "milliseconds of CPU", lines)


if __name__ == "__main__":
    main()
