"""``gram lint``: what is doubtful in files, as text and for other programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from interp.cli.commands.init import FILES
from tests.interp.cli.process import gram
from tests.paths import ROOT

SLIP = """\
[a:Agent {instruction: "Call `serch`: 50% of\\nit.", model: "Offline/rehearsal"} |
  [search:Tool {description: "Looks in the archive"} | (q::Text)==>(::Text)]]
"""


@pytest.fixture
def slip(tmp_path: Path) -> Path:
    """A program whose instruction has a slip in the name of a tool."""
    path = tmp_path / "a.gram"
    path.write_text(SLIP)
    return path


def test_our_examples_and_what_init_writes_are_clean(tmp_path: Path) -> None:
    (tmp_path / "agent.gram").write_text(FILES["agent.gram"])

    done = gram("lint", str(ROOT / "examples"), str(tmp_path))

    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_a_finding_is_shown_as_a_fault_is(slip: Path) -> None:
    done = gram("lint", str(slip))

    assert done.stdout.startswith(
        f'{slip}:1:31: warning[tool-in-instruction] the instruction of "a" names the tool serch, '
        "which it lacks\n"
    )
    assert "                                ^^^^^\n  hint: did you mean search?\n" in done.stdout
    assert done.stderr == "1 warning in 1 file; 1 can be fixed with --fix\n"
    assert done.returncode == 0
    assert gram("lint", "--strict", str(slip)).returncode == 1


def test_a_fix_changes_the_name_and_no_other_byte(slip: Path) -> None:
    done = gram("lint", "--fix", str(slip))

    assert (done.stdout, done.returncode) == ("", 0)
    assert slip.read_text() == SLIP.replace("serch", "search")


def test_what_is_off_is_not_fixed(slip: Path) -> None:
    text = '{lint: {tool-in-instruction: "off"}}\n' + SLIP
    slip.write_text(text)

    assert gram("lint", "--fix", str(slip)).stdout == ""
    assert slip.read_text() == text


def test_a_project_makes_an_error_of_a_finding(slip: Path) -> None:
    (slip.parent / "gram.toml").write_text('lint = {tool-in-instruction = "error"}\n')

    done = gram("lint", "a.gram", cwd=slip.parent)

    assert done.stdout.startswith("a.gram:1:31: error[tool-in-instruction]")
    assert done.returncode == 1


def test_json_is_as_that_of_check(slip: Path) -> None:
    (row,) = json.loads(gram("lint", "--json", str(slip)).stdout)

    assert (row["code"], row["severity"], row["line"]) == ("tool-in-instruction", "warning", 1)
    assert row["fix"][0]["text"] == "search"


def test_sarif_has_what_its_schema_requires(slip: Path) -> None:
    log: dict[str, Any] = json.loads(gram("lint", "--format", "sarif", str(slip)).stdout)

    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "gram"
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(ids) == len(set(ids))
    for result in run["results"]:
        assert result["ruleId"] in ids
        assert result["message"]["text"]
        assert result["level"] in ("none", "note", "warning", "error")
        for location in result["locations"]:
            place = location["physicalLocation"]
            assert place["artifactLocation"]["uri"]
            region = place["region"]
            assert 1 <= region["startLine"] <= region["endLine"]
            assert min(region["startColumn"], region["endColumn"]) >= 1
        for fix in result["fixes"]:
            for change in fix["artifactChanges"]:
                assert change["artifactLocation"]["uri"]
                assert all("deletedRegion" in each for each in change["replacements"])


def test_a_line_for_github_has_nothing_that_ends_it(tmp_path: Path) -> None:
    path = tmp_path / "a,b:c.gram"
    path.write_text('[a:Agent {instruction: "Ask ${who}, ${what}.", model: "Offline/rehearsal"}]')

    lines = gram("lint", "--format", "github", str(path)).stdout.splitlines()

    place = str(path).replace(",", "%2C").replace(":", "%3A")
    head = f"::warning title=unfinished-text,file={place},line=1,col=29,endLine=1,endColumn=35::"
    assert len(lines) == 2
    assert lines[0].startswith(head)
    assert "%0Ahint: " in lines[0]


def test_files_that_are_no_gram_are_told_and_the_others_are_linted(tmp_path: Path) -> None:
    for number in range(40):
        (tmp_path / f"{number:02}.gram").write_text(SLIP)
    (tmp_path / "10.gram").write_bytes(b"\xff\xfe\x00gram")
    (tmp_path / "20.gram").write_text(f"<<<<<<< ours\n{SLIP}=======\n{SLIP}>>>>>>> theirs\n")
    (tmp_path / "30.gram").write_text("[a:Agent {")

    done = gram("lint", str(tmp_path))

    assert done.returncode == 1
    assert done.stdout.count("warning[tool-in-instruction]") == 37
    told = {line.split(":")[0] for line in done.stdout.splitlines() if "error[syntax]" in line}
    assert told == {str(tmp_path / name) for name in ("10.gram", "20.gram", "30.gram")}


def test_standard_input_is_linted_and_not_fixed() -> None:
    assert "warning[tool-in-instruction]" in gram("lint", "-", stdin=SLIP).stdout
    assert gram("lint", "--fix", "-", stdin=SLIP).returncode == 2
