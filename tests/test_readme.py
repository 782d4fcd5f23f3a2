"""What the README shows is what happens."""

from __future__ import annotations

import re
import shlex
import sys
import tomllib
from pathlib import Path

import pytest

from gram.diagnostics import only_errors
from interp.models.program_checks import check_program
from lenses_ext import parse_program
from tests.interp.cli.process import forked as gram
from tests.interp.forked import PYTHON
from tests.paths import EXAMPLES, ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
README = PAGES[0].read_text(encoding="utf-8")
FENCED = re.DOTALL | re.MULTILINE


def blocks(text: str, language: str) -> list[str]:
    """The fenced blocks of a page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, FENCED)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_python_of_a_page_runs_from_top_to_bottom(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # pages write files
    (tmp_path / "examples").symlink_to(EXAMPLES)
    monkeypatch.setattr(sys, "executable", PYTHON.written(tmp_path / "python"))
    names: dict[str, object] = {}

    for block in blocks(page.read_text(encoding="utf-8"), "python"):
        exec(compile(block, str(page), "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_programs_of_a_page_are_valid(page: Path) -> None:
    for block in blocks(page.read_text(encoding="utf-8"), "gram"):
        assert only_errors(check_program(parse_program(block, page.name))) == ()


def test_the_readme_shows_what_its_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "examples").symlink_to(EXAMPLES)
    monkeypatch.chdir(tmp_path)
    for title, body in re.findall(r'^```python title="(.*?)"\n(.*?)^```', README, FENCED):
        Path(title).write_text(body, encoding="utf-8")
    shown = re.findall(r"^```sh\n([^`]*)^```\n\n```text\n(.*?)^```", README, FENCED)
    assert len(shown) == 4

    for command, expected in shown:
        program, *arguments = shlex.split(command.split(" && ")[-1])
        assert program.removeprefix(".venv/bin/") == "gram"
        done = gram(*arguments, cwd=tmp_path)
        assert done.stderr + done.stdout == expected


def test_the_program_shown_is_the_example() -> None:
    example = (EXAMPLES / "hello_world.gram").read_text(encoding="utf-8")

    assert blocks(README, "gram")[0] in example


def test_every_extra_is_named() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = (ROOT / "docs" / "reference" / "extras.md").read_text(encoding="utf-8")

    named = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert named == sorted(project["optional-dependencies"].keys() - {"test"})
