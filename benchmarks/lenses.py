"""What a lens costs: view, put and over against the same by hand around one call into `lenses`.

Run it from the project's root with ``python -m benchmarks.lenses`` (run as a file it would stand in
the way of the package it measures).
"""

from __future__ import annotations

import attrs
from lenses import lens

from benchmarks.compare import compare
from gram import Pattern
from lenses_ext import agent_instruction, agent_model, create_agent_pattern, over, put, view

AGENT = create_agent_pattern("greeter", "Greets people.", "Offline/rehearsal", "Greet the user.")


def read(agent: Pattern) -> str:
    """The instruction, by hand."""
    return str(agent.value.properties["instruction"])


def written(agent: Pattern, text: str) -> Pattern:
    """The agent with another instruction, by hand."""
    properties = agent.value.properties.set("instruction", text)
    return attrs.evolve(agent, value=attrs.evolve(agent.value, properties=properties))


by_hand = lens.Lens(read, written)


def main() -> None:
    """Compare each operation with the same by hand."""
    ours = {
        "view": lambda: view(agent_instruction, AGENT),
        "put": lambda: put(agent_instruction, "x", AGENT),
        "over": lambda: over(agent_instruction, str.upper, AGENT),
    }
    hand = {
        "view": lambda: by_hand.get()(AGENT),
        "put": lambda: by_hand.set("x")(AGENT),
        "over": lambda: by_hand.modify(str.upper)(AGENT),
    }
    for name in ours:
        compare(name, {"by hand": hand[name], "agent_instruction": ours[name]})
    compare("view", {"by hand": hand["view"], "agent_model": lambda: view(agent_model, AGENT)})


if __name__ == "__main__":
    main()
