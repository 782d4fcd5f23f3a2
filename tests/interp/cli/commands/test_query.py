"""``gram query``: where a pattern is found in files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.interp.cli.process import gram, refused

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

    counted = gram("query", "--count", "(:Agent)", one, other).stdout
    assert counted == f"{one}: 1\n{other}/c.gram: 1\n"
    assert gram("query", "--count", "(:Agent)", one).stdout == "1\n"
    assert gram("query", "--files", "(desk:Agent)", one, other).stdout == f"{one}\n"
    (row,) = json.loads(gram("query", "--json", "(desk:Agent {model: _m})", one, other).stdout)
    assert row == {"file": one, "line": 2, "column": 1, "bindings": {"_m": "OpenAI/x"}}


def test_nothing_found_is_the_answer_no(folder: Path) -> None:
    done = gram("query", "(:Nothing)", "-", stdin=ONE)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
    assert gram("query", "--count", "(:Nothing)", str(folder / "a.gram")).stdout == "0\n"


def test_rewrite_shows_what_would_change_and_writes_with_i(folder: Path) -> None:
    one, other = folder / "a.gram", folder / "sub" / "c.gram"
    words = ('[_a:Agent {model: "OpenAI/x"}]', '[_a:Agent {model: "Ollama/y"}]')

    shown = gram("rewrite", *words, str(one), str(other.parent))

    assert (shown.returncode, one.read_text()) == (0, ONE)
    assert shown.stdout.count('+[desk:Agent {model: "Ollama/y"} |') == 1
    assert shown.stdout.count('+[help:Agent {model: "Ollama/y"} |') == 1
    done = gram("rewrite", "-i", *words, str(folder))
    assert done.returncode == 3  # for the broken file
    assert one.read_text() == ONE.replace("OpenAI/x", "Ollama/y")
    assert other.read_text() == ONE.replace("desk", "help").replace("OpenAI/x", "Ollama/y")
    again = gram("rewrite", "-i", *words, str(one))
    refused(again, 1, f"{one}: nothing to change: the pattern is not found\n")


def test_rewrite_refuses_what_makes_a_program_invalid(folder: Path) -> None:
    done = gram("rewrite", "-i", "(_p::Text)==>(_r)", "(_p::Txt)==>(_r)", str(folder / "a.gram"))
    refused(done, 1, "refused because the program would be invalid")
    assert (folder / "a.gram").read_text() == ONE


def test_what_is_imported_is_followed_and_found_in_its_own_file_alone(tmp_path: Path) -> None:
    (tmp_path / "gram.toml").write_text("")
    tool = '[search:Tool {description: "D"} | (q::Text)==>(::Text)]\n'
    (tmp_path / "tools.gram").write_text(tool)
    for name in "ab":
        text = f'{{imports: ["tools.gram"]}}\n[{name}:Agent {{model: "Offline/x"}} | search]\n'
        (tmp_path / f"{name}.gram").write_text(text)

    found = gram("query", "[_a:Agent | (_t:Tool {description: _d})]", str(tmp_path)).stdout
    tools = gram("query", "--count", "(:Tool)", str(tmp_path)).stdout
    words = ("[:Agent | (:Tool {description: _})]", '[:Agent | (:Tool {description: "E"})]')
    shown = gram("rewrite", *words, str(tmp_path)).stdout
    gram("rewrite", "-i", *words, str(tmp_path))

    places = [f'{tmp_path}/{name}.gram:2:1: _a: "{name}", _d: "D", _t: "search"' for name in "ab"]
    assert found.splitlines() == places
    assert [line.rpartition(" ")[2] for line in tools.splitlines()] == ["0", "0", "1"]
    assert shown.count("+[search:Tool") == 1
    assert '{description: "E"}' in (tmp_path / "tools.gram").read_text()


@pytest.mark.parametrize(
    ("new", "code", "message"),
    [
        ("(_b)", 2, "NEW has _b, and PATTERN does not"),
        ("(_a {n: _})", 1, "a.gram:2:1: _ stands for nothing that is known: give the hole a name"),
    ],
)
def test_what_cannot_stand_there_is_told(folder: Path, new: str, code: int, message: str) -> None:
    refused(gram("rewrite", "-i", "(_a:Agent)", new, str(folder / "a.gram")), code, message)
