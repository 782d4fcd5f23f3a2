"""Make an agent better, with evidence: a search that runs offline, with a simulated model.

No real model is asked. A function answers: it looks an order up if its instruction says so, and
answers at random otherwise. The proposer is a function; a model or an agent can be one, too.
"""

from __future__ import annotations

import tempfile
from hashlib import sha256
from itertools import cycle
from pathlib import Path
from typing import Any

from interp import Case, tool
from interp.evaluation import Arm, Question, improve
from interp.machine import Request

PROGRAM = """\
// Answers what customers ask about their orders.
[desk:Agent {
  instruction: "Answer the customer.",  // this is what may change
  model: "Simulated/desk"
} |
  [look_up:ToolSpecification {description: "Says where an order is"} | (order::Text)==>(::Text)]
]
"""
STATES = ("packed", "sent", "delivered")


def state_of(order: str) -> str:
    """Where an order is: drawn once and for all from its number."""
    return STATES[sha256(order.encode()).digest()[0] % 3]


@tool(description="Says where an order is")
def look_up(order: str) -> str:
    """Look an order up."""
    return state_of(order)


class SimulatedModel:
    """Calls the tool if it is told to; guesses otherwise."""

    def complete(self, request: Request) -> Any:
        """The reply to the last message."""
        last = request.messages[-1].content.strip('"')
        if last in STATES:
            return last
        order = last.split()[-1].strip("?")
        if "look" in request.instruction.casefold():
            call = {"name": "look_up", "arguments": f'{{"order": "{order}"}}'}
            return {"tool_calls": [{"id": "1", "type": "function", "function": call}]}
        return STATES[sha256(last.encode()).digest()[0] % 3]


ADVICE = cycle(["Be polite.", "Be brief.", "Look the order up before you answer."])


def propose(question: Question) -> dict[str, str]:
    """Two changes that do nothing, and one that helps."""
    return {path: f"{text} {next(ADVICE)}" for path, text in question.texts.items()}


def main() -> None:
    """Search, and print what came of it."""
    cases = [
        Case(name=f"A-{n}", input=f"Where is my order A-{n}?", expected=state_of(f"A-{n}"))
        for n in range(60)
    ]
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "desk.gram"
        program.write_text(PROGRAM, encoding="utf-8")
        found = improve(
            program,
            "desk.instruction",
            cases,
            base=Arm(tools=[look_up], model=SimulatedModel()),
            proposer=propose,
            looks=Path(folder) / "looks.gram",
            seed=1,
            progress=False,
            tell=print,
        )
        found.apply()
        print(found.verdict, found.comparison)
        print(*program.read_text(encoding="utf-8").splitlines()[2:3])


if __name__ == "__main__":
    main()
