"""``gram models --offered`` and ``gram check --models``: what servers offer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.interp.cli.process import at, gram, printed, written
from tests.interp.model_server import Answer, ModelServer

LIST = Answer({"data": [{"id": "gpt-5.6-luna"}, {"id": "gpt-5.6-sol"}]})


def program(folder: Path, *models: str) -> str:
    """The file of a program with an agent for each model."""
    agents = (f'[a{n}:Agent {{instruction: "x", model: "{m}"}}]' for n, m in enumerate(models))
    return written(folder / "a.gram", "\n".join(agents))


@pytest.mark.parametrize("asked", ["OpenAI", "{url}"])
def test_the_models_of_a_server_are_listed(model_server: ModelServer, asked: str) -> None:
    model_server.will_say(LIST)
    done = gram("models", "--offered", asked.format(url=model_server.url), **at(model_server))
    assert (done.returncode, done.stdout) == (0, "gpt-5.6-luna\ngpt-5.6-sol\n")
    assert f"2 models of {model_server.url}" in done.stderr
    model_server.will_say(LIST)
    as_json = gram("models", "--offered", model_server.url, "--json").stdout
    assert json.loads(as_json) == {"address": model_server.url, "models": done.stdout.split()}


def test_a_check_asks_each_server_once(model_server: ModelServer, tmp_path: Path) -> None:
    model_server.will_say(LIST)
    file = program(tmp_path, "OpenAI/gpt-5.6-luna", "OpenAI/gpt-5.6-sol", "Offline/rehearsal")
    done = gram("check", "--models", file, **at(model_server))
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.count("asks OpenAI for its models") == 1
    assert model_server.paths == ["/v1/models"]


def test_a_model_that_is_not_offered_is_an_error(model_server: ModelServer, tmp_path: Path) -> None:
    model_server.will_say(LIST)
    file = program(tmp_path, "OpenAI/gpt-5.6-lunar")

    done = gram("check", "--models", file, **at(model_server))

    fault = f"error[model-not-offered] {model_server.url} does not offer gpt-5.6-lunar"
    printed(done, 1, f"{file}:1:", fault, "did you mean gpt-5.6-luna or")


def test_a_check_says_what_it_could_not_ask(model_server: ModelServer, tmp_path: Path) -> None:
    model_server.will_say(Answer({"error": {"message": "not here"}}, 404))
    file = program(tmp_path, "OpenAI/a", "Nobody/b")
    done = gram("check", "--models", file, **at(model_server))
    printed(done, 1, "it cannot be told whether OpenAI/a is offered", "answered 404: not here")
    assert "hint: does the server list its models?" in done.stdout
    assert done.stdout.count("Nobody") == 2  # the warning, and the line that it is about
