"""Smolagents: its agent that calls tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from smolagents import LogLevel, Model, OpenAIServerModel, ToolCallingAgent, tool
from smolagents.models import (
    ChatMessage,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    MessageRole,
)
from task import GREETING, INSTRUCTION, MESSAGE, MODEL, TOOL, expect


class Contender:
    """One agent for all runs."""

    cannot: Mapping[str, str] = {
        "over_http_async": "it has no async form",
        "earlier": "its agents take no earlier messages",
    }

    def __init__(self, address: str) -> None:
        self._address = address

    def over_http(self) -> Any:
        model = OpenAIServerModel(MODEL, api_base=self._address, api_key="none")
        return _sync(model, 1, 1)

    def in_process(self, rounds: int = 1, tools: int = 1) -> Any:
        return _sync(_Replies(rounds), rounds, tools)


class _Replies(Model):
    """A model whose replies cost nothing: so many calls, then the answer, again and again."""

    def __init__(self, rounds: int) -> None:
        super().__init__(model_id="replies")
        self._rounds, self._asked = rounds, 0

    def generate(self, *_: Any, **__: Any) -> ChatMessage:
        self._asked = (self._asked + 1) % (self._rounds + 1)
        name, arguments = TOOL, {"personName": "Alice"}
        if not self._asked:
            name, arguments = "final_answer", {"answer": GREETING}
        function = ChatMessageToolCallFunction(arguments, name)
        call = ChatMessageToolCall(function, f"call_{self._asked}", "function")
        return ChatMessage(MessageRole.ASSISTANT, None, [call])


def _sync(model: Model, rounds: int, tools: int) -> Any:
    made = [_tool(TOOL), *(_tool(f"other{n}") for n in range(1, tools))]
    agent = ToolCallingAgent(
        made,
        model,
        instructions=INSTRUCTION,
        max_steps=rounds + 1,
        verbosity_level=LogLevel.OFF,
    )
    return lambda: expect(agent.run(MESSAGE))


def _tool(name: str) -> Any:
    @tool
    def sayHello(personName: str = "world") -> str:  # noqa: N802, N803  # as the model is told
        """Returns a friendly greeting message for the given name.

        Args:
            personName: the name
        """
        return f"Hello, {personName}!"

    sayHello.name = name
    return sayHello
