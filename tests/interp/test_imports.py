"""Programs of several files are loaded, run, recorded and submitted as one program."""

from __future__ import annotations

from pathlib import Path

import pytest

from gram import Pattern, dumps, is_reference, parse, walk
from interp import ValidationError, hello_world_tool_library, load, run
from interp.machine import start
from interp.programs import the_agent
from interp.workers.submission import to_submit
from lenses_ext import Project, load_project

AGENT = 'Agent {description: "d", instruction: "Greet.", model: "Offline/rehearsal"}'
TOOL = """\
[sayHello:Tool {description: "Returns a friendly greeting message for the given name"} |
  (personName::Text {default: "world"})==>(::String)]
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "greet.gram").write_text(TOOL)
    (tmp_path / "a.gram").write_text(
        f'{{imports: ["tools/greet.gram"]}}\n[a:{AGENT} | sayHello]\n[b:{AGENT} | a]\n'
    )
    return load_project(tmp_path / "a.gram")


def is_closed(pattern: Pattern) -> bool:
    """Whether nothing in it is only named."""
    return not any(is_reference(each) for _, each in walk(pattern))


def test_a_path_is_loaded_with_what_it_imports(project: Project) -> None:
    agent = load(project.path, "a")

    assert is_closed(agent)
    assert agent == the_agent(project, "a", by="test")
    assert load(str(project.path)) == the_agent(project, by="test"), "b, which nothing refers to"


def test_an_open_file_opens_no_other(project: Project) -> None:
    no_other = pytest.raises(ValidationError, match=r"open-import.*greet")
    with project.path.open() as file, no_other as caught:
        load(file, "a")

    assert [each.lineno for each in caught.value.faults] == [1]


def test_an_import_that_cannot_be_read_is_refused_with_its_place(project: Project) -> None:
    (project.path.parent / "tools" / "greet.gram").unlink()

    with pytest.raises(ValidationError, match=r"a\.gram:1:12: error\[missing-import\]"):
        load(project.path, "a")


def test_a_run_keeps_the_texts_that_it_began_with(project: Project, tmp_path: Path) -> None:
    record = tmp_path / "run.gram"

    response = run(project, "I'm Ada!", hello_world_tool_library, agent="a", record=record)

    (entry, *_) = parse(record.read_text()).patterns
    program = str(entry.value.properties["program"])
    assert "Ada" in response.content
    assert "imports" not in program
    assert the_agent(parse(program), "a", by="test") == load(project.path, "a")


def test_what_is_begun_or_submitted_is_one_closed_program(project: Project) -> None:
    begun = start(project, "Hi", agent="b").state
    submitted = to_submit(project, "Hi", {"agent": "b"})

    for state in (begun, submitted):
        assert is_closed(state.agent)
        assert the_agent(parse(dumps(state.agent)), by="test") == state.agent
