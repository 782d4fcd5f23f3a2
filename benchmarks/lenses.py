"""What a lens costs: view, put and over against the same by hand around one call into `lenses`.

Run it from the project's root with ``python -m benchmarks.lenses`` (run as a file it would stand in
the way of the package it measures). The last column is ours divided by theirs.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable

import attrs
from lenses import lens

from gram import Pattern
from lenses_ext import agent_instruction, agent_model, create_agent_pattern, over, put, view

AGENT = create_agent_pattern("greeter", "Greets people.", "Offline/rehearsal", "Greet the user.")
CALLS = 2_000
REPEATS = 7


def read(agent: Pattern) -> str:
    """The instruction, by hand."""
    return str(agent.value.properties["instruction"])


def written(agent: Pattern, text: str) -> Pattern:
    """The agent with another instruction, by hand."""
    properties = agent.value.properties.set("instruction", text)
    return attrs.evolve(agent, value=attrs.evolve(agent.value, properties=properties))


by_hand = lens.Lens(read, written)

ROWS: list[tuple[str, Callable[[], object], Callable[[], object]]] = [
    ("view", lambda: view(agent_instruction, AGENT), lambda: by_hand.get()(AGENT)),
    ("put", lambda: put(agent_instruction, "x", AGENT), lambda: by_hand.set("x")(AGENT)),
    (
        "over",
        lambda: over(agent_instruction, str.upper, AGENT),
        lambda: by_hand.modify(str.upper)(AGENT),
    ),
    ("view agent_model", lambda: view(agent_model, AGENT), lambda: by_hand.get()(AGENT)),
]


def microseconds(function: Callable[[], object]) -> float:
    """The least time of one call."""
    return min(timeit.repeat(function, number=CALLS, repeat=REPEATS)) / CALLS * 1e6


def main() -> None:
    """Print a row for each operation."""
    print(f"{'':18}{'ours µs':>10}{'by hand µs':>12}{'ratio':>8}")
    for name, ours, theirs in ROWS:
        mine, hand = microseconds(ours), microseconds(theirs)
        print(f"{name:18}{mine:10.1f}{hand:12.1f}{mine / hand:8.2f}")


if __name__ == "__main__":
    main()
