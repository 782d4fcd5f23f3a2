"""What servers offer: read from their lists, with errors as clear as those of requests."""

from __future__ import annotations

from typing import Any

import pytest

from interp import ConfigurationError, ModelError
from interp.models import offered_models
from interp.models.connect import Offered
from tests.interp.model_server import Answer, ModelServer

LISTS = [
    ({"object": "list", "data": [{"id": "b", "object": "model"}, {"id": "a"}]}, ("a", "b")),
    ({"models": [{"name": "a", "model": "x"}], "data": [{"id": "b"}]}, ("b",)),  # llama.cpp
    ({"models": [{"name": "a"}]}, ("a",)),
    ([{"id": "a"}, {"id": "a"}, "b"], ("a", "b")),
    ({"data": [{"id": "models/gemini-3"}]}, ("gemini-3",)),  # Google
    ({"data": [{"id": ""}, {"id": 3}, {}, None, {"id": "a"}]}, ("a",)),
    ({"data": [{"id": "safe\x1b[2J"}]}, ("safe\\x1b[2J",)),
    ({"data": []}, ()),
]


@pytest.mark.parametrize(("listed", "names"), LISTS)
def test_the_names_in_a_list_are_read(
    model_server: ModelServer, listed: Any, names: tuple[str, ...]
) -> None:
    model_server.will_say(Answer(listed))
    assert offered_models(model_server.url) == Offered(model_server.url, names)
    assert model_server.paths == ["/v1/models"]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answer(raw=b"<html>"), "gave no list of models: <html>"),
        (Answer(raw=b""), "gave no list of models: nothing"),
        (Answer({"data": "x"}), "gave no list of models"),
        (Answer({"object": "list"}), "gave no list of models"),
        (Answer({"error": {"message": "no"}}), "reports an error: no"),
        (Answer({"error": {"message": "nope"}}, 404), "answered 404: nope\n  hint: does"),
        (Answer({"error": {"message": "slow down"}}, 400), "answered 400: slow down"),
        (Answer(raw=b"x" * 4_000_001), "more than 4,000,000 bytes"),
        (Answer(raw=b"x" * 4_000_001, headers={"content-type": "text/event-stream"}),
         "more than 4,000,000 bytes"),
        (Answer([[]] * 1_000_000), "more than 4,000,000 bytes"),
        (Answer(status=302, headers={"location": "http://a.example/"}), "redirects to http://a.ex"),
        (Answer({"data": []}, drop=True), "broke before its reply was complete"),
    ],
)  # fmt: skip
def test_a_server_without_a_list_is_an_error(
    model_server: ModelServer, answer: Answer, message: str
) -> None:
    model_server.will_say(answer, answer)
    with pytest.raises(ModelError) as found:
        offered_models(model_server.url)
    assert message in str(found.value)


def test_a_key_that_is_refused_is_an_error_of_the_configuration(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", model_server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong-1234567890")
    said = Answer({"error": {"message": "sk-wrong-1234567890 is wrong"}}, 401)
    model_server.will_say(said, Answer({"data": [{"id": "sk-wrong-1234567890"}]}))

    with pytest.raises(ConfigurationError, match="refused the key") as found:
        offered_models("openai")
    assert "sk-wrong" not in str(found.value)
    assert "sk-wrong" not in str(offered_models("OpenAI").names)
    assert model_server.headers[0]["authorization"] == "Bearer sk-wrong-1234567890"


def test_an_address_gets_no_key(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", model_server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-1234567890")
    model_server.will_say(Answer({"data": []}), Answer({"error": "who are you?"}, 401))

    offered_models(model_server.url)
    with pytest.raises(ConfigurationError, match="hint: an address gets no key"):
        offered_models(model_server.url)

    assert "sk-secret" not in str(model_server.headers)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("OpenAY", 'unknown provider "OpenAY"'),
        ("localhost:8080", "it must start with http:// or https://"),
        ("ftp://a.example", "it must start with http:// or https://"),
        (" ", "' ' is no provider, and not a server address"),
        ("OpenAI", "OPENAI_API_KEY is not set"),
        ("OpenAI/gpt-5.6-luna", "OPENAI_API_KEY is not set"),
    ],
)
def test_what_is_no_server_is_refused(
    asked: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ConfigurationError, match=message):
        offered_models(asked)


def test_nobody_is_asked_for_the_offline_model() -> None:
    for asked in ("offline", "Offline/rehearsal"):
        assert offered_models(asked).names == ("rehearsal",)
