"""Several models as one: each request goes to the model that it names."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from gram import parse
from interp import ConfigurationError, UserRole, arun, run
from interp.machine import Request
from interp.machine.messages import ConversationContext, Message
from interp.models import AnyModel
from lenses_ext import Model


class Named:
    """A model that says its name, in every way a model may be asked."""

    def __init__(self, name: str) -> None:
        self.name = name

    def complete(self, request: Request) -> str:
        return self.name

    async def acomplete(self, request: Request) -> str:
        return f"{self.name} later"

    def stream(self, request: Request) -> Iterator[str]:
        yield from self.name

    async def astream(self, request: Request) -> AsyncIterator[str]:
        for word in self.name:
            yield word

    def body(self, request: Request) -> dict[str, Any]:
        return {"for": self.name}


FIRST, SECOND = Named("first"), Named("second")
SEVERAL = AnyModel({Model("A", "1"): FIRST, Model("B", "2"): SECOND})
REQUEST = Request(Model("B", "2"), "Help.", ConversationContext([Message(UserRole, "hi")]))


def test_each_way_to_ask_goes_to_the_model_that_is_named() -> None:
    async def words() -> list[str]:
        return [each async for each in SEVERAL.astream(REQUEST)]

    assert asyncio.run(SEVERAL.acomplete(REQUEST)) == "second later"
    assert "".join(asyncio.run(words())) == "second"
    assert SEVERAL.body(REQUEST) == {"for": "second"}


def test_agents_with_models_of_their_own_are_rehearsed_together() -> None:
    program = parse(
        """
        [w:Workflow | a, b, (a)-->(b)]
        (a:Agent {instruction: "x", model: "Offline/rehearsal"})
        (b:Agent {instruction: "y", model: "Offline/rehearsal"})
        """
    )

    assert asyncio.run(arun(program, "hi")) == run(program, "hi")


@pytest.mark.parametrize("given", [{}, {"OpenAI/m": FIRST}, {Model("OpenAI", "m"): FIRST}])
def test_a_mapping_of_models_is_none(given: Any) -> None:
    agent = parse('[a:Agent {instruction: "x", model: "OpenAI/m"}]')

    with pytest.raises(ConfigurationError, match=r"is not a model: it has no complete\(request\)"):
        run(agent, "hi", model=given)
