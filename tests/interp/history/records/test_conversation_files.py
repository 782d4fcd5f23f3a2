"""Conversations in files."""

from __future__ import annotations

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
    load_context,
    save_context,
)
from tests.interp import strategies
from tests.interp.history.stores.crashing import forking


@given(strategies.contexts())
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_conversation_comes_back_from_its_file(
    tmp_path: Path, context: ConversationContext
) -> None:
    path = tmp_path / "c.gram"

    save_context(path, context)

    assert load_context(path) == context


def save_for_ever(path: Path, context: ConversationContext) -> None:
    path.with_suffix(".begun").touch()
    while True:
        save_context(path, context)


def test_a_process_killed_while_it_saves_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "c.gram"
    context = ConversationContext([Message(UserRole, "x" * 200_000)])
    save_context(path, context)
    for wait in (0.0, 0.003, 0.01):
        process = forking().Process(target=save_for_ever, args=(path, context))
        process.start()
        while not path.with_suffix(".begun").exists():
            time.sleep(0.001)
        time.sleep(wait)
        process.kill()
        process.join()

        assert load_context(path) == context
        path.with_suffix(".begun").unlink()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "c.gram:1:1: error[no-conversation] expected one pattern labelled"),
        ("(:Conversation)\n(:Conversation)", "c.gram:2:1: error[no-conversation] expected one"),
        ("[:Conversation |\n  (:User {a: 1})]", "c.gram:2:14: error[unknown-property] User has no"),
        ("[:Conversation | (", "c.gram:1:19"),
    ],
)
def test_a_file_that_is_not_a_conversation_is_one_error_with_its_place(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "c.gram"
    path.write_text(text)

    with pytest.raises((ValidationError, GramDecodeError)) as caught:
        load_context(path)

    assert message in str(caught.value)
    assert str(caught.value).count("c.gram") == 1
