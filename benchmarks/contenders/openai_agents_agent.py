"""The OpenAI Agents SDK, over Chat Completions, its traces switched off."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import openai
from agents import (
    Agent,
    ModelResponse,
    OpenAIChatCompletionsModel,
    Runner,
    Usage,
    function_tool,
    set_tracing_disabled,
)
from agents.models.interface import Model
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from task import (
    ARGUMENTS,
    GREETING,
    INSTRUCTION,
    MESSAGE,
    MODEL,
    NAME,
    TOOL,
    TOOL_DESCRIPTION,
    earlier_messages,
    expect,
    say_hello,
)

set_tracing_disabled(True)


class Contender:
    """One agent for all runs."""

    cannot: Mapping[str, str] = {}

    def __init__(self, address: str) -> None:
        self._address = address

    def over_http(self, earlier: int = 0) -> Any:
        return _sync(self._connected(), _input(earlier), 2)

    def over_http_async(self, earlier: int = 0) -> Any:
        agent, given = self._connected(), _input(earlier)

        async def act() -> None:
            expect((await Runner.run(agent, given)).final_output)

        return act

    def in_process(self, rounds: int = 1, earlier: int = 0, tools: int = 1) -> Any:
        return _sync(_agent(_Replies(rounds), tools), _input(earlier), rounds + 1)

    def _connected(self) -> Agent:
        client = openai.AsyncOpenAI(base_url=self._address, api_key="none")
        return _agent(OpenAIChatCompletionsModel(MODEL, client), 1)


class _Replies(Model):
    """A model whose replies cost nothing: so many calls, then the answer, again and again."""

    def __init__(self, rounds: int) -> None:
        self._rounds, self._asked = rounds, 0

    async def get_response(self, *_: Any, **__: Any) -> ModelResponse:
        self._asked = (self._asked + 1) % (self._rounds + 1)
        call = ResponseFunctionToolCall(
            arguments=ARGUMENTS, call_id=f"call_{self._asked}", name=TOOL, type="function_call"
        )
        text = ResponseOutputText(annotations=[], text=GREETING, type="output_text")
        answer = ResponseOutputMessage(
            id="m", content=[text], role="assistant", status="completed", type="message"
        )
        return ModelResponse(
            output=[call if self._asked else answer], usage=Usage(), response_id="r"
        )

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("no run of the benchmark streams")


def _sync(agent: Agent, given: list[Any], turns: int) -> Any:
    """A function that runs an agent; `Runner.run_sync` wants a loop that is not running."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    return lambda: expect(Runner.run_sync(agent, given, max_turns=turns).final_output)


def _agent(model: Model, tools: int) -> Agent:
    names = [TOOL, *(f"other{n}" for n in range(1, tools))]
    made = [
        function_tool(
            say_hello, name_override=name, description_override=TOOL_DESCRIPTION, strict_mode=False
        )
        for name in names
    ]
    return Agent(name=NAME, instructions=INSTRUCTION, model=model, tools=made)


def _input(earlier: int) -> list[Any]:
    return [*earlier_messages(earlier), {"role": "user", "content": MESSAGE}]
