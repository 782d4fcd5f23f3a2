"""What is shown at a terminal: text that cannot move the cursor, hide or turn around."""

from __future__ import annotations

import ast
import json
import unicodedata

import pytest
from hypothesis import given, strategies as st

from gram import visible
from interp.cli.output import for_question
from tests.interp.cli.process import at, gram
from tests.interp.cli.terminal import Terminal
from tests.interp.model_server import ModelServer, tool_calls
from tests.paths import EXAMPLES, ROOT

HELLO = str(EXAMPLES / "hello_world.gram")

HARMFUL = [
    "\x00", "\x07", "\x08", "\x0b", "\x1b", "\x7f", "\x85", "\x9b", "\r", "\u2028", "\u2029",
    "\u202a", "\u202e", "\u2066", "\u2069", "\U000e0041",
]  # fmt: skip
HIDDEN = ["\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\ufe0f", "\u3164", "\u2800", "\u00a0"]


@pytest.mark.parametrize("char", HARMFUL, ids=ascii)
def test_harmful_characters_are_escaped_everywhere(char: str) -> None:
    escape = char.encode("unicode_escape").decode()

    assert visible(f"a{char}b") == for_question(f"a{char}b") == f"a{escape}b"


@pytest.mark.parametrize("char", [*HIDDEN, "\n", "\t"], ids=ascii)
def test_a_question_shows_what_answers_may_leave_invisible(char: str) -> None:
    assert visible(char) == char
    assert for_question(char) == char.encode("unicode_escape").decode()


@pytest.mark.parametrize(
    "text", ["é ñ 漢字 한글", "می‌خواهم", "क्‍ष", "👩‍💻 ❤️", "line\r\nline\n\tindented"]
)
def test_letters_of_all_scripts_and_emoji_stay_in_answers(text: str) -> None:
    assert visible(text) == text


@given(st.text())
def test_a_question_has_only_visible_characters(text: str) -> None:
    shown = for_question(text)

    assert all(char == " " or unicodedata.category(char)[0] not in "CZ" for char in shown)


@given(st.text())
def test_what_is_shown_can_be_shown_again(text: str) -> None:
    assert visible(visible(text)) == visible(text)


def test_an_argument_cannot_fake_the_question(model_server: ModelServer) -> None:
    hostile = json.dumps({"personName": "A\x1b[2J", "x\x1b[H\u202e": 1, "a: 1)? [y/N]": 2})
    model_server.will_say(tool_calls(("c1", "sayHello", hostile)), "Bye.")

    with Terminal("run", HELLO, "hello", "--approve", "ask", **at(model_server)) as terminal:
        assert terminal.until("never]: ") == (
            'Run sayHello(personName: "A\\u001b[2J", "x\\u001b[H\\u202e": 1, "a: 1)? [y/N]": 2)? '
            "[y/N/always/never]: "
        )


def test_a_long_call_is_shown_whole_when_asked_for(model_server: ModelServer) -> None:
    name = "b" * 3000
    model_server.will_say(tool_calls(("c1", "sayHello", json.dumps({"personName": name}))), "Bye.")

    with Terminal("run", HELLO, "hello", "--approve", "ask", **at(model_server)) as terminal:
        assert name not in terminal.until("v to view it whole]: ")
        terminal.type("v\n")
        assert name in terminal.until("never]: ")
        terminal.type("y\n")
        assert terminal.leaves() == 0


def test_a_pipe_gets_the_text_as_it_is() -> None:
    text = '(a {k: "\x1b[1m\u202e"})'

    assert gram("fmt", "-", stdin=text).stdout == f"{text}\n"


def test_commands_print_through_output_alone() -> None:
    """Nothing else in the command line writes to a stream, so nothing is shown unescaped."""
    for path in sorted((ROOT / "interp" / "cli").glob("*.py")):
        if path.name == "output.py":
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in {"print", "click.echo", "click.secho", "sys.stdout.write"}, (
                    path
                )
