"""The support desk of ``examples/support_desk.gram`` in ADK 2.13.0, by scripted models."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools import FunctionTool
from google.genai import types
from pydantic import PrivateAttr


class Cast(BaseLlm):
    """A model that gives its lines in order."""

    _lines: Iterator[types.Part] = PrivateAttr()

    def __init__(self, *lines: types.Part) -> None:
        super().__init__(model="cast")
        self._lines = iter(lines)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """The next line."""
        yield LlmResponse(content=types.Content(role="model", parts=[next(self._lines)]))


def say(text: str) -> types.Part:
    """A line that is a text."""
    return types.Part(text=text)


def call(name: str, **arguments: Any) -> types.Part:
    """A line that calls a tool."""
    return types.Part(function_call=types.FunctionCall(name=name, args=arguments))


def refund(order: str, amount: float) -> str:
    """Pays money back to a customer"""
    return f"paid {amount} for {order}"


engineer = LlmAgent(
    name="engineer",
    description="Mends what is broken",
    model=Cast(say("I restarted the router: it works again.")),
    instruction="Mend what is broken, and say what you did.",
)
billing = LlmAgent(
    name="billing",
    description="Helps with bills and refunds",
    model=Cast(call("refund", order="A-17", amount=20), say("You get your 20 back.")),
    instruction="Help with bills. Give a refund where one is due.",
    tools=[FunctionTool(refund, require_confirmation=True)],
)
support = LlmAgent(
    name="support",
    description="Helps with everything else",
    model=Cast(call("transfer_to_agent", agent_name="engineer")),
    instruction="Help the customer. Hand over to the engineer what is broken.",
    sub_agents=[engineer],
)
triage = LlmAgent(
    name="triage",
    model=Cast(
        call("transfer_to_agent", agent_name="billing"),
        call("transfer_to_agent", agent_name="support"),
    ),
    instruction="Say what the message is about, and hand over.",
    sub_agents=[billing, support],
)
ASKS = "adk_request_confirmation"


async def help_with(message: str) -> None:
    """Help one customer; a refund is confirmed."""
    runner = InMemoryRunner(agent=triage, app_name="desk")
    session = await runner.session_service.create_session(app_name="desk", user_id="me")
    part: types.Part | None = types.Part(text=message)
    while part is not None:
        given, part = types.Content(role="user", parts=[part]), None
        async for event in runner.run_async(user_id="me", session_id=session.id, new_message=given):
            for asked in event.get_function_calls():
                if asked.name == ASKS:
                    print("approve the refund? yes")
                    said = types.FunctionResponse(
                        id=asked.id, name=ASKS, response={"confirmed": True}
                    )
                    part = types.Part(function_response=said)
            if event.is_final_response() and event.content and event.content.parts[0].text:
                print(event.content.parts[0].text)


async def main() -> None:
    """Help two customers."""
    for message in ("I was billed twice", "The router is dead"):
        await help_with(message)


if __name__ == "__main__":
    asyncio.run(main())
