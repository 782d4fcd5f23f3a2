"""``gram query``: where a pattern is found in files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.interp.cli.process import gram

ONE = """\
// The desk.
[desk:Agent {model: "OpenAI/x"} |
  [search:Tool {description: "Searches."} | (q::Text)==>(::Text)]]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two programs, and a file that is not gram between them."""
    (tmp_path / "a.gram").write_text(ONE)
    (tmp_path / "b.gram").write_text("[broken")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "c.gram").write_text(ONE.replace("desk", "help"))
    return tmp_path


def test_each_place_is_printed_with_what_the_holes_stand_for(folder: Path) -> None:
    done = gram("query", "[_agent:Agent {model: _m} | _t]", str(folder))

    assert done.returncode == 3  # for the broken file; the others are searched
    assert "b.gram:1:8: error[syntax]" in done.stderr
    assert done.stdout == (
        f'{folder}/a.gram:2:1: _agent: "desk", _m: "OpenAI/x", _t: [search:Tool]\n'
        f'{folder}/sub/c.gram:2:1: _agent: "help", _m: "OpenAI/x", _t: [search:Tool]\n'
    )


def test_counts_files_and_json(folder: Path) -> None:
    one, other = str(folder / "a.gram"), str(folder / "sub")

    assert gram("query", "--count", "(:Agent)", one, other).stdout.split() == [
        *(f"{one}:", "1"),
        *(f"{other}/c.gram:", "1"),
    ]
    assert gram("query", "--count", "(:Agent)", one).stdout == "1\n"
    assert gram("query", "--files", "(desk:Agent)", one, other).stdout == f"{one}\n"
    (row,) = json.loads(gram("query", "--json", "(desk:Agent {model: _m})", one, other).stdout)
    assert row == {"file": one, "line": 2, "column": 1, "bindings": {"_m": "OpenAI/x"}}


def test_nothing_found_is_the_answer_no(folder: Path) -> None:
    done = gram("query", "(:Nothing)", "-", stdin=ONE)

    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
    assert gram("query", "--count", "(:Nothing)", str(folder / "a.gram")).stdout == "0\n"


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(:Agent", "PATTERN:1:8: error[syntax] unexpected end of the text"),
        ("(a) (b)", "PATTERN:1:1: error[syntax] expected one pattern, found 2"),
    ],
)
def test_a_pattern_that_is_no_pattern_is_told(folder: Path, pattern: str, message: str) -> None:
    done = gram("query", pattern, str(folder))

    assert done.returncode == 3
    assert done.stderr.startswith(message)
