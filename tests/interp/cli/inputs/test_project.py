"""The project file: what it gives to commands, and what it must not do by itself."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from interp import hello_world_tool_library, load, open_store, run as run_agent
from tests.interp.cli.process import gram, refused, rows
from tests.paths import EXAMPLES

HELLO = (EXAMPLES / "hello_world.gram").read_text("utf-8")
TOOLS = '''\
from pathlib import Path

from interp import tool

Path("was_run").write_text("yes")


@tool
def sayHello(personName: str = "world") -> str:
    """Returns a friendly greeting message for the given name"""
    return f"Ahoy, {personName}!"
'''
ASKED = "My name is Ann. Please call sayHello for me."
DEEP = {"deep": "tools = " + "[" * 100_000 + "]" * 100_000}
GROQ = '[providers.Groq]\nbase_url = "https://api.groq.com/openai/v1"\nkey = "GROQ_API_KEY"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as it was cloned: a program, tools and a project file that names them."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "hello.gram").write_text(HELLO)
    (project / "tools.py").write_text(TOOLS)
    (project / "gram.toml").write_text('tools = ["tools.py"]\n')
    return project


def run(folder: Path, *more: str, command: str = "run") -> subprocess.CompletedProcess[str]:
    """A command on the program of a folder, where nobody can be asked."""
    words = (ASKED, "--offline") if command == "run" else ()
    state = str(folder.parent / "state")
    return gram(command, "hello.gram", *words, *more, cwd=folder, XDG_STATE_HOME=state)


def test_a_folder_runs_no_code_until_somebody_has_said_yes(folder: Path) -> None:
    done = run(folder)
    assert "gram.toml is not used, since nobody has said yes to it: --trust does" in done.stderr
    assert not (folder / "was_run").exists()


def test_every_command_finds_runs_where_the_project_keeps_them_after_a_yes(folder: Path) -> None:
    (folder / "gram.toml").write_text('record = "kept.db"\n')
    at = {"cwd": folder, "XDG_STATE_HOME": str(folder.parent / "state")}
    with open_store(folder / "kept.db") as store:
        agent = load(EXAMPLES / "hello_world.gram")
        kept: Any = {"record": store, "conversation": "hi"}
        run_agent(agent, "hello", hello_world_tool_library, model="Offline/rehearsal", **kept)
        (row,) = store.rows()
    reading = (["trace", row.id], ["graph", "hello.gram", "--run", row.id])

    for command in reading:
        assert "there is no" in gram(*command, **at).stderr
    assert row.id in gram("runs", "list", "--trust", **at).stdout
    for command in reading:
        done = gram(*command, **at)
        assert (done.returncode, "hello_world_agent" in done.stdout) == (0, True)
    assert "hi" in gram("conversations", "list", **at).stdout


def test_a_yes_is_kept_for_this_content_alone_and_outside_the_folder(folder: Path) -> None:
    assert "Ahoy, Ann!" in run(folder, "--trust").stdout
    assert "Ahoy, Ann!" in run(folder).stdout
    assert {each.name for each in folder.iterdir()} <= {
        *("hello.gram", "tools.py", "gram.toml", "was_run", "__pycache__")
    }
    (folder / "gram.toml").write_text('tools = "tools.py"\n')
    assert "is not used" in run(folder).stderr


def test_a_copy_of_a_trusted_file_in_another_folder_is_asked_about(folder: Path) -> None:
    run(folder, "--trust")
    other = folder.parent / "other"
    other.mkdir()
    for name in ("hello.gram", "tools.py", "gram.toml"):
        (other / name).write_text((folder / name).read_text())
    assert "is not used" in run(other).stderr


@pytest.mark.parametrize("command", ["check", "fmt", "graph", "schema"])
def test_what_only_reads_programs_asks_nothing_and_runs_nothing(folder: Path, command: str) -> None:
    done = run(folder, command=command)
    assert done.returncode == 0
    assert "gram.toml" not in done.stderr
    assert not (folder / "was_run").exists()


def test_options_say_otherwise_for_one_call(folder: Path) -> None:
    (folder / "mine.py").write_text(TOOLS.replace("Ahoy", "Moin"))
    assert "Moin, Ann!" in run(folder, "--trust", "--tools", "mine.py").stdout


def test_a_project_is_that_of_its_repository_and_no_file_above_it_counts(folder: Path) -> None:
    inside = folder / "deep" / "er"
    inside.mkdir(parents=True)
    (inside / "hello.gram").write_text(HELLO)
    assert "gram.toml" not in run(inside).stderr
    (folder / ".git").mkdir()
    assert "../../gram.toml is not used" in run(inside).stderr


def test_pyproject_has_a_table_for_it(folder: Path) -> None:
    (folder / "gram.toml").unlink()
    (folder / "pyproject.toml").write_text('[tool.gram]\ntools = ["tools.py"]\n')
    assert "Ahoy, Ann!" in run(folder, "--trust").stdout
    (folder / "pyproject.toml").write_text("[tool.black]\nline = [\n")  # not ours, and broken
    assert "pyproject" not in run(folder).stderr


@pytest.mark.parametrize(("text", "said"), rows("wrong projects"))
def test_a_wrong_file_is_refused_with_its_place(folder: Path, text: str, said: str) -> None:
    (folder / "gram.toml").write_text(DEEP.get(text, text))
    done = run(folder, "--trust")
    assert done.returncode == 4
    assert done.stderr.startswith(said)
    assert not (folder / "was_run").exists()


def test_what_is_no_file_is_not_read(folder: Path) -> None:
    (folder / "gram.toml").unlink()
    os.mkfifo(folder / "gram.toml")
    assert run(folder).stderr.startswith("gram.toml is not a file")


def test_a_new_provider_is_known_once_it_is_trusted(folder: Path) -> None:
    (folder / "gram.toml").write_text(GROQ)
    asked = ("run", "hello.gram", "hi", "--model", "Groq/llama")
    state = str(folder.parent / "state")
    unknown = gram(*asked, cwd=folder, XDG_STATE_HOME=state)
    known = gram(*asked, "--trust", cwd=folder, XDG_STATE_HOME=state)
    assert 'unknown provider "Groq"' in unknown.stderr
    refused(known, 4, "GROQ_API_KEY")


def test_a_project_says_how_much_a_warning_of_check_matters(folder: Path) -> None:
    (folder / "hello.gram").write_text(HELLO.replace("OpenAI/", "Opanai/"))
    (folder / "gram.toml").write_text('lint = {unknown-provider = "off"}\n')
    silent = run(folder, command="check")
    (folder / "gram.toml").write_text('[lint]\nunknown-provider = "error"\n')
    loud = run(folder, command="check")
    assert (silent.stdout, silent.returncode) == ("", 0)
    assert "error[unknown-provider]" in loud.stdout
    assert loud.returncode == 1


def test_tools_beside_a_program_are_named_and_not_run(folder: Path) -> None:
    (folder / "gram.toml").unlink()
    (folder / "hello.gram").write_text(HELLO.replace("sayHello", "sayHi"))
    done = run(folder)
    assert "hint: --tools tools.py for your own" in done.stderr
    assert not (folder / "was_run").exists()
