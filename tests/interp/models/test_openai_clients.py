"""What `openai` sends for us; it notices where a new version of the package sends more."""

from __future__ import annotations

import asyncio

import pytest

from gram import Pattern
from interp import OpenAIModel, arun, hello_world_tool_library, run
from tests.interp.four_ways import QUESTION
from tests.interp.model_server import ModelServer

NEEDED = {"host", "accept", "content-type", "user-agent", "authorization", "content-length"}
OF_HTTP = {"accept-encoding", "connection"}


@pytest.mark.parametrize("kind", ["OpenAI", "AsyncOpenAI"])
def test_a_request_has_the_headers_that_it_needs_and_no_others(
    kind: str, hello_world: Pattern, model_server: ModelServer
) -> None:
    model_server.will_say("Hi.")

    if kind == "OpenAI":
        run(hello_world, "Hello", hello_world_tool_library)
    else:
        asyncio.run(arun(hello_world, "Hello", hello_world_tool_library))

    (headers,) = model_server.headers
    assert headers.keys() == NEEDED | OF_HTTP
    assert headers["user-agent"].startswith(f"{kind}/Python ")


def test_the_organization_of_the_environment_is_told(
    hello_world: Pattern, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    model_server.will_say("Hi.")

    OpenAIModel(model_server.url, "a key of its own").complete(QUESTION)

    (headers,) = model_server.headers
    assert headers["openai-organization"] == "org-1"
