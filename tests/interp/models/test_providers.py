"""Providers: their rows, those that the environment names, and what their tokens cost."""

from __future__ import annotations

from contextlib import AbstractContextManager
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

import pytest

from gram import Pattern, loads_one, parse
from interp import ConfigurationError, ModelError, OpenAIModel, Usage, connect_model, run
from interp.execution import Spending
from interp.files import is_address
from interp.machine import CallModel, ModelReplied, Request, shown_price, start
from interp.machine.messages import AssistantRole, Message, empty_context
from interp.models import price_of
from interp.models.prices import price_of_reply
from interp.models.program_checks import check_program
from interp.models.providers import PROVIDERS, added, provider_of
from lenses_ext import Model
from tests.interp.model_server import Answer, ModelServer


def agent(model: str) -> Pattern:
    """An agent that runs on a model."""
    return loads_one(
        f'[a:Agent {{instruction: "x", model: "{model}", settings: {{maxTokens: 9}}}}]'
    )


def cloud(**columns: Any) -> AbstractContextManager[None]:
    """Inside, there is a provider Cloud."""
    return added([provider_of("gram.toml", "Cloud", columns)])


def test_an_added_row_is_a_provider_like_any_other(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = {"dialect": "functions", "max_tokens": "max_completion_tokens"}
    monkeypatch.setenv("CLOUD_KEY", "cloud-secret")
    model_server.will_say("hello")

    with cloud(base_url=model_server.url, key="CLOUD_KEY", **columns):
        run(agent("cloud/meta/llama-4"), "hi")

    assert model_server.requests[0]["model"] == "meta/llama-4"
    assert model_server.requests[0]["max_completion_tokens"] == 9
    assert model_server.headers[0]["authorization"] == "Bearer cloud-secret"


AT = {"base_url": "http://x"}


@pytest.mark.parametrize(
    ("name", "columns", "message"),
    [
        ("Cloud", 1, r"Cloud is not a table: write \[Cloud\]"),
        ("Cloud", {}, "needs a base_url"),
        ("Cloud", {"base_url": "ftp://x"}, "needs a base_url"),
        ("Cloud", {"base_url": "http://"}, "needs a base_url, which .* and name a host"),
        ("Cloud", {"baseurl": "http://x"}, "has no column baseurl; did you mean base_url"),
        ("Cloud", {"base_url": 1}, "needs a base_url"),
        ("Cloud", {**AT, "context_window": "9"}, "context_window: Input should be a valid integer"),
        ("Cloud", {**AT, "answers": "never"}, "answers: Input should be 'with_tools', 'after_t"),
        ("Cloud", {**AT, "dialect": "x"}, "dialect: Input should be 'responses', 'tools' or 'fu"),
        ("Cloud", {**AT, "not_taken": "seed"}, "not_taken: "),
        ("Cloud", {**AT, "not_taken": ["sed"]}, "not_taken must be a list of settings, such as"),
        ("Cloud", {**AT, "key": 5}, "key: Input should be a valid string"),
        ("a/b", {"base_url": "http://x"}, "must not be empty or contain a slash"),
        (
            "Cloud",
            {"base_url": "http://x", "key": "gsk_secret"},
            "keys themselves are never stored",
        ),
    ],
)
def test_a_wrong_row_is_one_error_without_keys(name: str, columns: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message) as caught:
        provider_of("gram.toml:3:1", name, columns)
    assert str(caught.value).startswith("gram.toml:3:1: ")
    assert "gsk_secret" not in str(caught.value)


def test_the_environment_alone_can_name_a_provider(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_CLOUD_BASE_URL", model_server.url)
    monkeypatch.setenv("MY_CLOUD_API_KEY", "cloud-secret")
    model_server.will_say("hello")

    run(agent("my-cloud/a/b/c"), "hi")

    assert model_server.requests[0]["model"] == "a/b/c"
    assert model_server.requests[0]["max_tokens"] == 9
    assert model_server.headers[0]["authorization"] == "Bearer cloud-secret"


def test_an_address_given_with_the_call_makes_any_provider_known(model_server: ModelServer) -> None:
    model_server.will_say("hello")
    assert run(agent("Whoever/m"), "hi", base_url=model_server.url).content == "hello"


def test_an_unknown_provider_lists_the_added_rows_too() -> None:
    unknown = pytest.raises(ConfigurationError, match=r"did you mean Cloud.*LlamaCpp, Cloud, Off")
    with cloud(base_url="http://x"), unknown:
        connect_model(Model("Clowd", "x"))


def test_an_address_that_is_the_providers_own_still_needs_its_key() -> None:
    with cloud(base_url="http://127.0.0.1:9", key="CLOUD_KEY"):
        with pytest.raises(ConfigurationError, match="CLOUD_KEY is not set"):
            connect_model(Model("Cloud", "x"), base_url="http://127.0.0.1:9")
        connect_model(Model("Cloud", "x"), base_url="http://127.0.0.1:8")


def body(model: OpenAIModel, source: str) -> dict[str, Any]:
    """What a model is sent for the first message of a program."""
    _, (effect,), _ = start(loads_one(source), "hi")
    return model.body(effect.request)  # type: ignore[union-attr]  # the first effect is CallModel


FULL = """
[a:Agent {instruction: "x", model: "A/m", settings: {maxTokens: 9}} |
  [t:Tool {description: "d"} | (x::Integer)==>(::String)], (:Answer:Object)]
"""
DOCUMENTED: dict[str, tuple[str, str | None, set[str]]] = {
    "OpenAI": (
        "api.openai.com", "OPENAI_API_KEY",
        {
            "input", "instructions", "tools", "tool_choice", "text", "max_output_tokens",
            "store", "include",
        },
    ),
    # Its endpoint for OpenAI's protocol ignores response_format.
    "Anthropic": ("api.anthropic.com", "ANTHROPIC_API_KEY", {"tools", "tool_choice", "max_tokens"}),
    # It refuses tools together with a response format.
    "Google": (
        "generativelanguage.googleapis.com", "GEMINI_API_KEY",
        {"tools", "tool_choice", "max_tokens"},
    ),
    # Those below turn a response format into a grammar, under which no tool can be called.
    "Ollama": ("localhost", None, {"tools", "tool_choice", "max_tokens"}),
    "LMStudio": ("localhost", None, {"tools", "tool_choice", "max_tokens"}),
    "vLLM": ("localhost", None, {"tools", "tool_choice", "max_tokens"}),
    "LlamaCpp": ("localhost", None, {"tools", "tool_choice", "max_tokens"}),
}  # fmt: skip
"""What each provider documents of itself: its host, its key, and the fields it takes together."""


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_row_asks_its_provider_as_that_documents(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, key, fields = DOCUMENTED[name]
    if key:
        monkeypatch.setenv(key, "a-key")
    model = connect_model(f"{name}/m")
    assert isinstance(model, OpenAIModel)

    sent = body(model, FULL)

    assert urlsplit(PROVIDERS[name].base_url).hostname == host
    assert PROVIDERS[name].key == key
    assert set(sent) - {"model", "messages"} == fields
    tools = [tool.get("function", tool)["name"] for tool in sent["tools"]]
    assert tools == (["t", "final_answer"] if name == "Anthropic" else ["t"])


def test_another_host_is_spoken_to_with_portable_names(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = connect_model("OpenAI/m")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://me@API.openai.com:443/v1/")
    here = connect_model("OpenAI/m")
    assert isinstance(elsewhere, OpenAIModel)
    assert isinstance(here, OpenAIModel)

    assert "max_tokens" in body(elsewhere, FULL)
    assert "max_output_tokens" in body(here, FULL)


def test_a_local_server_gets_a_key_when_one_is_set(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLAMACPP_BASE_URL", model_server.url)
    model_server.will_say("one", "two")

    run(agent("LlamaCpp/m"), "hi")
    monkeypatch.setenv("LLAMACPP_API_KEY", "local-secret")
    run(agent("LlamaCpp/m"), "hi")

    sent = [headers["authorization"] for headers in model_server.headers]
    assert sent == ["Bearer none", "Bearer local-secret"]


@pytest.mark.parametrize("name", ["OpenAI", "", "/m", "Offline/other"])
def test_a_name_that_no_model_has_is_a_configuration_error(name: str) -> None:
    with pytest.raises(ConfigurationError):
        connect_model(name)


def test_a_row_limits_the_size_of_replies(model_server: ModelServer) -> None:
    model_server.will_say("short", "long" * 1000)
    with cloud(base_url=model_server.url, max_reply_bytes=1000):
        assert run(agent("Cloud/m"), "hi").content == "short"
        with pytest.raises(ModelError, match="more than 1,000 bytes"):
            run(agent("Cloud/m"), "hi")


def test_settings_that_a_row_does_not_take_are_left_out_and_told_once(
    model_server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    text = '[a:Agent {instruction: "x", model: "Cloud/m", settings: {seed: 1, temperature: 1}}]'
    busy = Answer({"error": {"message": "busy"}}, 503, {"retry-after": "0"})
    model_server.will_say(busy, "hello")

    with cloud(base_url=model_server.url, not_taken=["seed", "topP"]):
        run(loads_one(text), "hi")
        (found,) = check_program(parse(text))

    assert "seed" not in model_server.requests[0]
    assert model_server.requests[0]["temperature"] == 1
    assert caplog.text.count("does not take the setting seed") == 1
    assert found.code == "setting-not-taken"
    assert "Cloud does not take seed" in found.message


def test_addresses_have_a_scheme_and_a_host() -> None:
    texts = ["http://x", "https://api.openai.com/v1", "HTTP://[::1]:8000/", "http://me:pw@x:1"]
    assert all(map(is_address, texts))


@pytest.mark.parametrize(
    "text",
    [
        "", "x", "//x", "localhost:8000", "ftp://x", "http://", "http://:80", "http://[x",
        "http://x:99999", "http://x:0", "http://x:y", "http://\u2024", "http://ä",
        "http://x/v1\x01", "http://x/a b", "http://x\n", " http://x", "http://x/\x7f", "http://x/\u3000",
    ],
)  # fmt: skip
def test_what_no_request_can_be_sent_to_is_none(text: str) -> None:
    assert not is_address(text)


LUNA = Model("OpenAI", "gpt-5.6-luna")


def test_a_price_grows_with_the_tokens() -> None:
    one, two = (price_of(LUNA, Usage(count, count)) for count in (1000, 2000))
    assert one is not None
    assert two is not None
    assert Decimal(0) < one < two


@pytest.mark.parametrize(
    ("model", "usage"),
    [
        (Model("OpenAI", "no-such-model"), Usage(1, 1)),
        (Model("Nobody", "x"), Usage(1, 1)),
        (LUNA, Usage(None, 1)),
    ],
)
def test_what_is_not_known_has_no_price(model: Model, usage: Usage) -> None:
    assert price_of(model, usage) is None


def spending(
    server: str = "", usages: tuple[Usage, ...] = (Usage(1_000_000, 0),), model: Model = LUNA
) -> Spending:
    spent = Spending()
    request = Request(model, "x", empty_context)
    said = Message(AssistantRole, "hi")
    for usage in usages:
        reply = ModelReplied((0,), said, usage=usage, server=server)
        spent.count(CallModel((0,), request), reply)
    return spent


def test_each_reply_is_priced_alone_where_long_ones_cost_more() -> None:
    model, usage = Model("Google", "gemini-2.5-pro"), Usage(100_000, 0)
    one, together = price_of(model, usage), price_of(model, Usage(300_000, 0))
    assert one is not None
    assert together is not None
    assert together > 3 * one

    told = spending(usages=(usage,) * 3, model=model).text()

    assert told.endswith(f"300000 in all, about ${shown_price(3 * one)}")


def test_no_part_of_a_price_is_told_where_the_rest_is_unknown() -> None:
    told = spending(usages=(Usage(1000, 0), Usage(1000, None))).text()
    assert "$" not in told


def test_the_price_is_told_where_the_provider_itself_is_asked() -> None:
    text = spending("http://localhost:1/v1").text()
    assert "1000000 input and 0 output tokens, 1000000 in all, about $" in spending().text()
    assert text.endswith("1000000 in all, cost unknown at http://localhost:1/v1")


def test_a_server_that_is_known_has_the_prices_of_its_provider() -> None:
    usage, model = Usage(1000, 1000), Model("Mine", "gpt-5-mini")
    assert price_of_reply(model, usage) is None
    found = price_of_reply(model, usage, server="https://api.openai.com/v1")
    assert found == price_of(Model("OpenAI", "gpt-5-mini"), usage)
    assert price_of_reply(LUNA, usage, server="http://localhost:8000/v1") is None


@pytest.mark.parametrize("server", ["", "http://127.0.0.1:9/v1", "https://far.example/v1"])
def test_providers_on_this_machine_cost_nothing_unless_another_machine_answered(
    server: str,
) -> None:
    usage, is_here = Usage(1000, 1000), "far" not in server
    for name in ("Ollama/llama4", "LlamaCpp/qwen"):
        found = price_of_reply(Model.parse(name), usage, server=server)
        assert found == (0 if is_here else None)


def test_without_the_extra_it_says_how_to_get_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "genai_prices", None)
    with pytest.raises(ConfigurationError, match=r"pip install .*\[prices\]"):
        price_of(LUNA, Usage(1, 1))
    assert "in all (prices are not installed: pip install" in spending().text()
