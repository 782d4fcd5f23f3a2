"""Programs of several files: what an import brings into sight, and what is refused."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

import lenses_ext as ext
from gram import Document, GramDecodeError, Pattern, dumps, only_errors, parse
from lenses_ext import ProgramError, agent_diagnostics, load_project, resolve, validate_program
from lenses_ext.names import find_runnables
from tests.by_day import given_few
from tests.lenses_ext.conftest import Written
from tests.lenses_ext.strategies import linked_programs
from tests.paths import cases

AGENT = 'Agent {description: "d", instruction: "x", model: "p/m"}'
TOOL = "[search:Tool {description: 'Searches'} | (q::Text)==>(::Text)]"


def faults_of(file: Path) -> list[str]:
    return [f"{each.code}: {each.message}" for each in validate_program(load_project(file))]


def test_a_notebook_shows_the_text_of_the_first_file(written: Written) -> None:
    project = load_project(written(a='{imports: ["b.gram"]} // "<b>"', b="(b)"))

    assert "&quot;&lt;b&gt;&quot;" in project._repr_mimebundle_()["text/html"]


# --- what is seen


def test_what_an_imported_file_defines_at_its_top_is_seen(written: Written) -> None:
    file = written(
        {
            "agents/a.gram": f'{{imports: ["../tools/search.gram"]}} [a:{AGENT} | search]',
            "tools/search.gram": "[search:Tool {description: 'd'} | (q::Query)==>(::Text)]"
            "[Query:Object | (t::Text)]",
        }
    )

    project = load_project(file)

    assert validate_program(project) == ()
    (agent,) = ext.find_agents(project)
    assert agent.value.identity == "a"
    assert ext.write_program(resolve(project).elements[0]) == (
        '[search:Tool {description: "d"} | (q::Query)==>(::Text), [Query::Object | (t::Text)]]'
    )


def test_each_definition_means_what_it_means_in_its_own_file(written: Written) -> None:
    tool = "[search:Tool {{description: '{}'}} | (q::Query)==>(::Text)]"
    file = written(
        {
            "a.gram": f'{{imports: ["b.gram", "t.gram"]}} [a:{AGENT} | b, search]',
            "t.gram": tool.format("mine") + " [Query:Object | (a::Text)]",
            "b.gram": f'{{imports: ["deep/t.gram"]}} [b:{AGENT} | search]',
            "deep/t.gram": tool.format("theirs") + " [Query:Object | (b::Integer)]",
        }
    )
    project = load_project(file)

    whole = resolve(project)

    assert validate_program(project) == ()
    inner, own = whole.elements
    assert ext.view(ext.tool_spec_description, own) == "mine"
    assert ext.view(ext.tool_spec_description, inner.elements[0]) == "theirs"
    assert "(b::Integer)" in ext.write_program(inner)
    assert "(a::Text)" in ext.write_program(own)
    assert agent_diagnostics(whole) == (), "the resolved agent is valid by itself"
    again = parse(dumps(whole))
    assert agent_diagnostics(again) == (), "and so is its text"
    assert resolve(again) == whole


CASES = {case["name"]: case for case in cases("projects.toml")}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_is_wrong_between_files_is_told_with_its_places(
    written: Written, case: dict[str, Any]
) -> None:
    expected = case["faults"]
    project = load_project(written(**case["files"]))

    told = [
        " ".join([
            fault.code,
            Path(fault.filename or "").name,
            *re.findall(r"\w+\.gram:\d+:\d+", f"{fault.message} {fault.hint}"),
        ])
        for fault in validate_program(project)
    ]  # fmt: skip
    assert told == expected
    if expected and "reference" in expected[0]:
        with pytest.raises(ProgramError, match=expected[0].split()[-1]):
            resolve(project, "a")
    if not expected:
        assert only_errors(agent_diagnostics(resolve(project, "a"))) == ()


def test_agents_that_only_another_run_could_hand_over_to_are_no_fault_of_an_agent(
    written: Written,
) -> None:
    case = CASES["one run could hand over to two agents of one name"]
    project = load_project(written(**case["files"]))

    assert [each.code for each in agent_diagnostics(project, "a")] == ["handoff-name"]
    assert only_errors(agent_diagnostics(project, "d")) == ()


# --- what is refused


@pytest.mark.parametrize(
    ("imports", "code", "said"),
    [
        ('["none.gram"]', "missing-import", '"none.gram" is not there'),
        ('["tools"]', "missing-import", "tools is a folder"),
        ('["../x.gram"]', "import-outside", '"../x.gram" is outside the project'),
        ('["/etc/hostname"]', "import-outside", "is an absolute path"),
        ('["https://example.org/x.gram"]', "import-outside", "nothing is fetched"),
        ('["file:b.gram"]', "import-outside", "nothing is fetched"),
        ('["a.gram"]', "repeated-import", "the file imports itself"),
        ('["b.gram", "tools/../b.gram"]', "repeated-import", "is imported already"),
        ('["bad.gram"]', "unreadable-import", "bad.gram:2:3: unexpected"),
        ('["binary.gram"]', "unreadable-import", "is not UTF-8"),
        ('["link.gram"]', "import-outside", '"link.gram" is outside the project'),
        ('["out/x.gram"]', "import-outside", '"out/x.gram" is outside the project'),
        ('["circle.gram"]', "missing-import", '"circle.gram": '),
        ('["pipe.gram"]', "missing-import", "is not a regular file"),
        ('"b.gram"', "import-value", "imports are a list"),
        ("[5]", "import-value", "imports are a list"),
        ('[""]', "import-value", "imports are a list"),
    ],
)
def test_an_import_that_cannot_be_followed_is_a_fault_at_its_place(
    written: Written, tmp_path: Path, imports: str, code: str, said: str
) -> None:
    text = f"{{imports: {imports}}}\n[a:{AGENT} | search]"
    file = written(
        {"in/a.gram": text, "in/b.gram": TOOL, "in/bad.gram": "(a)\n (", "in/tools/t.gram": ""}
    )
    (tmp_path / "gram.toml").rename(tmp_path / "in" / "gram.toml")
    (tmp_path / "x.gram").write_text(TOOL)
    inside = tmp_path / "in"
    (inside / "binary.gram").write_bytes(b"\xff\x00")
    (inside / "link.gram").symlink_to(tmp_path / "x.gram")
    (inside / "out").symlink_to(tmp_path)
    (inside / "circle.gram").symlink_to("circle.gram")
    os.mkfifo(inside / "pipe.gram")

    faults = [each for each in validate_program(load_project(file)) if each.severity == "error"]

    fault = faults[0]
    assert fault.code == code
    assert said in fault.message
    assert fault.filename == str(file)
    assert fault.excerpt.partition("\n")[2].strip("^ ") == "", fault.excerpt
    assert len(faults) == 1, "what may be in the file is not reported as missing, too"
    with pytest.raises(ProgramError, match=r"a\.gram:1:"):
        resolve(load_project(file))


def test_an_agent_is_refused_for_the_imports_of_the_files_that_it_reaches(written: Written) -> None:
    file = written(
        a=f'{{imports: ["b.gram", "c.gram"]}} [a:{AGENT} | b] [d:{AGENT} | search]',
        b=f'{{imports: ["none.gram"]}} [b:{AGENT}]',
        c=TOOL,
    )
    project = load_project(file)

    assert [each.code for each in agent_diagnostics(project, "a")] == ["missing-import"]
    assert agent_diagnostics(project, "d") == ()


def test_nobody_who_gave_the_whole_file_is_told_to_give_it(written: Written) -> None:
    (fault,) = validate_program(load_project(written(a=f"[a:{AGENT} | search]")))

    assert (fault.code, fault.hint) == ("undefined-reference", None)


def test_a_text_by_itself_opens_nothing() -> None:
    text = f'{{imports: ["b.gram"]}} [a:{AGENT} | search]'

    for program in (parse(text), parse(text).patterns):
        (fault,) = validate_program(program)
        assert (fault.code, fault.place) == ("open-import", "1:12")
        assert "load_project(path)" in (fault.hint or "")
        with pytest.raises(ProgramError, match=r'"b\.gram" is imported'):
            resolve(program)


def test_the_folder_of_a_file_is_its_project_where_nothing_above_says_so(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "t.gram").write_text(TOOL)
    (inner / "a.gram").write_text(f'{{imports: ["../t.gram"]}} [a:{AGENT} | search]')
    marked = any(
        (each / mark).exists()
        for each in inner.parents
        for mark in (".git", "pyproject.toml", "gram.toml")
    )
    assert not marked, "this test needs a folder outside of any project"

    assert load_project(inner / "a.gram").root == inner.resolve()
    assert [each.partition(":")[0] for each in faults_of(inner / "a.gram")] == ["import-outside"]
    (tmp_path / "pyproject.toml").touch()
    assert faults_of(inner / "a.gram") == []


def test_the_first_file_is_refused_as_any_file_is(tmp_path: Path) -> None:
    (tmp_path / "bad.gram").write_text("(a")

    with pytest.raises(GramDecodeError, match=r"bad\.gram:1:3"):
        load_project(tmp_path / "bad.gram")
    with pytest.raises(FileNotFoundError):
        load_project(tmp_path / "none.gram")


# --- edits


def test_an_edit_goes_into_the_file_that_holds_the_definition(written: Written) -> None:
    text = f"// tools\n{TOOL} // of all\n"
    file = written(a=f'{{imports: ["t.gram"]}} [a:{AGENT} | search] // a', t=text)
    project = load_project(file)

    (place,) = ext.find_places(project, "search.description")
    edited = project.replace(ext.change_places(project.patterns, [(place, lambda old: "Finds")]))

    (changed,) = edited.changed_since(project)
    assert changed == file.with_name("t.gram").resolve()
    assert edited.documents[changed].text == text.replace("'Searches'", "'Finds'")
    assert ext.new_errors(project, edited) == ()
    assert edited.save(project) == (changed,)
    assert changed.read_text() == text.replace("'Searches'", "'Finds'")
    assert load_project(file).patterns == edited.patterns


def test_lenses_look_into_all_files_of_a_project(written: Written) -> None:
    file = written(a=f'{{imports: ["b.gram"]}} [a:{AGENT} | b]', b=f"[b:{AGENT}] // b")
    project = load_project(file)

    edited = ext.over(ext.each_agent & ext.agent_instruction, str.upper, project)

    assert isinstance(edited, ext.Project)
    assert ext.collect(ext.each_agent & ext.agent_instruction, edited) == ("X", "X")
    assert [each.text[-4:] for each in edited.documents.values()] == ["| b]", "// b"]


def test_all_files_of_an_edit_are_written_or_none(written: Written) -> None:
    file = written(a=f'{{imports: ["b.gram"]}} [a:{AGENT} | b]', b=f"[b:{AGENT}]")
    other = file.with_name("b.gram")
    project = load_project(file)
    edited = project.replace(
        ext.change_places(
            project.patterns,
            [
                (place, lambda _: "new")
                for name in "ab"
                for place in ext.find_places(project, f"{name}.instruction")
            ],
        )
    )
    before = file.read_text(), other.read_text()
    assert len(edited.changed_since(project)) == 2

    other.write_text(before[1] + " ")
    with pytest.raises(OSError, match="changed by another program"):
        edited.save(project)

    assert file.read_text() == before[0]
    other.write_text(before[1])
    edited.save(project)
    assert ["new" in each.read_text() for each in (file, other)] == [True, True]


def test_an_edit_that_imports_another_file_reads_it(written: Written) -> None:
    file = written(a=f"{{imports: []}} [a:{AGENT} | search]", t=TOOL)
    project = load_project(file)
    assert [each.code for each in validate_program(project)] == ["undefined-reference"]

    (header,) = ext.parse_program('{imports: ["t.gram"]}').patterns
    edited = project.replace((header, *project.patterns[1:]))

    assert validate_program(edited) == ()
    assert len(edited.documents) == 2


def test_documents_that_are_given_are_meant_instead_of_the_files(written: Written) -> None:
    file = written(a=f'{{imports: ["t.gram"]}} [a:{AGENT} | search]', t="(x)")
    assert len(faults_of(file)) == 2  # nothing is used, and nothing is found

    project = load_project(file, {file.with_name("t.gram"): ext.parse_program(TOOL)})

    assert validate_program(project) == ()


# --- one file, and the same in several


@given_few(linked_programs(), st.data())
def test_definitions_in_files_of_their_own_mean_what_they_mean_in_one(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], data: st.DataObject
) -> None:
    document = ext.parse_program("\n".join(texts))
    folder = tmp_path_factory.mktemp("split")
    names = ["0.gram", "1.gram"]
    holders = [data.draw(st.sampled_from(names)) for _ in texts]
    for name in names:
        others = ", ".join(f'"{each}"' for each in names if each != name)
        own = [text for text, holder in zip(texts, holders, strict=True) if holder == name]
        (folder / name).write_text("\n".join([f"{{imports: [{others}]}}", *own]))

    project = load_project(folder / data.draw(st.sampled_from(names)))
    for each in find_runnables(project):
        name = each.value.identity
        assert _resolved(project, name) == _resolved(document, name)


def _resolved(program: Document | ext.Project, name: str) -> tuple[list[str], Pattern | None]:
    """What is wrong with an agent, and the agent with its references resolved."""
    codes = [each.code for each in only_errors(agent_diagnostics(program, name))]
    try:
        whole = resolve(program, name)
    except ProgramError:
        return sorted(codes), None
    assert resolve(whole) == whole
    assert codes or not only_errors(agent_diagnostics(whole))
    return sorted(codes), whole
