"""Conversations in files."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from gram import GramDecodeError
from interp import (
    ConversationContext,
    Message,
    UserRole,
    ValidationError,
    hello_world_tool_library,
    load,
    load_context,
    run,
    save_context,
)
from tests.interp import strategies
from tests.paths import EXAMPLES, ROOT


@given(strategies.contexts())
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_conversation_comes_back_from_its_file(
    tmp_path: Path, context: ConversationContext
) -> None:
    path = tmp_path / "c.gram"

    save_context(path, context)

    assert load_context(path) == context


def test_a_loaded_conversation_goes_on(tmp_path: Path) -> None:
    agent = load(EXAMPLES / "hello_world.gram")
    first = run(agent, "My name is Bob", hello_world_tool_library, model="Offline/rehearsal")
    save_context(tmp_path / "c.gram", first.context)

    context = load_context(tmp_path / "c.gram")
    again = run(agent, "oh, hello", hello_world_tool_library, context, model="Offline/rehearsal")

    assert again.content == "Hello, Bob! Nice to meet you."


def test_a_process_killed_while_it_saves_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "c.gram"
    context = ConversationContext([Message(UserRole, "x" * 200_000)])
    save_context(path, context)
    code = (
        "import sys; from interp import load_context, save_context\n"
        "context = load_context(sys.argv[1]); print('ready', flush=True)\n"
        "while True: save_context(sys.argv[1], context)"
    )
    for wait in (0.0, 0.003, 0.01):
        with subprocess.Popen(
            [sys.executable, "-c", code, str(path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(wait)
            process.kill()

        assert load_context(path) == context


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "c.gram:1:1: error[no-conversation] expected one pattern labelled"),
        ("(a)", "c.gram:1:2: error[unexpected-label] expected Conversation, found no label"),
        ("(:Conversation)\n(:Conversation)", "c.gram:2:1: error[no-conversation] expected one"),
        ("[:Conversation |\n  (:User {a: 1})]", "c.gram:2:14: error[unknown-property] User has no"),
    ],
)
def test_a_file_that_is_not_a_conversation_is_one_error_with_its_place(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "c.gram"
    path.write_text(text)

    with pytest.raises(ValidationError) as caught:
        load_context(path)

    assert message in str(caught.value)
    assert len(caught.value.faults) == 1


def test_a_file_that_is_not_gram_is_a_decode_error(tmp_path: Path) -> None:
    path = tmp_path / "c.gram"
    path.write_text("[:Conversation | (")

    with pytest.raises(GramDecodeError, match=r"c\.gram:1:19"):
        load_context(path)
