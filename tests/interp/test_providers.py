"""Providers: built-in rows, the user's own, and those that the environment names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gram import Pattern, loads_one
from interp import ConfigurationError, Model, hello_world_tool_library, run
from interp.provider_file import providers_path, user_providers
from interp.providers import PROVIDERS, find_provider, known_providers, language_model
from interp.redaction import redact
from tests.interp.model_server import ModelServer


def agent(model: str) -> Pattern:
    """An agent that runs on a model."""
    return loads_one(
        f'[a:Agent {{instruction: "x", model: "{model}", settings: {{maxTokens: 9}}}}]'
    )


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's file of providers, not written yet."""
    path = tmp_path / "providers.toml"
    monkeypatch.setenv("GRAM_PROVIDERS", str(path))
    return path


def test_a_users_row_is_a_provider_like_any_other(
    file: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text(
        f'["My Cloud"]\nbase_url = "{model_server.url}"\nkey = "CLOUD_KEY"\n'
        'dialect = "functions"\nmax_tokens = "max_completion_tokens"\n'
    )
    monkeypatch.setenv("CLOUD_KEY", "cloud-secret")
    model_server.will_say("hello")

    run(agent("my cloud/meta/llama-4"), "hi")

    assert model_server.requests[0]["model"] == "meta/llama-4"
    assert model_server.requests[0]["max_completion_tokens"] == 9
    assert model_server.headers[0]["authorization"] == "Bearer cloud-secret"


def test_without_a_key_the_error_names_the_variable(hello_world: Pattern) -> None:
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY is not set"):
        run(hello_world, "hello", hello_world_tool_library)


def test_a_users_row_needs_its_key(file: Path) -> None:
    file.write_text('[Cloud]\nbase_url = "http://127.0.0.1:9"\nkey = "CLOUD_KEY"\n')

    with pytest.raises(ConfigurationError, match="CLOUD_KEY is not set: Cloud needs a key"):
        run(agent("Cloud/m"), "hi")


def test_a_users_row_takes_the_place_of_a_built_in_one(file: Path) -> None:
    file.write_text('[openai]\nbase_url = "http://127.0.0.1:9"\n')

    provider = find_provider(Model("OpenAI", "x"))

    assert provider is not None
    assert provider.base_url == "http://127.0.0.1:9"


def test_without_a_file_there_are_the_built_in_rows() -> None:
    assert known_providers() == PROVIDERS


def test_the_file_is_looked_for_in_the_users_configuration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "/c")
    assert providers_path() == Path("/c/gram/providers.toml")
    monkeypatch.delenv("XDG_CONFIG_HOME")
    assert providers_path() == Path.home() / ".config/gram/providers.toml"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[Cloud", "is not TOML"),
        ("Cloud = 1", r"Cloud is no table: write \[Cloud\]"),
        ("[Cloud]", "needs a base_url"),
        ('[Cloud]\nbase_url = "ftp://x"', "needs a base_url"),
        ('[Cloud]\nbase_url = "http://"', "needs a base_url that .* and a host"),
        ('[Cloud]\nbaseurl = "http://x"', "has no column baseurl; did you mean base_url"),
        ("[Cloud]\nbase_url = 1", "base_url is a string"),
        ('[Cloud]\nbase_url = "http://x"\ndialect = "x"', "dialect is one of tools, functions"),
        ('["a/b"]\nbase_url = "http://x"', "has no slash"),
        ('[Cloud]\nbase_url = "http://x"\nkey = "gsk_secret"', "keys themselves are never stored"),
    ],
)
def test_a_wrong_file_is_one_error_that_repeats_no_key(file: Path, text: str, message: str) -> None:
    file.write_text(text)

    with pytest.raises(ConfigurationError, match=message) as caught:
        known_providers()

    assert str(file) in str(caught.value)
    assert "gsk_secret" not in str(caught.value)


def test_a_file_that_was_named_has_to_be_there(file: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"\(GRAM_PROVIDERS\) does not exist"):
        known_providers()


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


def test_an_unknown_provider_lists_the_users_rows_too(file: Path) -> None:
    file.write_text('[Cloud]\nbase_url = "http://x"\n')

    with pytest.raises(ConfigurationError, match=r"did you mean Cloud.*LlamaCpp, Cloud, Offline"):
        language_model(Model("Clowd", "x"))


def test_an_address_that_is_the_providers_own_still_needs_its_key(file: Path) -> None:
    file.write_text('[Cloud]\nbase_url = "http://127.0.0.1:9"\nkey = "CLOUD_KEY"\n')

    with pytest.raises(ConfigurationError, match="CLOUD_KEY is not set"):
        language_model(Model("Cloud", "x"), base_url="http://127.0.0.1:9")
    language_model(Model("Cloud", "x"), base_url="http://127.0.0.1:8")


def test_who_has_no_home_has_no_providers(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # as for a user of no name

    assert user_providers() == {}
    assert redact("nothing to hide") == "nothing to hide"
