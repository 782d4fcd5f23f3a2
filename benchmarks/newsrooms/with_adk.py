"""The newsroom of ``examples/newsroom.gram`` in ADK 2.13.0, run by scripted models."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from typing import Any

from google.adk.agents import LlmAgent, LoopAgent, SequentialAgent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools import ToolContext
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


def search(topic: str) -> str:
    """Searches the archive for facts about a topic"""
    return f"Two facts about {topic}."


def approve(tool_context: ToolContext) -> str:
    """Approves the article, which ends the loop"""
    tool_context.actions.escalate = True
    return "approved"


researcher = LlmAgent(
    name="researcher",
    model=Cast(call("search", topic="the moon"), say("It has no air. A day lasts a month.")),
    instruction="Look the topic up and list what you find.",
    tools=[search],
    output_key="facts",
)
writer = LlmAgent(
    name="writer",
    model=Cast(
        say("The moon has no air."),
        say("The moon has no air, and a day there lasts a month."),
    ),
    instruction="Write the article from the facts: {facts}. Follow the remarks: {remarks?}",
    output_key="draft",
)
editor = LlmAgent(
    name="editor",
    model=Cast(say("Say how long a day is."), call("approve"), say("Good.")),
    instruction="Judge the article: {draft}. Call approve, or say what to change.",
    tools=[approve],
    output_key="remarks",
)
newsroom = SequentialAgent(
    name="newsroom",
    sub_agents=[
        researcher,
        LoopAgent(name="refine", max_iterations=3, sub_agents=[writer, editor]),
    ],
)


async def main() -> None:
    """Write about the moon."""
    runner = InMemoryRunner(agent=newsroom, app_name="newsroom")
    session = await runner.session_service.create_session(app_name="newsroom", user_id="me")
    message = types.Content(role="user", parts=[types.Part(text="the moon")])
    async for event in runner.run_async(user_id="me", session_id=session.id, new_message=message):
        if event.is_final_response() and event.author == "writer" and event.content:
            print(event.content.parts[0].text)


async def mistakes() -> None:
    """Make a name of the state wrong, and leave the bound of a loop out."""
    wrong = LlmAgent(name="w", model=Cast(say("x")), instruction="Write from {factz}.")
    runner = InMemoryRunner(agent=SequentialAgent(name="n", sub_agents=[wrong]), app_name="n")
    session = await runner.session_service.create_session(app_name="n", user_id="me")
    message = types.Content(role="user", parts=[types.Part(text="the moon")])
    try:
        async for _ in runner.run_async(user_id="me", session_id=session.id, new_message=message):
            pass
        print("unknown name: not told")
    except Exception as error:  # noqa: BLE001  # what is raised is what is looked at
        print(f"unknown name: told while it runs: {type(error).__name__}: {error}")
    again = LlmAgent(name="w", model=Cast(*[say("x")] * 30), instruction="Write.")
    loop = LoopAgent(name="l", sub_agents=[again])
    runner = InMemoryRunner(agent=loop, app_name="l")
    session = await runner.session_service.create_session(app_name="l", user_id="me")
    count = 0
    try:
        async for _ in runner.run_async(user_id="me", session_id=session.id, new_message=message):
            count += 1
    except Exception as error:  # noqa: BLE001  # what is raised is what is looked at
        print(f"loop without a bound: ran until the script ended ({count}): {type(error).__name__}")


if __name__ == "__main__":
    asyncio.run(main())
    asyncio.run(mistakes())
