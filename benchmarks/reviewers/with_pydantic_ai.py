"""The reviewer of ``examples/review.gram`` in pydantic-ai 2.68.0, by a scripted model."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from pydantic import BaseModel
from pydantic_ai import Agent, ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel


class Judgement(BaseModel):
    """What the reviewer says of a file."""

    fine: bool
    why: str


def strict(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Want a comment at the top of the file."""
    fine = str(messages[0].parts[-1].content).startswith("//")
    why = "fine" if fine else "say at the top what it is for"
    return ModelResponse([ToolCallPart(info.output_tools[0].name, {"fine": fine, "why": why})])


reviewer = Agent(FunctionModel(strict), output_type=Judgement, instructions="Review the file.")


async def review(folder: str) -> str:
    """Judge every file of a folder, four at a time, in the order of their names."""
    at_once = asyncio.Semaphore(4)

    async def judge(file: Path) -> str:
        async with at_once:
            judged = await reviewer.run(file.read_text(encoding="utf-8"))
        return f"{file.name}: {judged.output.why}"

    return "\n".join(await asyncio.gather(*map(judge, sorted(Path(folder).glob("*.gram")))))


if __name__ == "__main__":
    print(asyncio.run(review(sys.argv[1])))
