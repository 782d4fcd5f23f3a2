"""``gram check``, ``lint``, ``fmt``, ``convert`` and ``graph``: files judged, laid out, drawn."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from xml.etree import ElementTree

import pytest

from gram import loads, to_json
from interp import ScriptedModel, hello_world_tool_library, load, run
from interp.cli.commands.setting_up import FILES
from tests.interp.cli.process import HELLO, gram, printed, told, written
from tests.interp.cli.typing_at import Terminal
from tests.interp.model_server import tool_calls
from tests.paths import EXAMPLES, ROOT

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


@pytest.mark.parametrize("command", ["check", "lint"])
def test_json_and_another_form_are_not_both_asked_for(command: str, twice: Path) -> None:
    for given in (["--json", "--format", "sarif"], ["--format", "sarif", "--json"]):
        told = gram(command, *given, str(twice))
        assert (told.returncode, told.stdout) == (2, "")
        assert "--json and --format sarif print different things: choose one" in told.stderr


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


@pytest.mark.parametrize(
    ("arguments", "begins"),
    [
        ([], "flowchart LR\n"),
        (["--as", "dot"], "digraph {"),
        (["--as", "svg"], "<svg"),
        (["-o", "x.svg"], "<svg"),
    ],
)
def test_the_form_or_the_file_is_named(tmp_path: Path, arguments: list[str], begins: str) -> None:
    done = gram("graph", HELLO, *arguments, cwd=tmp_path)
    written = "".join(each.read_text("utf-8") for each in tmp_path.iterdir())
    assert (done.stdout + written).startswith(begins)
    assert done.returncode == 0


def test_a_run_shows_what_it_came_to(tmp_path: Path) -> None:
    record = tmp_path / "hi.run.gram"
    replies = [tool_calls(("1", "sayHello", {"personName": "Al"})), "Hello."]
    run(load(HELLO), "hi", hello_world_tool_library, model=ScriptedModel(replies), record=record)
    picture = gram("graph", HELLO, "--run", str(record), "--as", "svg").stdout
    texts = [each.text for each in ElementTree.fromstring(picture).iter() if each.text]
    assert texts.count("2 times") == 1  # the model
    assert texts.count("once") == 2  # the tool, and the arrow to it
    assert "classDef ran" in gram("graph", HELLO, "--run", str(record)).stdout
