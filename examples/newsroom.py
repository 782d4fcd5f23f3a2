"""A newsroom: facts are found, then an article is written and edited until the editor approves.

Run it with ``python examples/newsroom.py``. Instead of a model, a cast answers with lines that it
was given; leave ``model=`` out to ask the models that the program names.
"""

from pathlib import Path
from typing import Any

from interp import ToolLibrary, load, run, tool
from interp.machine import Effect, ModelReplied, Request

PROGRAM = Path(__file__).with_name("newsroom.gram")


@tool
def search(topic: str) -> str:
    """Searches the archive for facts about a topic"""
    return f"Two facts about {topic}: it has no air, and a day there lasts a month."


LINES = {
    "Look the topic up": [
        {"tool_calls": [{"function": {"name": "search", "arguments": '{"topic": "the moon"}'}}]},
        "It has no air. A day lasts a month.",
    ],
    "Write the article": [
        "The moon has no air.",
        "The moon has no air, and a day there lasts a month.",
    ],
    "Judge the article": [
        '{"verdict": "again", "remarks": "Say how long a day is."}',
        '{"verdict": "approved", "remarks": "Good."}',
    ],
}


class Cast:
    """A model that answers each agent with the next of its lines, told by the instruction."""

    def __init__(self) -> None:
        self.lines = {start: iter(lines) for start, lines in LINES.items()}

    def complete(self, request: Request) -> Any:
        """The next line of the agent that asks."""
        return next(
            next(lines)
            for start, lines in self.lines.items()
            if request.instruction.startswith(start)
        )


def main() -> None:
    """Write about the moon, and show who said what."""
    response = run(load(PROGRAM), "the moon", ToolLibrary.of([search]), model=Cast(), observe=tell)
    print(response.content)


def tell(effect: Effect, event: object) -> None:
    """Print where a step of the run stands, and what was said."""
    said = event.message.content if isinstance(event, ModelReplied) else "a tool returned"
    print(*effect.at, said or "calls a tool", sep=" / ")


if __name__ == "__main__":
    main()
