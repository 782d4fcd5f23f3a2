"""A/B by swapping: the same agent with two implementations of ``sayHello``.

The program says what the tool is; which Python stands behind it is decided when the agent runs.
"""

from pathlib import Path

from interp import ToolLibrary, load, run, tool

PROGRAM = Path(__file__).with_name("hello_world.gram")
DESCRIPTION = "Returns a friendly greeting message for the given name"


@tool(name="sayHello", description=DESCRIPTION)
def warmly(personName: str = "world") -> str:  # noqa: N803  # the program's name
    """Greets at length."""
    return f"Hello, {personName}! How lovely to see you."


@tool(name="sayHello", description=DESCRIPTION)
def briefly(personName: str = "world") -> str:  # noqa: N803  # the program's name
    """Greets in two words."""
    return f"Hi {personName}."


LIBRARIES = {"A": ToolLibrary.of([warmly]), "B": ToolLibrary.of([briefly])}


def main() -> None:
    """Run the same conversation with each library."""
    agent = load(PROGRAM)
    for name, library in LIBRARIES.items():
        response = run(agent, "Hello, I'm Alice!", library, model="Offline/rehearsal")
        print(f"{name}: {response.content}")


if __name__ == "__main__":
    main()
