"""A trial against a real server: llama.cpp, with tools and typed answers in one agent.

With the packages in `tiny_llama.NEEDED` (``pip install xllamacpp gguf``) llama.cpp itself is
started, with a model that is written on the spot. To try another server, name its address in
``GRAM_TRIAL_SERVER`` and its key, where it needs one, in ``GRAM_TRIAL_KEY``; it needs a model that
can call tools (``llama-server --jinja -m MODEL``).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from attrs import frozen

from gram import loads_one
from interp import ModelError, OpenAIModel, ToolLibrary, run, stream, tool
from interp.machine.messages import (
    AssistantRole,
    ConversationContext,
    FunctionRole,
    Message,
    ToolCall,
)
from interp.models.providers import AnswerMode, Dialect
from tests.interp.models.tiny_llama import IS_INSTALLED, KEY, NEEDED, serving_llama

ADDRESS = os.environ.get("GRAM_TRIAL_SERVER", "")

pytestmark = pytest.mark.skipif(
    not (ADDRESS or IS_INSTALLED),
    reason=f"needs llama.cpp ({' and '.join(NEEDED)}), or a server named in GRAM_TRIAL_SERVER",
)


@frozen
class Server:
    address: str
    key: str
    dialect: Dialect

    def model(self, answers: AnswerMode = "after_tools", **more: Any) -> OpenAIModel:
        named = {"max_tokens": "max_tokens", "answers": answers, **more}
        return OpenAIModel(self.address, self.key, self.dialect, **named)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The address of the server, and its key."""
    if ADDRESS:
        yield ADDRESS, os.environ.get("GRAM_TRIAL_KEY", "none")
        return
    with serving_llama(tmp_path_factory.mktemp("llama")) as found:
        yield found, KEY


@pytest.fixture(params=["tools", "responses"])
def server(address: tuple[str, str], request: pytest.FixtureRequest) -> Server:
    return Server(*address, request.param)


AGENT = loads_one("""
    [weather:Agent {
      instruction: "Look up the temperature with the tool, then answer.",
      model: "Trial/model",
      settings: {temperature: 0, toolChoice: "required", parallelToolCalls: false}
    } |
      [temperature:ToolSpecification {description: "The temperature in a city, in degrees"} |
        (city::String)==>(::Integer)],
      [report:Answer:Object | (city::String), (degrees::Integer)]]
""")
TALKER = loads_one("""
    [talker:Agent {instruction: "Talk.", model: "Trial/model", settings: {temperature: 0}}]
""")


@tool
def temperature(city: str) -> int:
    """The temperature in a city, in degrees"""
    return 17


TOOLS = ToolLibrary.of(temperature)


@pytest.mark.parametrize("answers", ["after_tools", "with_tools", "as_tool"])
@pytest.mark.parametrize("streamed", [False, True])
def test_an_agent_with_tools_gives_an_answer_of_its_type(
    server: Server, answers: AnswerMode, streamed: bool
) -> None:
    if server.dialect == "responses" and answers != "as_tool" and not ADDRESS:
        pytest.skip("llama.cpp ignores `text.format`, the schema of an answer in Responses")
    model = server.model(answers)

    if streamed:
        *_, last = stream(AGENT, "How warm is it in Oslo?", TOOLS, model=model)
        response: Any = getattr(last, "response", None)
    else:
        response = run(AGENT, "How warm is it in Oslo?", TOOLS, model=model)

    assert set(response.value) == {"city", "degrees"}
    assert response.value["degrees"] == 17
    if answers == "after_tools":  # with both at once, llama.cpp looks at the schema alone
        assert [each.result for each in response.tools_used] == [17]


def test_an_answer_may_be_one_of_some_texts(server: Server) -> None:
    if server.dialect == "responses" and not ADDRESS:
        pytest.skip("llama.cpp ignores `text.format`, the schema of an answer in Responses")
    response = run(TALKER, "Long?", model=server.model(), answer_type=Literal["long", "short"])
    assert response.value in ("long", "short")


def test_a_conversation_goes_on_after_arguments_that_are_not_json(server: Server) -> None:
    wrong = ToolCall("a", "temperature", '{"ci')
    context = ConversationContext(
        [
            Message(AssistantRole, "", [wrong]),
            Message(FunctionRole("temperature"), "error: not JSON", call_id="a"),
        ]
    )

    response = run(AGENT, "And in Rome?", TOOLS, context, model=server.model("as_tool"))

    assert response.value["degrees"] == 17


def test_a_conversation_that_is_too_long_has_an_error_code_of_its_own(server: Server) -> None:
    with pytest.raises(ModelError) as caught:
        run(TALKER, "a " * 200_000, model=server.model())
    assert caught.value.code == "context_length_exceeded"
