"""What people write by hand: a loop over the ``openai`` package."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import openai
from task import FUNCTION, INSTRUCTION, MESSAGE, MODEL, earlier_messages, expect, say_hello


class Contender:
    """One client for all runs, as the package's documentation advises."""

    cannot: Mapping[str, str] = {"in_process": "it has no agent, and no model without HTTP"}

    def __init__(self, address: str) -> None:
        self._address = address
        self._client = openai.OpenAI(base_url=address, api_key="none")

    def over_http(self, earlier: int = 0) -> Any:
        before = earlier_messages(earlier)

        def run() -> None:
            messages: list[Any] = _beginning(before)
            while True:
                reply = self._client.chat.completions.create(
                    model=MODEL, messages=messages, tools=[FUNCTION]
                )
                if _is_answer(messages, reply.choices[0].message):
                    return

        return run

    def over_http_async(self, earlier: int = 0) -> Any:
        before = earlier_messages(earlier)
        client = openai.AsyncOpenAI(base_url=self._address, api_key="none")

        async def run() -> None:
            messages: list[Any] = _beginning(before)
            while True:
                reply = await client.chat.completions.create(
                    model=MODEL, messages=messages, tools=[FUNCTION]
                )
                if _is_answer(messages, reply.choices[0].message):
                    return

        return run


def _beginning(before: list[dict[str, str]]) -> list[Any]:
    system = {"role": "system", "content": INSTRUCTION}
    return [system, *before, {"role": "user", "content": MESSAGE}]


def _is_answer(messages: list[Any], message: Any) -> bool:
    """Call the tools that a reply calls; whether there were none."""
    messages.append(message)
    if not message.tool_calls:
        expect(message.content)
        return True
    for call in message.tool_calls:
        result = say_hello(**json.loads(call.function.arguments))
        messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return False
