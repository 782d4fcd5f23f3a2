"""A skill: a text in a folder that the model reads when it needs it.

Run it with ``python examples/skills.py``. Instead of a model, a script answers; leave ``model=``
out to ask the model that the program names.
"""

from pathlib import Path

from interp import ScriptedModel, ToolLibrary, load, run, tool

PROGRAM = Path(__file__).with_name("skills.gram")


@tool(name="findOrder")
def find_order(number: int) -> str:
    """Looks up the order of a customer"""
    return f"order {number}, bought 12 days ago for 40"


def main() -> None:
    """Ask about a refund."""
    replies = [
        {"tool_calls": [{"function": {"name": "refunds", "arguments": "{}"}}]},
        {"tool_calls": [{"function": {"name": "findOrder", "arguments": '{"number": 7}'}}]},
        "You get your 40 back.",
    ]
    model = ScriptedModel(replies)
    response = run(
        load(PROGRAM), "Can I return order 7?", ToolLibrary.of([find_order]), model=model
    )
    for call in response.tools_used:
        print(f"{call.tool_name}: {str(call.result).splitlines()[0]}")
    print(response.content)


if __name__ == "__main__":
    main()
