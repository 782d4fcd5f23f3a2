"""Runs with a planted fault: 20 tools, 12 calls, and one price that is wrong."""

from __future__ import annotations

import gram
from interp import Tool, ToolLibrary, begin
from interp.history.records import RecordedRun
from interp.history.stores import load_run
from interp.machine import AgentResponse, AssistantRole, Message, ToolCall
from interp.models import ScriptedModel

TOOLS = 20
CALLS = 12


def tools() -> ToolLibrary:
    """Tools that list prices; one item of ``t17`` has a negative one."""

    def prices(number: int) -> Tool:
        def invoke(_: object) -> object:
            items = [{"id": n, "price": -1 if (number, n) == (17, 2) else n} for n in range(5)]
            return {"items": items, "note": "as of today"}

        schema = {
            "type": "object",
            "properties": {"query": {"type": "string"}},
            "required": ["query"],
        }
        return Tool(f"t{number}", "Lists prices", schema, invoke)

    return ToolLibrary.of(*map(prices, range(TOOLS)))


def recorded(path: str) -> RecordedRun:
    """The run, recorded in a file: 25 events."""
    written = ", ".join(
        f'[t{n}:ToolSpecification {{description: "Lists prices"}} | (query::Text)==>(::Any)]'
        for n in range(TOOLS)
    )
    program = f'[desk:Agent {{model: "Offline/rehearsal", instruction: "Help."}} | {written}]'
    replies = [
        Message(AssistantRole, "Let me see.", [ToolCall(f"{n}", f"t{(7 * n + 3) % TOOLS}", _ASKED)])
        for n in range(CALLS)
    ]
    model = ScriptedModel([*replies, "All is well."])
    run = {"limits": {"iterations": CALLS}, "match": "name", "record": path}
    begin(gram.parse(program), "What is wrong?", tools(), model=model, **run).finish()
    return load_run(path)


_ASKED = '{"query":"everything there is"}'


def is_wrong(response: AgentResponse) -> bool:
    """Whether a negative price was listed."""
    results = (call.result for call in response.tools_used if isinstance(call.result, dict))
    items = [each for result in results for each in result.get("items", ())]
    return any(each.get("price", 0) < 0 for each in items)


CHECKS = """
def is_wrong(response):
    results = [each.result for each in response.tools_used if isinstance(each.result, dict)]
    return any(item.get("price", 0) < 0 for each in results for item in each.get("items", []))

def is_fine(response):
    return not is_wrong(response)
"""
"""The same as a file of checks."""
