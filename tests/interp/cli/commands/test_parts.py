"""``gram get``, ``set``, ``del``, ``add``, ``query`` and ``rewrite``: no other byte changes."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path

import pytest

from gram.documents import holding
from interp.cli.each_file import rewrite
from tests.interp.cli.process import gram, refused, rows, started, written

PROGRAM = """\
// Who greets.
[greeter:Agent {   // odd   spacing stays
  model : 'OpenAI/gpt-5.6-luna',
  instruction: "Greet."   } |
  [math.add:Tool {description: "Adds"} |   // the tool
    (x::Integer {default: 0x10})==>(::Integer)],
]
""".replace("],\n]", "]\n]")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program with comments and odd spacing."""
    path = tmp_path / "p.gram"
    path.write_text(PROGRAM)
    return path


def test_get_prints_what_stands_there(program: Path) -> None:
    assert gram("get", str(program), "greeter.instruction").stdout == "Greet.\n"
    assert gram("get", str(program), "*.model").stdout == "greeter.model: OpenAI/gpt-5.6-luna\n"
    as_json = gram("get", str(program), "greeter.tools.*.description", "--json").stdout
    assert json.loads(as_json) == {"greeter.tools.`math.add`.description": "Adds"}


@pytest.mark.parametrize(("path", "value", "old", "new"), rows("set"))
def test_set_changes_nothing_else(program: Path, path: str, value: str, old: str, new: str) -> None:
    done = gram("set", str(program), path, value)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == PROGRAM.replace(old, new)
    assert program.read_text() == PROGRAM


def test_set_writes_in_place_keeping_mode_and_link(program: Path, tmp_path: Path) -> None:
    program.chmod(0o600)
    link = tmp_path / "link.gram"
    link.symlink_to(program)
    assert gram("set", "-i", str(link), "greeter.model", "A/b").stdout == ""
    assert link.is_symlink()
    assert program.read_text() == PROGRAM.replace("OpenAI/gpt-5.6-luna", "A/b")
    assert stat.S_IMODE(program.stat().st_mode) == 0o600


def test_set_of_a_setting_that_is_not_there_names_the_command_that_adds_it(program: Path) -> None:
    path = "greeter.settings.temperature"
    of_a_setting = gram("set", str(program), path, "0.2")
    of_a_slip = gram("set", str(program), "greeter.modle", "x/y")
    added = gram("add", "-i", str(program), path, "0.2")
    assert (of_a_setting.returncode, of_a_slip.returncode, added.returncode) == (1, 1, 0)
    assert of_a_setting.stderr.endswith("\n  hint: gram add adds it\n")
    assert "gram add" not in of_a_slip.stderr
    assert gram("get", str(program), path).stdout == "0.2\n"


def test_a_part_of_the_wrong_type_does_not_hide_the_others(tmp_path: Path) -> None:
    text = '[a:Agent {instruction: 3, model: "A/b"}] [b:Agent {instruction: "B", model: "A/b"}]'
    done = gram("get", written(tmp_path / "p.gram", text), "*.instruction")
    assert (done.returncode, done.stdout) == (3, "b.instruction: B\n")
    assert 'the instruction of "a": expected a text, found a whole number 3' in done.stderr


def test_a_path_with_a_star_sets_all_its_places_or_none(tmp_path: Path) -> None:
    path = tmp_path / "p.gram"
    text = '[a:Agent {instruction: "A", model: "A/b"}] [b:Agent {instruction: "B", model: "A/b"}]'
    path.write_text(text)
    refused = gram("set", "-i", str(path), "*.name", "same")
    edited = gram("set", str(path), "*.instruction", "I")
    assert (refused.returncode, path.read_text()) == (1, text)
    assert "duplicate-definition" in refused.stderr
    assert edited.stdout == text.replace('"A",', '"I",').replace('"B",', '"I",')


def test_two_edits_in_place_at_once_are_both_kept(program: Path) -> None:
    one = started("set", "-i", str(program), "greeter.model", "A/b")
    with one, started("set", "-i", str(program), "greeter.instruction", "Wave.") as other:
        assert [one.wait(), other.wait()] == [0, 0]
    changed = PROGRAM.replace("OpenAI/gpt-5.6-luna", "A/b")
    assert program.read_text() == changed.replace("Greet.", "Wave.")


def test_del_removes_a_tool_and_add_puts_one(program: Path) -> None:
    removed = gram("del", str(program), "greeter.tools.*").stdout
    added = gram("add", str(program), "greeter.tools", '[b:Tool {description: "B"} | ()==>(::Any)]')
    property_ = gram("add", str(program), "greeter.description", "Greets people")

    assert "math.add" not in removed
    assert removed.startswith("// Who greets.\n[greeter:Agent {   // odd   spacing stays\n")
    behind = '(::Integer)],\n  [b:Tool {description: "B"} | ()==>(::Any)]\n]'
    assert added.stdout == PROGRAM.replace("(::Integer)]\n]", behind)
    assert 'description: "Greets people"' in property_.stdout


def test_add_puts_the_name_of_a_shared_tool_among_the_tools(tmp_path: Path) -> None:
    tools = "".join(f'[{each}:Tool {{description: "T"}} | ()==>(::Any)]\n' for each in "tu")
    path = tmp_path / "s.gram"
    path.write_text('[a:Agent {instruction: "I.", model: "A/b"} | t] // a\n' + tools)

    done, unknown = (gram("add", str(path), "a.tools", name) for name in ("u", "x"))

    assert done.stdout == path.read_text().replace("| t] // a", "| t, u] // a")
    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert '"x" is not defined' in unknown.stderr


@pytest.mark.parametrize(("path", "value", "message"), rows("no properties"))
def test_add_makes_no_mistaken_property(program: Path, path: str, value: str, message: str) -> None:
    refused(gram("add", "-i", "--force", str(program), path, value), 2, message)
    assert program.read_text() == PROGRAM


@pytest.mark.parametrize(("value", "written"), rows("properties"))
def test_add_makes_a_property_of_any_value(program: Path, value: str, written: str) -> None:
    assert f"note: {written}" in gram("add", str(program), "greeter.note", value).stdout
    assert f"note: {written}" in gram("add", str(program), "*.tools.*.parameters.x.note",
                                      value, "--force").stdout  # fmt: skip


@pytest.mark.parametrize(("arguments", "said"), rows("refused edits"))
def test_refusals_have_words_of_the_program(program: Path, arguments: list[str], said: str) -> None:
    command, path, *value = arguments
    done = gram(command, str(program), path, *value, *(["-i"] if command != "get" else []))
    refused(done, 1, said)
    assert not re.search(r"agent_|tool_spec_|value\.|elements", done.stderr)
    assert program.read_text() == PROGRAM


@pytest.mark.parametrize("command", [["set", "-i", "{}", "a.b", "c"], ["fmt", "{}"]])
def test_a_pipe_is_not_waited_for(tmp_path: Path, command: list[str]) -> None:
    pipe = tmp_path / "p.gram"
    os.mkfifo(pipe)
    done = gram(*(each.format(pipe) for each in command))
    assert done.returncode == 2
    assert done.stderr == f"gram: {pipe}: a pipe cannot be written in place\n"


def test_a_file_that_was_removed_meanwhile_is_not_made_anew(program: Path) -> None:
    def removing(text: str, _: str) -> str:
        program.unlink(missing_ok=True)
        return text + "(b)"

    with pytest.raises(FileNotFoundError):
        rewrite(str(program), removing)

    assert not program.exists()


def test_an_edit_that_has_to_wait_says_for_what(tmp_path: Path) -> None:
    path = tmp_path / "a.gram"
    path.write_text("(a {n: 1})")

    with holding(path):
        waiting = started("set", "-i", str(path), "a.n", "2")
        assert waiting.stderr is not None
        told = waiting.stderr.readline()
        assert path.read_text() == "(a {n: 1})"
    waiting.communicate(timeout=30)

    assert "waiting for another gram process that uses" in told
    assert (waiting.returncode, path.read_text()) == (0, "(a {n: 2})")


WORKFLOW = """\
[news:Workflow {description: "D"} |  // the room
  (topic::Text)==>(::Text),
  writer, editor,
  (writer)-->(editor) // in turn
]
[writer:Agent {instruction: "W", model: "Offline/rehearsal"}]
(editor:Agent {instruction: "E", model: "Offline/rehearsal"})
"""


def test_nodes_and_arrows_are_added_and_removed_by_paths(tmp_path: Path) -> None:
    path = written(tmp_path / "w.gram", WORKFLOW)

    refused = gram("add", path, "news.arrows", "(again::writer)", "-i")
    gram("add", path, "news.arrows", "(editor)-->(again::writer)", "-i")
    got = gram("get", path, "news.arrows")
    removed = gram("del", path, "news.arrows.2")

    assert refused.returncode == 1
    assert "unexpected-element" in refused.stderr
    assert got.stdout == "(writer)-->(editor)\n(editor)-->(again::writer)\n"
    assert removed.stdout == WORKFLOW


@pytest.mark.parametrize(("path", "value", "written"), rows("wrong types"))
def test_values_of_wrong_types_are_set(tmp_path: Path, path: str, value: str, written: str) -> None:
    file = tmp_path / "wrong.gram"
    file.write_text(
        '[a:Agent {instruction: 5, // five\n  settings: "hot", model: ["OpenAI/m"]} |\n'
        "  [t:Tool {description: 3} | (x::Text)==>(::Text)]]\n"
    )

    assert written in gram("set", str(file), path, value).stdout
    assert "names no provider" in gram("set", str(file), "a.model", "m").stderr
    assert "settings" not in gram("del", str(file), "a.settings").stdout
    assert "has to be there" in gram("del", str(file), "a.instruction").stderr


TEAM = """\
[a:Agent {model: "OpenAI/x", settings: {top_p: 1}} | // first
  [t:Tool {description: "Adds."} | (n::Integer {default: 0x10})==>(::Integer)]]
[b:Agent {model: 'OpenAI/x'}]
[c:Agent {model: ["OpenAI/y", "Ollama/z"]}]
"""


@pytest.mark.parametrize(("path", "where", "changed"), rows("conditions"))
def test_set_where_a_condition_holds(tmp_path: Path, path: str, where: str, changed: str) -> None:
    file = written(tmp_path / "team.gram", TEAM)
    done = gram("set", path, "Offline/rehearsal", file, "--where", where)
    assert done.returncode == 0
    now = dict(re.findall(r"^\[(\w):Agent \{model: (.*?)[,}]", done.stdout, re.M))
    assert {name for name, model in now.items() if "Offline" in model} == set(changed)


def test_a_condition_that_holds_nowhere_or_is_none_is_told(tmp_path: Path) -> None:
    file = written(tmp_path / "team.gram", TEAM)
    done = gram("set", "*.model", "x/y", file, "--where", "model = nix")
    wrong = gram("set", "*.model", "x/y", file, "--where", "model ~ nix")
    assert (done.returncode, wrong.returncode) == (1, 2)
    assert "at no `*.model` does model = nix hold" in done.stderr
    assert "is no condition at character 1: write PATH = VALUE" in wrong.stderr


def test_what_get_prints_as_json_is_set_again(tmp_path: Path) -> None:
    file = tmp_path / "team.gram"
    file.write_text(TEAM)
    (tmp_path / "other.gram").write_text("(d:Agent {model: 'OpenAI/x'})\n")

    for path in ("*.model", "*.tools", "*.schema", "*.settings", "*.tools.*.parameters.n"):
        printed = gram("get", "--json", path, str(file)).stdout
        assert gram("set", "--from", "-", str(file), stdin=printed).stdout == TEAM
    printed = gram("get", "--json", "*.model", str(tmp_path)).stdout
    changed = printed.replace("OpenAI/x", "Ollama/w")
    done = gram("set", "-i", "--from", "-", str(tmp_path), stdin=changed)
    assert done.returncode == 0
    assert file.read_text() == TEAM.replace("OpenAI/x", "Ollama/w")
    assert (tmp_path / "other.gram").read_text() == "(d:Agent {model: 'Ollama/w'})\n"
    changed = gram("get", "--json", "a.tools", str(file)).stdout.replace("Adds.", "Sums.")
    again = gram("set", "--from", "-", str(file), stdin=changed)
    assert again.stdout == file.read_text().replace("Adds.", "Sums.")


@pytest.mark.parametrize(("given", "message"), rows("wrong JSON"))
def test_json_that_is_not_of_get_is_refused(tmp_path: Path, given: str, message: str) -> None:
    file = tmp_path / "team.gram"
    file.write_text(TEAM)
    done = gram("set", "-i", "--from", "-", str(file), stdin=given)
    assert done.returncode != 0
    assert message in done.stderr
    assert file.read_text() == TEAM
    (tmp_path / "other.gram").write_text("(d)\n")
    for_two = gram("set", "-i", "--from", "-", str(tmp_path), stdin="[]")
    assert for_two.stderr.count("expected what gram get --json prints") == 1


def test_null_is_nothing_for_a_file_among_several(tmp_path: Path) -> None:
    one, two = (written(tmp_path / f"{name}.gram", "(a {n: 1})\n") for name in ("one", "two"))
    given = json.dumps({one: {"a.n": 2}, two: None})
    assert gram("set", "-i", "--from", "-", one, two, stdin=given).returncode == 0
    assert [Path(each).read_text() for each in (one, two)] == ["(a {n: 2})\n", "(a {n: 1})\n"]


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
    again = gram("rewrite", words[1], words[1], str(one))
    refused(again, 1, f"{one}: nothing to change: what is found is so already\n")


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
