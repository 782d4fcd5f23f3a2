"""A support desk: a declared choice, handing over, and approval before a refund is paid.

Run it with ``python examples/support_desk.py``. Instead of a model, a cast answers with lines that
it was given; leave ``model=`` out to ask the models that the program names.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from interp import ApprovalPolicy, ApprovalRule, ToolLibrary, load, run, tool
from interp.machine import Ask, Request

PROGRAM = Path(__file__).with_name("support_desk.gram")


@tool
def refund(order: str, amount: float) -> str:
    """Pays money back to a customer"""
    return f"paid {amount} for {order}"


def call(name: str, arguments: str = "{}") -> dict[str, Any]:
    """A reply that calls a tool."""
    return {"tool_calls": [{"function": {"name": name, "arguments": arguments}}]}


class Cast:
    """A model that answers each agent with the next of its lines, told by the instruction."""

    def __init__(self, **lines: list[Any]) -> None:
        self.lines: dict[str, Iterator[Any]] = {name: iter(some) for name, some in lines.items()}

    def complete(self, request: Request) -> Any:
        """The next line of the agent that asks."""
        return next(self.lines[request.instruction.split()[0]])


BILLED_TWICE = {
    "Say": ['"billing"'],
    "Help": [call("refund", '{"order": "A-17", "amount": 20}'), "You get your 20 back."],
}
BROKEN = {
    "Say": ['"technical"'],
    "Help": [call("engineer")],
    "Mend": ["I restarted the router: it works again."],
}


POLICY = ApprovalPolicy([ApprovalRule("ask", "billing/refund")])


def approve(ask: Ask) -> bool:
    """Say yes to small refunds."""
    print(f"approve {ask.name} {ask.arguments}? yes")
    return True


def main() -> None:
    """Help two customers."""
    desk, library = load(PROGRAM), ToolLibrary.of([refund])
    for message, lines in (("I was billed twice", BILLED_TWICE), ("The router is dead", BROKEN)):
        response = run(desk, message, library, model=Cast(**lines), policy=POLICY, approve=approve)
        print(f"{message}: {response.content}")


if __name__ == "__main__":
    main()
