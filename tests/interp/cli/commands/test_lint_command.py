"""``gram lint``: what is doubtful in files, as text and for other programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from interp.cli.commands.setting_up import FILES
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

    told = 'the instruction of "a" names the tool serch, which it lacks\n'
    assert done.stdout.startswith(f"{slip}:1:31: warning[tool-in-instruction] {told}")
    assert "                                ^^^^^\n  hint: did you mean search?\n" in done.stdout
    assert done.stderr == "1 warning in 1 file; 1 can be fixed with --fix\n"
    assert done.returncode == 0
    assert gram("lint", "--strict", str(slip)).returncode == 1


def test_a_fix_changes_the_name_and_no_other_byte(slip: Path) -> None:
    done = gram("lint", "--fix", str(slip))
    assert (done.stdout, done.returncode) == ("", 0)
    assert slip.read_text() == SLIP.replace("serch", "search")


def test_what_is_off_is_not_fixed(slip: Path) -> None:
    slip.write_text(text := '{lint: {tool-in-instruction: "off"}}\n' + SLIP)
    assert gram("lint", "--fix", str(slip)).stdout == ""
    assert slip.read_text() == text


def test_standard_input_is_linted_and_not_fixed() -> None:
    assert "warning[tool-in-instruction]" in gram("lint", "-", stdin=SLIP).stdout
    assert gram("lint", "--fix", "-", stdin=SLIP).returncode == 2


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Agents in folders, with tools that they share."""
    (tmp_path / "gram.toml").write_text("")
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "search.gram").write_text(
        '[search:Tool {description: "Looks in the archive"} | (q::Text)==>(::Hit)]\n'
        '[spare:Tool {description: "Does nothing yet"} | (n::Integer)==>(::Text)]\n'
        "[Hit:Object | (title::Text)]\n[Miss:Object | (why::Text)]\n"
    )
    (tmp_path / "desk.gram").write_text(
        '{imports: ["tools/search.gram"]}\n'
        '[desk:Agent {instruction: "Call `search`.", model: "Offline/rehearsal"} | search,\n'
        '  [mail:Tool {description: "Reads mail", reads: "private"} | (n::Text)==>(::Text)]]\n'
    )
    return tmp_path


def codes(*arguments: object) -> list[tuple[str, str]]:
    """The files with what is found in them."""
    rows = json.loads(gram("lint", "--json", *map(str, arguments)).stdout)
    return [(Path(row["file"]).name, f"{row['code']}: {row['message']}") for row in rows]


def test_what_others_use_is_used_where_they_are_linted_together(repository: Path) -> None:
    place = f"{repository / 'desk.gram'}:3:4"
    assert codes(repository) == [
        ("search.gram", 'unused-tool: no agent or workflow uses the tool "spare"'),
        ("search.gram", f'parameter-types: "n" is number here, and string in "mail" at {place}'),
        ("search.gram", 'unused-definition: nothing uses the type "Miss"'),
    ]
    assert codes(repository / "tools") == []
    assert codes(repository / "desk.gram") == []


def test_levels_of_a_header_are_those_of_its_file_alone(repository: Path) -> None:
    tools, desk = repository / "tools" / "search.gram", repository / "desk.gram"
    tools.write_text('{lint: {unused-tool: "off", unused-definition: "off"}}\n' + tools.read_text())
    header = '{lint: {parameter-types: "off"}, imports'
    more = '[more:Tool {description: "Is for later"} | ()==>(::Text)]\n'
    desk.write_text(desk.read_text().replace("{imports", header) + more)
    found = [(name, code.partition(":")[0]) for name, code in codes(repository)]
    assert found == [("desk.gram", "unused-tool"), ("search.gram", "parameter-types")]


def test_a_fix_knows_the_tools_that_are_imported(repository: Path) -> None:
    desk = repository / "desk.gram"
    desk.write_text(desk.read_text().replace("`search`", "`serch`"))
    assert gram("lint", "--fix", str(desk)).stdout == ""
    assert "Call `search`." in desk.read_text()


def test_files_that_are_no_gram_are_told_and_the_others_judged(repository: Path) -> None:
    for number in range(9):
        (repository / f"{number}.gram").write_text(
            '{imports: ["tools/search.gram"]}\n'
            f'[a{number}:Agent {{instruction: "Find {number}", model: "A/b"}} | search, spare]\n'
        )
    (repository / "1.gram").write_bytes(b"\xff\xfe\x00gram")
    (repository / "2.gram").write_text(f"<<<<<<< ours\n{SLIP}=======\n{SLIP}>>>>>>> theirs\n")
    (repository / "3.gram").write_text("[a7:Agent {")

    found = codes(repository)

    broken = {name for name, code in found if code.startswith("syntax")}
    assert broken == {"1.gram", "2.gram", "3.gram"}
    assert not any("unused-tool" in code for _, code in found)
