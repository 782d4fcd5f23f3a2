"""The support desk of ``examples/support_desk.gram`` in pydantic-ai 2.68.0, by scripted models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from pydantic_ai import (
    Agent,
    DeferredToolRequests,
    DeferredToolResults,
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolCallPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

Topic = Literal["billing", "technical", "other"]


def script(*parts: Any) -> FunctionModel:
    """A model that gives its lines in order; a dict is the answer of the declared type."""
    lines = iter(parts)

    def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        part = next(lines)
        if isinstance(part, dict):
            part = ToolCallPart(info.output_tools[0].name, part)
        return ModelResponse([TextPart(part) if isinstance(part, str) else part])

    return FunctionModel(reply)


triage = Agent(output_type=Topic, instructions="Say what the message is about.")
billing = Agent(
    output_type=[str, DeferredToolRequests], instructions="Help with bills. Give a refund."
)
engineer = Agent(instructions="Mend what is broken, and say what you did.")


def hand_over() -> None:
    """Hands the conversation over to the engineer."""


support = Agent(output_type=[str, hand_over], instructions="Help. Hand over what is broken.")


@billing.tool_plain(requires_approval=True)
def refund(order: str, amount: float) -> str:
    """Pays money back to a customer"""
    return f"paid {amount} for {order}"


def desk(message: str, approve: Callable[[Any], bool], cast: dict[str, FunctionModel]) -> str:
    """Help a customer: triage decides who does, and a refund needs somebody's yes."""
    if triage.run_sync(message, model=cast["triage"]).output == "billing":
        helped = billing.run_sync(message, model=cast["billing"])
        while isinstance(helped.output, DeferredToolRequests):
            asked = {each.tool_call_id: approve(each) for each in helped.output.approvals}
            helped = billing.run_sync(
                message_history=helped.all_messages(),
                deferred_tool_results=DeferredToolResults(approvals=asked),
                model=cast["billing"],
            )
        return str(helped.output)
    answered = support.run_sync(message, model=cast["support"])
    if answered.output is not None:
        return str(answered.output)
    history = answered.all_messages()
    return engineer.run_sync(message_history=history, model=cast["engineer"]).output


def approve(call: Any) -> bool:
    """Say yes to small refunds."""
    print(f"approve {call.tool_name} {call.args}? yes")
    return True


if __name__ == "__main__":
    paid = ToolCallPart("refund", {"order": "A-17", "amount": 20})
    cast = {
        "triage": script({"response": "billing"}),
        "billing": script(paid, "You get your 20 back."),
    }
    print(desk("I was billed twice", approve, cast))
    cast = {
        "triage": script({"response": "technical"}),
        "support": script(ToolCallPart("final_result", {})),
        "engineer": script("I restarted the router: it works again."),
    }
    print(desk("The router is dead", approve, cast))
