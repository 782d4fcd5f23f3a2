"""The four ways to ask a model: whole or word by word, blocking or not."""

from __future__ import annotations

import asyncio
from typing import Any

from interp import ConversationContext, Message, OpenAIModel, UserRole
from interp.machine import Request
from lenses_ext import Model

QUESTION = Request(Model("Some", "m"), "x", ConversationContext([Message(UserRole, "hi")]))
WAYS = ["complete", "acomplete", "stream", "astream"]


def ask(model: OpenAIModel, way: str) -> list[Any]:
    """What a model answers to the question, the reply last; the model is closed."""

    async def asked() -> list[Any]:
        try:
            if way == "acomplete":
                return [await model.acomplete(QUESTION)]
            return [each async for each in model.astream(QUESTION)]
        finally:
            await model.aclose()

    if way.startswith("a"):
        return asyncio.run(asked())
    try:
        return [model.complete(QUESTION)] if way == "complete" else list(model.stream(QUESTION))
    finally:
        model.close()
