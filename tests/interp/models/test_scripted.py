"""A script answers each agent with the next of its lines, and a file has one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from interp import ModelError, ScriptedModel, load, run, tool
from interp.errors import ConfigurationError
from interp.models import read_script
from tests.interp.cli.process import gram
from tests.paths import EXAMPLES

NEWSROOM = EXAMPLES / "newsroom.gram"
CALL = {"calls": [{"name": "search", "arguments": {"topic": "the moon"}}]}
LINES = {
    "researcher": [CALL, "It has no air."],
    "writer": ["A draft.", "The moon has no air."],
    "editor": [
        {"verdict": "again", "remarks": "Say more."},
        {"verdict": "approved", "remarks": "Good."},
    ],
}


@tool
def search(topic: str) -> str:
    """Searches the archive for facts about a topic"""
    return f"Facts about {topic}."


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "lines.json"
    path.write_text(json.dumps(LINES))
    return path


def test_each_agent_of_a_workflow_gets_its_own_lines(script: Path) -> None:
    model = read_script(script)

    response = run(load(NEWSROOM), "the moon", [search], model=model)

    assert response.content == "The moon has no air."
    asked = [each.agent for each in model.requests]
    assert asked == ["researcher", "researcher", "writer", "editor", "writer", "editor"]


def test_an_agent_without_lines_is_told_with_the_nearest_name() -> None:
    with pytest.raises(ModelError, match=r'no replies for agent "researcher"; .*reseacher'):
        run(load(NEWSROOM), "x", [search], model=ScriptedModel({"reseacher": ["x"]}))


def test_an_agent_whose_lines_are_spent_is_told_by_name() -> None:
    again = '{"verdict": "again", "remarks": "Say more."}'
    model = ScriptedModel({"researcher": ["x"], "writer": ["A draft."], "editor": [again]})

    with pytest.raises(ModelError, match='no reply number 2 for agent "writer"'):
        run(load(NEWSROOM), "x", [search], model=model)


def test_a_missing_line_is_told_with_what_it_would_answer() -> None:
    model = ScriptedModel({"researcher": ["x"], "writer": ["A draft."], "editor": ["Fine."]})

    told = 'no reply number 2 for agent "editor"; it was asked: Your answer cannot be used:'
    with pytest.raises(ModelError, match=told):
        run(load(NEWSROOM), "x", [search], model=model)


def test_the_command_line_runs_a_workflow_by_a_script(script: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools.py"
    tools.write_text(
        "from interp import tool\n\n\n@tool\ndef search(topic: str) -> str:\n"
        '    """Searches the archive for facts about a topic"""\n    return topic\n'
    )

    done = gram("run", str(NEWSROOM), "the moon", "--tools", str(tools), "--script", str(script))

    assert (done.stdout, done.returncode) == ("The moon has no air.\n", 0)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[1, ", ": no JSON: "),
        ('"Hello"', "expected a list of replies"),
        ('{"writer": "Hello"}', ": writer: expected a list"),
        ('[{"calls": ["search"]}]', ": reply 1: expected"),
        ('["x", {"calls": [], "more": 1}]', ": reply 2: expected"),
    ],
)
def test_a_file_that_is_no_script_is_refused_with_its_place(
    text: str, told: str, tmp_path: Path
) -> None:
    path = tmp_path / "lines.json"
    path.write_text(text)

    with pytest.raises(ConfigurationError) as error:
        read_script(path)
    assert told in str(error.value)


def test_a_script_goes_with_no_other_model(script: Path) -> None:
    done = gram("run", str(NEWSROOM), "x", "--script", str(script), "--offline")

    assert done.returncode == 2
    assert "cannot be used together" in done.stderr
