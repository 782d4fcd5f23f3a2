"""Cells that are programs, in a real IPython."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from gram import Pattern

DESK = """\
[desk:Agent {description: "d", instruction: "Call `greet`.", model: "Offline/rehearsal"} |
  [greet:ToolSpecification {description: "Greets somebody by name"} | (name::Text)==>(::String)]]
"""


@pytest.fixture
def shell(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # a shell replaces it
    made = InteractiveShell.instance()
    atexit.unregister(made.atexit_operations)
    made.run_line_magic("load_ext", "interp")
    made.user_ns["tools"] = [greet]
    yield made
    made.atexit_operations()
    InteractiveShell.clear_instance()


def greet(name: str) -> str:
    """Greets somebody by name"""
    return f"Hello, {name}!"


def test_a_cell_binds_its_agents_by_their_names(shell: InteractiveShell) -> None:
    shell.run_cell_magic("gram", "", DESK)

    assert isinstance(shell.user_ns["desk"], Pattern)


def test_a_cell_with_a_mistake_shows_its_line_and_binds_nothing(shell: InteractiveShell) -> None:
    with capture_output() as shown:
        shell.run_cell_magic("gram", "", DESK.replace("instruction", "instuction"))

    assert "desk" not in shell.user_ns
    assert "[desk:Agent" in "".join(each.data["text/html"] for each in shown.outputs)
    assert "did you mean" in "".join(each.data["text/plain"] for each in shown.outputs)


def test_a_talk_goes_on_with_what_was_said_before(shell: InteractiveShell) -> None:
    shell.run_cell_magic("gram", "", DESK)
    first = shell.run_line_magic("gram_chat", "desk My name is Alice, greet me")
    second = shell.run_line_magic("gram_chat", "desk Again, please")

    assert first is not None
    assert second is not None
    assert "Hello, Alice!" in first.content
    assert len(second.context) > len(first.context)


def test_a_talk_with_nobody_says_who_is_there(shell: InteractiveShell) -> None:
    shell.run_cell_magic("gram", "", DESK)
    with capture_output() as shown:
        assert shell.run_line_magic("gram_chat", "dsk Hello") is None

    assert "the agents here are: desk" in shown.outputs[0].data["text/plain"]
