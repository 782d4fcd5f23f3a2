"""How faults are shown: with their line, in colours, and for other programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.interp.cli.process import gram, told, written
from tests.interp.cli.typing_at import Terminal

TWICE = '[a:Agent {model: "Ollama/x", model: "Ollama/y", instruction: "hi"}]\n'
WARNED = '[a:Agent {instruction: "hi", model: "Nope/x"}]\n'


@pytest.fixture
def twice(tmp_path: Path) -> Path:
    """A program with a key that is given twice."""
    path = tmp_path / "a.gram"
    path.write_text(TWICE)
    return path


def test_a_fault_has_its_severity_line_carets_and_hint(twice: Path) -> None:
    done = gram("check", str(twice))

    assert done.stdout == (
        f"{twice}:1:11: error[duplicate-key] the key `model` is given again at 1:30, which counts\n"
        f"  {TWICE}"
        "            ^^^^^\n"
        "  hint: remove it\n"
    )
    assert done.stderr == "1 error in 1 file; 1 can be fixed with --fix\n"


def test_what_an_edit_or_a_run_refuses_is_shown_in_the_same_way(twice: Path) -> None:
    for arguments in (["run", str(twice), "hi", "--offline"], ["schema", str(twice)]):
        done = gram(*arguments)
        told(done, 3, f"{twice}:1:11: error[duplicate-key]", "            ^^^^^\n")


@pytest.mark.parametrize("said", ["", "FORCE_COLOR=1", "FORCE_COLOR=0", "FORCE_COLOR=1 NO_COLOR=1"])
def test_colours_in_a_pipe(twice: Path, said: str) -> None:
    variables = dict(each.split("=") for each in said.split())
    printed = gram("check", str(twice), **variables).stdout
    assert ("\x1b[" in printed) is (said == "FORCE_COLOR=1")


@pytest.mark.parametrize(("variables", "is_coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_at_a_terminal(
    twice: Path, tmp_path: Path, variables: dict[str, str], is_coloured: bool
) -> None:
    with Terminal("check", str(twice), TERM="xterm", **variables) as terminal:
        assert terminal.leaves() == 1
    assert "error[duplicate-key]" in terminal.seen
    assert ("\x1b[31m" in terminal.raw) is is_coloured


def test_json_has_ends_and_fixes(twice: Path) -> None:
    (fault,) = json.loads(gram("check", "--format", "json", str(twice)).stdout)
    assert [fault[key] for key in ("line", "column", "end_line", "end_column")] == [1, 11, 1, 16]
    (edit,) = fault["fix"]
    assert TWICE[edit["column"] - 1 : edit["end_column"] - 1] == 'model: "Ollama/x", '
    assert (fault["fixable"], edit["text"]) == (True, "")


def test_sarif_has_rules_results_and_fixes(twice: Path) -> None:
    log = json.loads(gram("check", "--format", "sarif", str(twice)).stdout)

    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["duplicate-key"]
    (result,) = run["results"]
    assert (result["ruleId"], result["level"]) == ("duplicate-key", "error")
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == str(twice)
    assert place["region"] == {"startLine": 1, "startColumn": 11, "endLine": 1, "endColumn": 16}
    clean = json.loads(gram("check", "--format", "sarif", "-", stdin="(a)").stdout)
    assert clean["runs"][0]["results"] == []
    (change,) = result["fixes"][0]["artifactChanges"]
    assert change["replacements"][0]["insertedContent"] == {"text": ""}


def test_github_annotates_the_line(tmp_path: Path) -> None:
    path = written(tmp_path / "a,b:c.gram", TWICE)
    done = gram("check", "--format", "github", path)
    place = path.replace(",", "%2C").replace(":", "%3A")
    head = f"::error title=duplicate-key,file={place},line=1,col=11,endLine=1,endColumn=16::"
    assert done.stdout.startswith(head)
    assert done.stdout.endswith("%0Ahint: remove it\n")
    assert done.stdout.count("\n") == 1


def test_strict_makes_warnings_fail(tmp_path: Path) -> None:
    path = written(tmp_path / "a.gram", WARNED)
    assert gram("check", path).returncode == 0
    assert gram("check", "--strict", path).returncode == 1


@pytest.mark.parametrize("command", ["check", "fmt"])
def test_standard_input_has_the_name_it_is_given(command: str) -> None:
    done = gram(command, "-", "--stdin-filename", "agents/a.gram", stdin="(a")
    assert "agents/a.gram:1:3: error[syntax]" in done.stdout + done.stderr


def test_fix_removes_trailing_commas_and_keys_given_twice(tmp_path: Path) -> None:
    text = '[a:Agent {model: "A/b", model: "Ollama/y", settings: {seed: 1,}, // kept\n'
    path = written(tmp_path / "a.gram", text + '  instruction: "hi",}]\n')
    done = gram("check", "--fix", path)
    assert (done.returncode, done.stdout) == (0, "")
    fixed = '[a:Agent {model: "Ollama/y", settings: {seed: 1}, // kept\n  instruction: "hi"}]\n'
    assert Path(path).read_text() == fixed
