"""Models without a network: a script for each agent, and several models as one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from gram import parse
from interp import ConfigurationError, ModelError, ScriptedModel, UserRole, arun, load, run, tool
from interp.machine import Request
from interp.machine.messages import ConversationContext, Message
from interp.models import AnyModel, read_script
from lenses_ext import Model
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


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"verdict": "again", "remarks": "Say more."}', '"writer"'),
        ("Fine.", '"editor"; it was asked: Your answer cannot be used:'),
    ],
)
def test_a_missing_line_is_told_with_its_agent_and_what_it_would_answer(
    line: str, told: str
) -> None:
    model = ScriptedModel({"researcher": ["x"], "writer": ["A draft."], "editor": [line]})
    with pytest.raises(ModelError, match=f"no reply number 2 for agent {told}"):
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
        ('[{"calls": [{"name": ""}]}]', 'reply 1: expected {"calls"'),
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


class Named:
    """A model that says its name, in every way a model may be asked."""

    def __init__(self, name: str) -> None:
        self.name = name

    def complete(self, request: Request) -> str:
        return self.name

    async def acomplete(self, request: Request) -> str:
        return f"{self.name} later"

    def stream(self, request: Request) -> Iterator[str]:
        yield from self.name

    async def astream(self, request: Request) -> AsyncIterator[str]:
        for word in self.name:
            yield word

    def body(self, request: Request) -> dict[str, Any]:
        return {"for": self.name}


FIRST, SECOND = Named("first"), Named("second")
SEVERAL = AnyModel({Model("A", "1"): FIRST, Model("B", "2"): SECOND})
REQUEST = Request(Model("B", "2"), "Help.", ConversationContext([Message(UserRole, "hi")]))


def test_each_way_to_ask_goes_to_the_model_that_is_named() -> None:
    async def words() -> list[str]:
        return [each async for each in SEVERAL.astream(REQUEST)]

    assert asyncio.run(SEVERAL.acomplete(REQUEST)) == "second later"
    assert "".join(asyncio.run(words())) == "second"
    assert SEVERAL.body(REQUEST) == {"for": "second"}


def test_agents_with_models_of_their_own_are_rehearsed_together() -> None:
    program = parse(
        """
        [w:Workflow | a, b, (a)-->(b)]
        (a:Agent {instruction: "x", model: "Offline/rehearsal"})
        (b:Agent {instruction: "y", model: "Offline/rehearsal"})
        """
    )

    assert asyncio.run(arun(program, "hi")) == run(program, "hi")


@pytest.mark.parametrize("given", [{}, {"OpenAI/m": FIRST}, {Model("OpenAI", "m"): FIRST}])
def test_a_mapping_of_models_is_none(given: Any) -> None:
    agent = parse('[a:Agent {instruction: "x", model: "OpenAI/m"}]')
    with pytest.raises(ConfigurationError, match=r"is not a model: it has no complete\(request\)"):
        run(agent, "hi", model=given)
    with pytest.raises(ConfigurationError, match="ScriptedModel is a class"):
        run(agent, "hi", model=ScriptedModel)  # type: ignore[arg-type]  # wrong on purpose
