"""Commands follow the imports of the file that they are given."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.interp.cli import process

AGENT = 'Agent {{description: "d", instruction: "Help.", model: "Offline/rehearsal"}}'
FILES = {
    "gram.toml": "",
    "agents/main.gram": f"""\
{{{{imports: ["../shared/desk.gram", "../tools/greet.gram"]}}}}
[main:{AGENT} | sayHello, desk] // the first
""",
    "shared/desk.gram": f'{{{{imports: ["../tools/greet.gram"]}}}}\n[desk:{AGENT} | sayHello]\n',
    "tools/greet.gram": """\
// greets
[sayHello:ToolSpecification {{
    description: "Returns a friendly greeting message for the given name"}} |
  (personName::Text {{default: "world"}})==>(::String)] // all agents
""",
}


def gram(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command in the current folder."""
    return process.gram(*arguments, stdin=stdin, cwd=Path.cwd())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text.format())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder: Path) -> dict[str, str]:
    return {name: (folder / name).read_text() for name in FILES}


def test_a_program_of_several_files_is_checked_and_run(folder: Path) -> None:
    checked = gram("check", "agents/main.gram")
    ran = gram("run", "agents/main.gram", "I'm Ada!", "--record", "run.gram")
    tools = gram("tools", "agents/main.gram", "--json")
    schema = gram("schema", "agents/main.gram")
    drawn = gram("graph", "agents/main.gram")

    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
    assert ran.returncode == 0, ran.stderr
    assert "Ada" in ran.stdout
    assert [row["place"] for row in json.loads(tools.stdout)] == ["tools/greet.gram:2:1"]
    assert "personName" in schema.stdout + schema.stderr
    assert "desk" in drawn.stdout


def test_the_file_that_holds_a_definition_is_edited(folder: Path) -> None:
    before = contents(folder)

    got = gram("get", "agents/main.gram", "sayHello.description")
    shown = gram("set", "agents/main.gram", "sayHello.description", "Greets", "--diff")
    printed = gram("set", "agents/main.gram", "desk.instruction", "New")
    assert contents(folder) == before
    gram("set", "agents/main.gram", "main.tools.sayHello.description", "Greets", "-i")

    assert got.stdout.strip() == "Returns a friendly greeting message for the given name"
    assert shown.stdout.startswith("--- tools/greet.gram\n")
    assert printed.stdout.startswith("// shared/desk.gram\n{imports:")
    changed = before["tools/greet.gram"].replace(got.stdout.strip(), "Greets")
    assert contents(folder) == before | {"tools/greet.gram": changed}


def test_an_edit_that_breaks_another_file_is_refused(folder: Path) -> None:
    before = contents(folder)
    refused = gram("del", "agents/main.gram", "sayHello", "-i")
    assert refused.returncode == 1
    assert "undefined-reference" in refused.stderr
    assert contents(folder) == before


def test_of_several_files_each_is_looked_at_by_itself(folder: Path) -> None:
    own = gram("get", "*.model", "agents", "shared")
    named = gram("get", "sayHello.description", "agents", "shared", "tools")
    files = [line.partition(":")[0] for line in own.stdout.splitlines()]
    assert files == ["agents/main.gram", "shared/desk.gram"]
    assert named.stdout.startswith("tools/greet.gram: ")
    assert named.stdout.count("\n") == 1


def test_a_definition_that_differs_from_its_namesake_in_another_file_is_told(folder: Path) -> None:
    text = (folder / "tools/greet.gram").read_text()
    (folder / "old.gram").write_text(text.replace("friendly", "cold"))
    (folder / "same.gram").write_text(text.replace("// greets", ""))

    told = gram("check", ".")
    alone = gram("check", "old.gram")
    (folder / "gram.toml").write_text('lint = {namesake-differs = "off"}')
    off = gram("check", ".")

    assert told.returncode == 0
    said = 'info[namesake-differs] the tool "sayHello" differs from the one at '
    assert told.stdout.startswith(f"old.gram:2:2: {said}")
    assert told.stdout.count("namesake-differs") == 1
    assert alone.stdout == off.stdout == ""


def test_a_broken_file_among_others_is_told_and_the_others_go_on(folder: Path) -> None:
    (folder / "tools/greet.gram").write_text("<<<<<<< ours\n[a | b]\n")
    done = gram("check", ".")
    assert "agents/main.gram:1:35: error[unreadable-import]" in done.stdout
    assert "tools/greet.gram:1:1: error[syntax]" in done.stdout
    assert "undefined-reference" not in done.stdout
    assert gram("run", "agents/main.gram", "hello").returncode == 3


def test_standard_input_opens_nothing(folder: Path) -> None:
    text = (folder / "agents/main.gram").read_text()
    checked = gram("check", "-", stdin=text)
    ran = gram("run", "-", "hello", stdin=text)
    assert checked.stdout.count("error[open-import]") == 2
    assert ran.returncode == 3
    assert '"../shared/desk.gram" is imported' in ran.stderr
