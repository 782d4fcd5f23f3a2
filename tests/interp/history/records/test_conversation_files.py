"""Conversations in files."""

from __future__ import annotations

import resource
import signal
from pathlib import Path

import pytest

import interp
from gram import GramDecodeError
from interp import ConversationContext, Message, UserRole, load_context, save_context
from tests.interp.history.stores.crashing import forking


def killed_while_it_saves(path: Path, context: ConversationContext) -> None:
    """Save, and be killed by the system after so many bytes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
    save_context(path, context)


def test_a_process_killed_while_it_saves_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "c.gram"
    context = ConversationContext([Message(UserRole, "é \0\ud800" + "x" * 200_000)])
    save_context(path, context)
    process = forking().Process(target=killed_while_it_saves, args=(path, context))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGXFSZ
    assert load_context(path) == context


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
    with pytest.raises((interp.ValidationError, GramDecodeError)) as caught:
        load_context(path)
    assert message in str(caught.value)
    assert str(caught.value).count("c.gram") == 1
