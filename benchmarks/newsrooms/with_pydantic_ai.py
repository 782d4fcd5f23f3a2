"""The newsroom of ``examples/newsroom.gram`` in pydantic-ai 2.68.0, run by scripted models."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel
from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

DRAFTS = iter(["The moon has no air.", "The moon has no air, and a day there lasts a month."])
VERDICTS = iter([("again", "Say how long a day is."), ("approved", "Good.")])


class Judgement(BaseModel):
    """What the editor says."""

    verdict: Literal["approved", "again"]
    remarks: str


def facts(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Call the search once, then say what was found."""
    if len(messages) == 1:
        return ModelResponse([ToolCallPart("search", {"topic": "the moon"})])
    return ModelResponse([TextPart("It has no air. A day lasts a month.")])


def draft(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Give the next draft."""
    return ModelResponse([TextPart(next(DRAFTS))])


def judge(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Give the next verdict."""
    verdict, remarks = next(VERDICTS)
    return ModelResponse(
        [ToolCallPart(info.output_tools[0].name, {"verdict": verdict, "remarks": remarks})]
    )


researcher = Agent(FunctionModel(facts), instructions="Look the topic up and list what you find.")
writer = Agent(FunctionModel(draft), instructions="Write the article from the facts.")
editor = Agent(FunctionModel(judge), output_type=Judgement, instructions="Judge the article.")


@researcher.tool_plain
def search(topic: str) -> str:
    """Searches the archive for facts about a topic"""
    return f"Two facts about {topic}."


def newsroom(topic: str) -> str:
    """Find facts, then write and edit until the editor approves, three rounds at most."""
    wanted = researcher.run_sync(topic).output
    history: list[ModelMessage] = []
    article = ""
    for _ in range(3):
        written = writer.run_sync(wanted, message_history=history)
        history, article = written.all_messages(), written.output
        judgement = editor.run_sync(article).output
        if judgement.verdict == "approved":
            break
        wanted = judgement.remarks
    return article


if __name__ == "__main__":
    print(newsroom("the moon"))
