"""Many files at once: folders, globs, what git ignores, and files that are broken."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from interp.cli.inputs.files import find_files
from tests.interp.cli.process import gram, has, refused, rows

AGENT = '[{name}:Agent {{instruction: "x", model: "OpenAI/m"}}]\n'


@pytest.fixture
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with three programs at two depths, one that git ignores, a broken one and a pipe."""
    monkeypatch.chdir(tmp_path)
    files = {
        "agents/a.gram": AGENT.format(name="a"),
        "agents/b.gram": "(broken",
        "agents/deep/c.gram": AGENT.format(name="c"),
        "agents/data.gram": "(plain)\n",
        "agents/build/d.gram": AGENT.format(name="d"),
        "agents/.hidden/e.gram": AGENT.format(name="e"),
        "agents/notes.txt": "no gram",
        "agents/monday.run.gram": "(:Run)",
        ".gitignore": "build/\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    os.mkfifo(tmp_path / "agents" / "pipe.gram")  # who reads it waits
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.parametrize(("given", "found"), rows("found files"))
def test_files_folders_and_globs_name_files(agents: Path, given: str, found: list[str]) -> None:
    assert find_files(given) == found


@pytest.mark.parametrize("given", ["agents/nothing*", "empty"])
def test_nothing_to_do_is_wrong_use(agents: Path, given: str) -> None:
    (agents / "empty").mkdir()
    refused(gram("check", given, cwd=agents), 2, given)


def test_check_reports_all_files(agents: Path) -> None:
    done = gram("check", "agents", "missing.gram", "--json", cwd=agents)
    assert [each["file"] for each in json.loads(done.stdout)] == ["agents/b.gram"]
    assert "missing.gram: No such file" in done.stderr
    assert done.returncode == 2


def test_fmt_goes_on_after_a_broken_file(agents: Path) -> None:
    (agents / "agents/z.gram").write_text("( a )")

    done = gram("fmt", "agents", cwd=agents)
    counts = "1 file laid out, 3 files unchanged, 1 file failed"
    refused(done, 3, "agents/b.gram:1:8: error[syntax]", counts)
    assert (agents / "agents/z.gram").read_text() == "(a)\n"


def test_set_changes_each_file_and_counts_them(agents: Path) -> None:
    done = gram("set", "-i", "*.model", "Ollama/x", "agents", cwd=agents)
    refused(done, 3, "2 files changed, 1 file unchanged, 1 file failed")
    for name, model in (("a", "Ollama/x"), ("deep/c", "Ollama/x"), ("build/d", "OpenAI/m")):
        assert f'model: "{model}"' in (agents / f"agents/{name}.gram").read_text()


def test_set_says_in_json_what_became_of_each_file(agents: Path) -> None:
    done = gram("set", "-i", "--json", "*.model", "Ollama/x", "agents", cwd=agents)
    rows = {each["file"]: each for each in json.loads(done.stdout)}
    assert rows["agents/a.gram"]["changed"] is True
    assert "nowhere" in rows["agents/data.gram"]
    assert "unexpected end" in rows["agents/b.gram"]["error"]


def test_set_without_in_place_prints_each_file_under_its_name(agents: Path) -> None:
    (agents / "agents/b.gram").unlink()
    done = gram("set", "*.model", "Ollama/x", "agents", cwd=agents)
    new = {name: AGENT.format(name=name).replace("OpenAI/m", "Ollama/x") for name in "ac"}
    assert done.stdout == f"// agents/a.gram\n{new['a']}// agents/deep/c.gram\n{new['c']}"
    assert 'model: "OpenAI/m"' in (agents / "agents/a.gram").read_text()


def test_get_lists_which_file_each_value_is_from(agents: Path) -> None:
    (agents / "agents/b.gram").unlink()

    done = gram("get", "*.model", "agents", cwd=agents)
    as_json = gram("get", "agents", "*.model", "--json", cwd=agents)

    names = {"agents/a.gram": "a.model", "agents/deep/c.gram": "c.model"}
    assert done.stdout == "".join(f"{file}: {each}: OpenAI/m\n" for file, each in names.items())
    assert json.loads(as_json.stdout) == {file: {names[file]: "OpenAI/m"} for file in names}


def test_a_path_that_leads_nowhere_in_any_file_is_told_once(agents: Path) -> None:
    (agents / "agents/b.gram").unlink()
    done = gram("get", "nope.model", "agents", cwd=agents)
    refused(done, 1, "`nope.model` leads nowhere", "nor is there anything in 2 other files")
    assert done.stderr.count("nowhere") == 1


@pytest.mark.parametrize("command", ["schema", "tools", "convert"])
def test_what_reads_one_program_reads_many(agents: Path, command: str) -> None:
    tool = '[t:Tool {description: "T"} | (x::Text)==>(::Text)]\n'
    (agents / "agents/a.gram").write_text(tool)
    (agents / "agents/deep/c.gram").write_text(tool)
    done = gram(command, "agents/a.gram", "agents/b.gram", "agents/deep", cwd=agents)
    has(done.stdout, "agents/a.gram", "agents/deep/c.gram")
    assert "agents/b.gram:1:8: error[syntax]" in done.stderr
    assert done.returncode == 3


def test_an_empty_name_is_no_folder() -> None:
    with pytest.raises(FileNotFoundError, match="the name of a file is empty"):
        find_files("")
