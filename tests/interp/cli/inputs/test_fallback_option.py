"""``--fallback``: another model is asked, and the user is told."""

from __future__ import annotations

from pathlib import Path

from tests.interp.cli.process import at, gram, refused
from tests.interp.model_server import Answer, ModelServer
from tests.paths import EXAMPLES

HELLO = str(EXAMPLES / "hello_world.gram")
GONE = Answer({"error": {"message": "no such model"}}, 404)


def test_the_fallback_answers_and_usage_says_why(model_server: ModelServer) -> None:
    model_server.will_say(GONE, "Hello!")

    done = gram("run", HELLO, "hi", "--fallback", "OpenAI/other", "--usage", **at(model_server))

    assert done.returncode == 0
    assert done.stdout == "Hello!\n"
    assert [request["model"] for request in model_server.requests][1] == "other"
    assert "gave no reply (" in done.stderr
    assert "no such model" in done.stderr


def test_a_fallback_without_its_key_is_told(model_server: ModelServer) -> None:
    model_server.will_say("Hello!")

    done = gram("run", HELLO, "hi", "--fallback", "Anthropic/m", **at(model_server))

    assert done.stdout == "Hello!\n"
    assert "the fallback Anthropic/m cannot be asked: ANTHROPIC_API_KEY is not set" in done.stderr


def test_a_fallback_that_is_no_model_is_one_message(model_server: ModelServer) -> None:
    done = gram("run", HELLO, "hi", "--fallback", "nobody", **at(model_server))
    refused(done, 4, "names no provider")


def test_the_models_of_a_list_are_read_and_set(tmp_path: Path) -> None:
    file = tmp_path / "a.gram"
    file.write_text('[a:Agent {\n  instruction: "x", // why\n  model: ["A/x", "B/y"]\n}]\n')

    read = gram("get", str(file), "a.model")
    gram("set", "-i", str(file), "a.model", '["C/z", "B/y"]')

    assert read.stdout == '["A/x", "B/y"]\n'
    assert '  instruction: "x", // why\n  model: ["C/z", "B/y"]\n' in file.read_text()
