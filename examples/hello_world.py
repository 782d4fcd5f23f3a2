"""Hello, world: load a program, give it a tool written in Python, and talk to it.

Run it with ``python examples/hello_world.py``. It rehearses without a model; leave ``model=`` out
and set OPENAI_API_KEY to ask the model that the program names.
"""

from pathlib import Path

from interp import ToolLibrary, load, run, tool

PROGRAM = Path(__file__).with_name("hello_world.gram")


@tool
def sayHello(personName: str = "world") -> str:  # noqa: N802, N803  # the program's names
    """Returns a friendly greeting message for the given name"""
    return f"Hello, {personName}! Nice to meet you."


library = ToolLibrary.of([sayHello])


def main() -> None:
    """Greet Alice and show which tool was used."""
    agent = load(PROGRAM)
    response = run(agent, "Hello, I'm Alice!", library, model="Offline/rehearsal")
    print(response.content)
    print(response.tools_used)


if __name__ == "__main__":
    main()
