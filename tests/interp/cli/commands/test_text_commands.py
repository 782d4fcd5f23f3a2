"""``gram fmt``, ``gram convert`` and ``gram check --fix``: commands on any gram text."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from gram import loads, to_json
from tests.interp.cli.process import gram, printed, written
from tests.paths import EXAMPLES

UGLY = '(a:Person{name:"A", // who\n age:3})   -->(b)'
LAID_OUT = '(a:Person {\n  name: "A", // who\n  age: 3\n})-->(b)\n'


@pytest.fixture
def ugly(tmp_path: Path) -> Path:
    """A file that is not laid out."""
    path = tmp_path / "ugly.gram"
    path.write_text(UGLY)
    return path


def test_fmt_lays_a_file_out_in_place_and_keeps_its_mode(ugly: Path) -> None:
    ugly.chmod(0o640)
    done = gram("fmt", str(ugly))
    assert (done.returncode, done.stdout) == (0, "")
    assert ugly.read_text() == LAID_OUT
    assert stat.S_IMODE(ugly.stat().st_mode) == 0o640
    assert gram("fmt", "--check", str(ugly)).returncode == 0
    assert gram("fmt", "-", stdin=UGLY).stdout == LAID_OUT


def test_fmt_check_and_diff_write_nothing(ugly: Path) -> None:
    checked, shown = gram("fmt", "--check", str(ugly)), gram("fmt", "--diff", str(ugly))
    assert (checked.returncode, checked.stderr) == (1, f"{ugly} would change\n")
    printed(shown, 1, '+(a:Person {\n+  name: "A", // who\n')
    assert ugly.read_text() == UGLY


def test_the_examples_are_laid_out() -> None:
    as_they_are = {"specification.gram", "newsroom.run.gram"}  # word for word, and as recorded
    ours = [str(each) for each in sorted(EXAMPLES.glob("*.gram")) if each.name not in as_they_are]
    assert ours
    assert gram("fmt", "--check", *ours).returncode == 0


def test_convert_goes_to_json_and_back(ugly: Path, tmp_path: Path) -> None:
    as_json = gram("convert", str(ugly)).stdout
    path = written(tmp_path / "p.json", as_json)
    assert json.loads(as_json) == to_json(loads(UGLY))
    assert loads(gram("convert", path).stdout) == loads(UGLY)
    assert loads(gram("convert", "-", "--to", "gram", stdin=as_json).stdout) == loads(UGLY)
