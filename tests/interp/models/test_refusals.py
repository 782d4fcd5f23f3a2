"""Refusals of providers: the hint names what the user writes."""

from __future__ import annotations

import pytest

from gram import Pattern
from interp import ModelError, hello_world_tool_library, run
from interp.models.failures import failed
from interp.models.refusals import hint_about
from lenses_ext import Model
from tests.interp.model_server import ModelServer

SAID = {
    "Function tools with reasoning_effort are not supported for gpt-5.6-luna in "
    "/v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to "
    "'none'.": "--dialect responses",
    "Unsupported parameter: 'temperature' is not supported with this model.": "temperature=null",
    "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) "
    "value is supported.": "temperature=null",
    "`temperature` is deprecated for this model.": "temperature=null",
    "`temperature` and `top_p` cannot both be specified for this model.": "temperature=null",
    "Unrecognized request argument supplied: seed": "seed=null",
    "Unknown parameter: 'reasoning.summary'.": "reasoningSummary=null",
    "Unsupported value: 'reasoning.effort' does not support 'minimal' with this model.": (
        "reasoningEffort=low"
    ),
    "Argument not supported on this model: presencePenalty presence_penalty": (
        "presencePenalty=null"
    ),
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
    "'max_completion_tokens' instead.": 'max_tokens = "max_completion_tokens"',
    "Your organization must be verified to generate reasoning summaries.": "reasoningSummary=null",
    "Invalid schema for function 'f': In context=(), 'required' is required": "strictTools=off",
    "Invalid schema for response_format 'answer': schema must have a type": "json_object",
    "registry.ollama.ai/library/gemma:latest does not support tools": "takes no tools",
    "Invalid content type. image_url is only supported by certain models.": "leave the file out",
    "image input is not supported - hint: you may need to provide the mmproj": "leave the file",
    "No endpoints found that support image input": "leave the file out",
    "this model does not support image input (ref: 1)": "leave the file out",
    'Failed to parse messages: Unsupported content part type: "image_url"': "leave the file out",
    "The server was not compiled for multimodal": "leave the file out",
    "Qwen/Qwen3-8B is not a multimodal model": "leave the file out",
    "unknown variant `image_url`, expected `text`": "leave the file out",
    "unsupported content[].type": "leave the file out",
    "this model is missing data required for image input": "leave the file out",
    "No endpoints found that support tool use; this model doesn't support tools": "takes no tools",
}


@pytest.mark.parametrize(("said", "hint"), SAID.items())
def test_a_known_refusal_says_what_to_write(said: str, hint: str) -> None:
    error = failed({"error": {"message": said}}, status=400, model=Model("My-Cloud", "m"))

    assert hint in str(error)
    assert said[:60] in str(error)
    assert "{" not in hint_about(said)


def test_the_variable_is_that_of_the_provider() -> None:
    said = next(iter(SAID))

    assert "MY_CLOUD_DIALECT=responses" in hint_about(said, Model("My-Cloud", "m"))


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
