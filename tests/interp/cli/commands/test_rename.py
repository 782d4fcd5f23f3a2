"""``gram rename``: another name for something of a program, wherever it is meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interp.cli.process import gram, refused, rows

SEARCH = """\
// Shared.
[search:Tool {description: "Searches."} | (query::Text)==>(limit::Integer {default: 10})==>(::Text)]
"""
DESK = """\
{imports: ["../shared/search.gram"]}
[desk:Agent {instruction: "Use `search`.", model: "Offline/rehearsal"} | // the desk
  search]
"""
HELP = DESK.replace("desk", "help").replace("Use `search`.", "Help.")
RULES = """\
[:ApprovalPolicy {otherwise: "ask"} |
  (:Allow {tool: "search", arguments: {limit: "1?"}}), // few
  (:Deny {tool: "desk/search"}), (:Allow {tool: "*"})]
"""
JSON = """\
{"program": "desk.gram", "input": "search", "not": {"calls": ["search"]}}
{"program": "desk.gram", "input": "x", "calls": [{"name": "search", "arguments": {"limit": 3}}]}
{"program": "other.gram", "input": "x", "calls": ["search"]}
"""
CSV = 'program,agent,input,calls\nhelp.gram,help,search,"[""search""]"\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project: a tool that two agents import, with cases and rules beside them."""
    texts = {
        "gram.toml": "",
        "shared/search.gram": SEARCH,
        "agents/desk.gram": DESK,
        "agents/help.gram": HELP,
        "agents/other.gram": DESK.replace("../shared/search.gram", "own.gram"),
        "agents/own.gram": SEARCH,
        "agents/rules.gram": RULES,
        "agents/cases.jsonl": JSON,
        "agents/cases.csv": CSV,
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_shared_tool_is_renamed_in_all_files_that_import_it(project: Path) -> None:
    shown = gram("rename", "search", "find", "shared/search.gram", cwd=project)

    assert shown.returncode == 0
    assert (project / "shared/search.gram").read_text() == SEARCH
    assert "+[find:Tool" in shown.stdout
    told = "agents/desk.gram:2:1: the instruction of desk names `search`: --instructions changes it"
    assert shown.stderr == f"{told}, too\n"
    words = ("-i", "--instructions", "search", "find", "shared/search.gram")
    done = gram("rename", *words, cwd=project)
    texts = {each.name: each.read_text() for each in project.glob("*/*")}
    assert (done.returncode, done.stdout) == (0, "")
    assert texts["search.gram"] == SEARCH.replace("search:Tool", "find:Tool")
    assert texts["desk.gram"] == DESK.replace("`search`", "`find`").replace("  search]", "  find]")
    assert texts["help.gram"] == HELP.replace("  search]", "  find]")
    assert texts["own.gram"] == SEARCH  # another tool of this name
    assert texts["rules.gram"] == RULES.replace("search", "find")
    assert texts["cases.csv"] == CSV.replace('""search""', '""find""')
    mine, kept = JSON[: JSON.rindex("{")], JSON[JSON.rindex("{") :]
    renamed = mine.replace('["search"', '["find"').replace('"name": "search"', '"name": "find"')
    assert texts["cases.jsonl"] == renamed + kept


def test_an_agent_is_renamed_in_cases_and_rules(project: Path) -> None:
    done = gram("rename", "-i", "desk", "front", "agents/desk.gram", cwd=project)
    assert done.returncode == 0
    assert (project / "agents/rules.gram").read_text() == RULES.replace("desk/", "front/")
    assert (project / "agents/cases.jsonl").read_text() == JSON  # the file keeps its name
    gram("rename", "-i", "help", "aid", "agents/help.gram", cwd=project)
    assert (project / "agents/cases.csv").read_text() == CSV.replace(",help,", ",aid,")


def test_a_parameter_is_renamed_in_arguments(project: Path) -> None:
    done = gram("rename", "-i", "search.parameters.limit", "most", "shared", cwd=project)
    assert done.returncode == 0
    assert (project / "shared/search.gram").read_text() == SEARCH.replace("limit", "most")
    assert (project / "agents/rules.gram").read_text() == RULES.replace("limit", "most")
    assert (project / "agents/cases.jsonl").read_text() == JSON.replace("limit", "most")


def test_functions_that_do_not_bind_any_more_are_named(project: Path) -> None:
    tool = "from interp import tool\n@tool\ndef search(query: str) -> str:\n    'Searches.'\n"
    (project / "tools.py").write_text(tool)
    done = gram("rename", "search", "find", "shared", "--tools", "tools.py", cwd=project)

    assert "tools.py:2: search does not bind any more: call it find" in done.stderr


@pytest.mark.parametrize(("words", "code", "message"), rows("refused names"))
def test_refused_names_change_nothing(
    project: Path, words: tuple[str, ...], code: int, message: str
) -> None:
    before = {each: each.read_text() for each in project.glob("*/*")}
    refused(gram("rename", "-i", *words, cwd=project), code, message)
    assert {each: each.read_text() for each in project.glob("*/*")} == before


def test_a_rule_that_would_fit_another_call_is_refused(project: Path) -> None:
    rules = project / "agents/rules.gram"
    rules.write_text(RULES.replace('tool: "*"', 'tool: "sea*"'))
    done = gram("rename", "-i", "search", "find", "shared", cwd=project)
    refused(done, 1, "refused: the rule for sea* would fit search and not the new name")
    assert (project / "shared/search.gram").read_text() == SEARCH


def test_copies_in_several_files_become_one_that_they_import(project: Path) -> None:
    own = project / "agents/own.gram"
    own.write_text(SEARCH.replace("Searches.", "Looks up."))

    shown = gram("share", "search", "shared", "agents/own.gram", cwd=project)

    assert (shown.returncode, own.read_text()) == (0, SEARCH.replace("Searches.", "Looks up."))
    told = "agents/own.gram:2:1: the description 'Looks up.' becomes 'Searches.'\n"
    assert shown.stderr == told
    assert "+++ search.gram (new)" in shown.stdout
    for into in ("tools/new/search.gram", "shared/search.gram"):
        own.write_text(SEARCH)
        (project / "shared/search.gram").write_text(SEARCH)
        words = ("-i", "search", "agents/own.gram", "shared", "--into", into)
        done = gram("share", *words, cwd=project)
        assert done.returncode == 0
        assert own.read_text() == f'// Shared.\n{{imports: ["../{into}"]}}\n'
    nix = gram("share", "nix", "shared", "agents", cwd=project)
    refused(nix, 1, '"nix" is defined at the top, or in an agent, of 0 files', "it takes two to")


def test_what_uses_something_of_its_file_cannot_be_shared(project: Path) -> None:
    for name in ("one", "two"):
        text = HELP.replace('{imports: ["../shared/search.gram"]}', f"// {name}") + SEARCH
        (project / f"agents/{name}.gram").write_text(text)
    files = ("agents/one.gram", "agents/two.gram")
    done = gram("share", "-i", "help", *files, "--into", "agents/both.gram", cwd=project)
    refused(done, 1, '"search" is not defined')
    assert not (project / "agents/both.gram").exists()
    assert (project / "agents/one.gram").read_text().startswith("// one")


def test_what_would_mean_another_thing_is_not_shared(project: Path) -> None:
    tool = '[s:Tool {description: "S"} | (q::Text)==>(::Hit)]'
    for name, type_ in (("one", "Text"), ("two", "Integer")):
        (project / f"{name}.gram").write_text(f"[Hit:Array {{elementType: {type_}}}]\n")
        agent = f'[{name}:Agent {{instruction: "I", model: "X/y"}} | {tool}]'
        (project / f"of_{name}.gram").write_text(f'{{imports: ["{name}.gram"]}}\n{agent}\n')
    words = ("share", "s", "of_one.gram", "of_two.gram", "--into", "one.gram")
    told = "of_two.gram: refused: what s is made of is defined in another way for two"
    refused(gram(*words, cwd=project), 1, told)
    (project / "two.gram").write_text((project / "one.gram").read_text())
    assert gram(*words, cwd=project).returncode == 0


def test_files_that_import_what_is_shared_elsewhere_then_import_it_from_there(
    project: Path,
) -> None:
    for name in ("one", "two"):
        (project / f"{name}.gram").write_text(
            '[s:Tool {description: "S"} | (q::Text)==>(::Text)]\n'
        )
    agent = '\n[a:Agent {instruction: "I", model: "X/y"} | s]\n'
    (project / "user.gram").write_text(f'{{imports: ["one.gram"]}}{agent}')
    (project / "broken.gram").write_text('{imports: ["one.gram"]}\n[')
    done = gram("share", "-i", "s", "one.gram", "two.gram", "--into", "three.gram", cwd=project)
    assert done.returncode == 0
    assert (project / "user.gram").read_text() == f'{{imports: ["one.gram", "three.gram"]}}{agent}'
    assert gram("check", "user.gram", cwd=project).returncode == 0
