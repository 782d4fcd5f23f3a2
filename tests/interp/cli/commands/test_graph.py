"""``gram graph``: programs drawn, with what a run came to."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from interp import ScriptedModel, hello_world_tool_library, load, run
from tests.interp.cli.process import HELLO, gram
from tests.interp.model_server import tool_calls


@pytest.mark.parametrize(
    ("arguments", "begins"),
    [
        ([], "flowchart LR\n"),
        (["--as", "dot"], "digraph {"),
        (["--as", "svg"], "<svg"),
        (["-o", "x.svg"], "<svg"),
    ],
)
def test_the_form_or_the_file_is_named(tmp_path: Path, arguments: list[str], begins: str) -> None:
    done = gram("graph", HELLO, *arguments, cwd=tmp_path)
    written = "".join(each.read_text("utf-8") for each in tmp_path.iterdir())
    assert (done.stdout + written).startswith(begins)
    assert done.returncode == 0


def test_a_run_shows_what_it_came_to(tmp_path: Path) -> None:
    record = tmp_path / "hi.run.gram"
    replies = [tool_calls(("1", "sayHello", {"personName": "Al"})), "Hello."]
    run(load(HELLO), "hi", hello_world_tool_library, model=ScriptedModel(replies), record=record)
    picture = gram("graph", HELLO, "--run", str(record), "--as", "svg").stdout
    texts = [each.text for each in ElementTree.fromstring(picture).iter() if each.text]
    assert texts.count("2 times") == 1  # the model
    assert texts.count("once") == 2  # the tool, and the arrow to it
    assert "classDef ran" in gram("graph", HELLO, "--run", str(record)).stdout
