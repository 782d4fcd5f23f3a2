"""The task that every contender does: greet somebody by calling a tool, then answer."""

from __future__ import annotations

from typing import Any

NAME = "hello_world_agent"
INSTRUCTION = "Have friendly conversations. When the user greets you, call `sayHello`."
MODEL = "gpt-5.6-luna"
MESSAGE = "Hello, I am Alice"
TOOL = "sayHello"
TOOL_DESCRIPTION = "Returns a friendly greeting message for the given name"
GREETING = "Hello, Alice! Welcome."
ARGUMENTS = '{"personName": "Alice"}'

FUNCTION: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": TOOL,
        "description": TOOL_DESCRIPTION,
        "parameters": {
            "type": "object",
            "properties": {"personName": {"type": "string", "default": "world"}},
        },
    },
}


def say_hello(personName: str = "world") -> str:  # noqa: N803  # the name that the model is told
    """Returns a friendly greeting message for the given name."""
    return f"Hello, {personName}!"


def earlier_messages(count: int) -> list[dict[str, str]]:
    """A conversation of so many messages."""
    return [
        {"role": ("user", "assistant")[n % 2], "content": f"Message {n}: what was said before."}
        for n in range(count)
    ]


def expect(answer: str) -> None:
    """Refuse an answer that is not the server's: a contender that does less is no comparison."""
    assert answer == GREETING, answer
