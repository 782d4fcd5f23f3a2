"""What the README shows is what happens."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from gram.diagnostics import only_errors
from interp.models.program_checks import check_program
from lenses_ext import parse
from tests.interp.cli.process import gram
from tests.paths import EXAMPLES, ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
README = PAGES[0].read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    """The fenced blocks of a page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_python_of_a_page_runs_from_top_to_bottom(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # pages write files
    (tmp_path / "examples").symlink_to(EXAMPLES)
    names: dict[str, object] = {}

    for block in blocks(page.read_text(encoding="utf-8"), "python"):
        exec(compile(block, str(page), "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_programs_of_a_page_are_valid(page: Path) -> None:
    for block in blocks(page.read_text(encoding="utf-8"), "gram"):
        assert only_errors(check_program(parse(block, page.name))) == ()


def test_the_first_command_prints_what_the_readme_shows() -> None:
    command = next(line for block in blocks(README, "sh") for line in block.splitlines())
    program, *arguments = shlex.split(command.split(" && ")[-1])
    assert program == ".venv/bin/gram"

    done = gram(*arguments)

    assert done.returncode == 0
    assert blocks(README, "text")[0] == done.stderr + done.stdout


def test_the_program_shown_is_the_example() -> None:
    example = (EXAMPLES / "hello_world.gram").read_text(encoding="utf-8")

    assert blocks(README, "gram")[0] in example


def test_every_extra_is_named() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    named = re.findall(r"^\| `(\w+)` \|", README, re.MULTILINE)
    assert named == sorted(project["optional-dependencies"].keys() - {"test"})
