"""Refusals of providers: the hint names what the user writes."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from gram import Pattern
from interp import ModelError, hello_world_tool_library, run
from interp.models.failures import failed
from interp.models.refusals import hint_about
from lenses_ext import Model
from tests.interp.model_server import ModelServer
from tests.paths import DATA

NO_TOOLS = "Function tools with reasoning_effort are not supported for m. Please use /v1/responses."
SAID = [
    (said, hint)
    for hint, refusals in tomllib.loads((DATA / "refusals.toml").read_text("utf-8")).items()
    for said in refusals
]


@pytest.mark.parametrize(("said", "hint"), SAID)
def test_a_known_refusal_says_what_to_write(said: str, hint: str) -> None:
    error = failed({"error": {"message": said}}, status=400, model=Model("My-Cloud", "m"))

    assert hint in str(error)
    assert said[:60] in str(error)
    assert "{" not in hint_about(said)


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        ({"error": {"message": "Invalid value: 'xhigh'.", "param": "reasoning.effort"}},
         "--set reasoningEffort="),
        ({"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]},
         "400: seed: Extra inputs are not permitted"),
        ({"message": {"detail": [{"loc": ["body", "stop"], "msg": "not permitted"}]}},
         "--set stop=null"),
    ],
)  # fmt: skip
def test_the_field_is_known_where_it_is_named_beside_the_words(
    body: dict[str, Any], hint: str
) -> None:
    assert hint in str(failed(body, status=400))


def test_the_variable_is_that_of_the_provider() -> None:
    assert "MY_CLOUD_DIALECT=responses" in hint_about(NO_TOOLS, Model("My-Cloud", "m"))


@pytest.mark.parametrize(
    "said", ["", "Bad request", "Invalid 'messages[1]': no tool call found", "not supported"]
)
def test_other_words_have_no_hint(said: str) -> None:
    assert hint_about(said) == ""


def test_the_readmes_example_runs_where_tools_need_the_responses_api(
    model_server: ModelServer, hello_world: Pattern
) -> None:
    model_server.refuses_tools_in_chat = True

    with pytest.raises(ModelError, match=r"--dialect responses .*OPENAI_DIALECT=responses"):
        run(hello_world, "Hello", hello_world_tool_library)

    model_server.will_say("Hello!")
    answer = run(hello_world, "Hello", hello_world_tool_library, dialect="responses")
    assert answer.content == "Hello!"


def test_no_effort_is_a_way_out_in_chat_completions(
    model_server: ModelServer, hello_world: Pattern
) -> None:
    model_server.refuses_tools_in_chat = True
    model_server.will_say("Hello!")

    answer = run(
        hello_world, "Hello", hello_world_tool_library, settings={"reasoningEffort": "none"}
    )

    assert answer.content == "Hello!"
