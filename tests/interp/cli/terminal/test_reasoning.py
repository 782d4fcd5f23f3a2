"""What the command line shows of reasoning, and of the dialect."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.interp.cli.process import at, gram
from tests.interp.cli.typing_at import Terminal
from tests.interp.model_server import Answer, ModelServer, completion
from tests.paths import EXAMPLES

HELLO = str(EXAMPLES / "hello_world.gram")
THINKING = {"content": "Hi, Alice.", "reasoning": "She greets me."}
DETAILS = {
    "prompt_tokens": 10,
    "completion_tokens": 5,
    "prompt_tokens_details": {"cached_tokens": 8},
    "completion_tokens_details": {"reasoning_tokens": 4},
}


@pytest.mark.parametrize(
    ("options", "shown"), [((), "She greets me.\n"), (("--no-reasoning",), "")]
)
def test_reasoning_is_shown_on_standard_error_unless_nobody_wants_it(
    model_server: ModelServer, tmp_path: Path, options: tuple[str, ...], shown: str
) -> None:
    model_server.will_say(THINKING)
    told = tmp_path / "told"
    with Terminal("run", HELLO, "hello", *options, told=told, **at(model_server)) as terminal:
        assert terminal.leaves() == 0

    assert terminal.seen.splitlines() == ["Hi, Alice."]
    assert told.read_text() == shown


def test_a_stream_of_json_has_a_line_for_each_piece_of_reasoning(
    model_server: ModelServer,
) -> None:
    model_server.will_say(THINKING)

    done = gram("run", HELLO, "hello", "--json", "--stream", **at(model_server))

    lines = [json.loads(line) for line in done.stdout.splitlines()]
    thought = [line for line in lines if line["type"] == "reasoning"]
    assert "".join(line["text"] for line in thought) == THINKING["reasoning"]
    assert thought[0]["at"] == [0]


def test_usage_tells_what_was_cached_and_what_was_reasoning(model_server: ModelServer) -> None:
    model_server.will_say(Answer(completion(THINKING, usage=DETAILS)))

    done = gram("run", HELLO, "hello", "--usage", **at(model_server))

    assert "10 input (8 cached) and 5 output (4 reasoning) tokens, 15 in all" in done.stderr


def test_a_trace_has_reasoning_on_a_line_of_its_own(
    model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.will_say(Answer(completion(THINKING, usage=DETAILS)))
    record = str(tmp_path / "a.run.gram")
    gram("run", HELLO, "hello", "--record", record, **at(model_server))

    shown = gram("trace", record).stdout
    page = gram("trace", record, "--html", "-").stdout

    assert gram("replay", record).stderr == "She greets me.\n"
    assert "reasoning: She greets me." in shown
    assert "10+5 tokens (8 cached, 4 reasoning)" in shown
    assert "She greets me." in page
