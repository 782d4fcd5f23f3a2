"""An agent that counts, its tool, and what a model says to call it."""

from __future__ import annotations

from gram import loads_one
from interp import ToolLibrary, tool

AGENT = loads_one("""
[counter:Agent {instruction: "Count.", model: "A/b"} |
  [add:Tool {description: "Adds one."} | (x::Integer)==>(::Integer)]]
""")
CALL = {"tool_calls": [{"id": "1", "function": {"name": "add", "arguments": '{"x": 1}'}}]}
CALLS = {"choices": [{"message": {"role": "assistant", "content": "", **CALL}}]}


def counting(done: list[int], *, once: bool = False) -> ToolLibrary:
    """A library whose tool notes what it was called with."""

    @tool(once=once)
    def add(x: int) -> int:
        """Adds one."""
        done.append(x)
        return x + 1

    return ToolLibrary.of(add)
