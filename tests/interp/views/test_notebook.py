"""What notebooks show, and cells that are programs, in a real IPython."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import interp
from gram import ArgumentError, Pattern
from interp import ScriptedModel, ToolLibrary, begin, create_tool, load_run, run, tool
from interp.views import conversation_form, run_form
from lenses_ext import drawing_of, parse_program
from tests.gram.display.test_markup import Reader
from tests.interp.model_server import tool_calls

LONG = "<b>long</b>\n" * 5_000
PROGRAM = parse_program(
    """[reader:Agent {instruction: "Read.", model: "A/b"} |
  [read:Tool {description: "Reads"} | (text::Text)==>(::Text)]]"""
)


@tool
def read(text: str) -> str:
    """Reads"""
    return text * 2


def model() -> ScriptedModel:
    return ScriptedModel([tool_calls(("1", "read", {"text": LONG}), content=LONG), LONG])


@pytest.fixture
def shown(tmp_path: Path) -> list[Any]:
    """Everything of a run that somebody may print."""
    file = tmp_path / "run.gram"
    seen: list[Any] = []
    library = ToolLibrary.of([read])
    how: Any = {"record": file, "watch": lambda *each: seen.extend(each)}
    answer = run(PROGRAM, LONG, library, model=model(), **how)
    kept = load_run(file)
    begun = begin(PROGRAM, LONG, library, model=model())
    tools = [create_tool(f"tool{index}", "d", {"type": "object"}, str) for index in range(500)]
    seen += [begun, begun.state, *begun.stream(words=False), answer, answer.context, library]
    seen += [*answer.context, *answer.tools_used, answer.context[1].tool_calls[0]]
    seen += [kept, *kept.entries, interp.recorded(kept), ToolLibrary.of(tools)]
    seen += [interp.timeline(kept), *interp.timeline(kept).entries]
    return [*seen, PROGRAM, PROGRAM.patterns[0], drawing_of(PROGRAM)]


def test_what_is_printed_is_one_short_line_and_notebooks_show_it_as_text(shown: list[Any]) -> None:
    lengths = {type(each).__name__: len(repr(each)) for each in shown}
    assert {name: length for name, length in lengths.items() if length > 1_500} == {}
    assert not [type(each) for each in shown if "\n" in repr(each)]
    forms = [each._repr_mimebundle_() for each in shown if hasattr(each, "_repr_mimebundle_")]
    assert len(forms) > 7
    for form in forms:
        assert len(form["text/plain"]) < 1_500
        assert "b" not in [tag for tag, _ in Reader(form["text/html"]).tags]


DESK = """\
[desk:Agent {description: "d", instruction: "Call `greet`.", model: "Offline/rehearsal"} |
  [greet:ToolSpecification {description: "Greets somebody by name"} | (name::Text)==>(::String)]]
"""


@pytest.mark.parametrize("form", [run_form, conversation_form])
def test_what_is_neither_a_run_nor_a_conversation_has_no_form(form: Any) -> None:
    with pytest.raises(ArgumentError, match=rf"\A{form.__name__}: .* got None"):
        form(None)


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


def test_a_cell_with_a_mistake_shows_its_line_and_binds_nothing(shell: InteractiveShell) -> None:
    with capture_output() as shown:
        shell.run_cell_magic("gram", "", DESK.replace("instruction", "instuction"))
    assert "desk" not in shell.user_ns
    assert "[desk:Agent" in "".join(each.data["text/html"] for each in shown.outputs)
    assert "did you mean" in "".join(each.data["text/plain"] for each in shown.outputs)


def test_a_cell_binds_its_agents_and_a_talk_with_one_goes_on(shell: InteractiveShell) -> None:
    shell.run_cell_magic("gram", "", DESK)
    assert isinstance(shell.user_ns["desk"], Pattern)
    with capture_output() as shown:
        assert shell.run_line_magic("gram_chat", "dsk Hello") is None
    assert "the agents here are: desk" in shown.outputs[0].data["text/plain"]
    first = shell.run_line_magic("gram_chat", "desk My name is Alice, greet me")
    second = shell.run_line_magic("gram_chat", "desk Again, please")

    assert first is not None
    assert second is not None
    assert "Hello, Alice!" in first.content
    assert len(second.context) > len(first.context)


@pytest.mark.parametrize(
    ("name", "program", "told"),
    [
        ("both", DESK + DESK.replace("desk", "help"), "the program has 2 agents"),
        ("", DESK.replace("desk", "the-desk"), "the-desk is no name of a variable: %%gram NAME"),
    ],
)
def test_what_a_cell_cannot_bind_is_told(
    name: str, program: str, told: str, shell: InteractiveShell
) -> None:
    with capture_output() as shown:
        shell.run_cell_magic("gram", name, program)
    assert told in "".join(each.data["text/plain"] for each in shown.outputs)
