"""A trial against a real server, such as llama.cpp: tools and typed answers in one agent.

Start a server with a model that can call tools (``llama-server --jinja -m MODEL``, or
``python -m llama_cpp.server``) and name its address in ``GRAM_TRIAL_SERVER``.
"""

from __future__ import annotations

import os

import pytest

from gram import loads_one
from interp import OpenAIModel, ToolLibrary, run, tool
from interp.providers.provider import AnswerFormat, AnswerMode

ADDRESS = os.environ.get("GRAM_TRIAL_SERVER", "")

pytestmark = pytest.mark.skipif(
    not ADDRESS, reason="needs a real server with a model: its address is in GRAM_TRIAL_SERVER"
)

AGENT = loads_one("""
    [weather:Agent {
      instruction: "Look up the temperature with the tool, then answer.",
      model: "Trial/model", settings: {temperature: 0}
    } |
      [temperature:ToolSpecification {description: "The temperature in a city, in degrees"} |
        (city::String)==>(::Integer)],
      [report:Answer:Object | (city::String), (degrees::Integer)]]
""")


@tool
def temperature(city: str) -> int:
    """The temperature in a city, in degrees"""
    return 17 if city else 0


@pytest.mark.parametrize("answers", ["after_tools", "as_tool"])
@pytest.mark.parametrize("answers_as", ["json_schema", "json_object"])
def test_an_agent_with_tools_gives_an_answer_of_its_type(
    answers: AnswerMode, answers_as: AnswerFormat
) -> None:
    model = OpenAIModel(
        ADDRESS, "none", max_tokens="max_tokens", answers=answers, answers_as=answers_as
    )

    response = run(AGENT, "How warm is it in Oslo?", ToolLibrary.of(temperature), model=model)

    assert isinstance(response.value, dict)
    assert response.value["degrees"] == 17
