"""The reviewer of ``examples/review.gram`` in ADK 2.13.0, by a scripted model."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

from google.adk.agents import LlmAgent, ParallelAgent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types
from pydantic import BaseModel


class Judgement(BaseModel):
    """What the reviewer says of a file."""

    fine: bool
    why: str


class Strict(BaseLlm):
    """A reviewer that wants a comment at the top of every file."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Judge the file in the instruction."""
        fine = "Review the file: //" in str(llm_request.config.system_instruction)
        judged = Judgement(fine=fine, why="fine" if fine else "say at the top what it is for")
        part = types.Part(text=judged.model_dump_json())
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def judge(number: int, file: Path) -> LlmAgent:
    """An agent for one file: a ParallelAgent has its agents before it runs."""
    text = file.read_text(encoding="utf-8")
    return LlmAgent(
        name=f"judge{number}",
        model=Strict(model="strict"),
        instruction=lambda _: f"Review the file: {text}",  # a text has {…}, which names a state
        output_schema=Judgement,
        output_key=file.name,
    )


async def review(folder: str) -> str:
    """Judge every file of a folder, all of them at once."""
    files = sorted(Path(folder).glob("*.gram"))
    judges = [judge(number, file) for number, file in enumerate(files)]
    runner = InMemoryRunner(agent=ParallelAgent(name="review", sub_agents=judges), app_name="r")
    session = await runner.session_service.create_session(app_name="r", user_id="me")
    message = types.Content(role="user", parts=[types.Part(text="Review.")])
    async for _ in runner.run_async(user_id="me", session_id=session.id, new_message=message):
        pass
    done = await runner.session_service.get_session(
        app_name="r", user_id="me", session_id=session.id
    )
    return "\n".join(f"{file.name}: {done.state[file.name]['why']}" for file in files)


if __name__ == "__main__":
    print(asyncio.run(review(sys.argv[1])))
