"""Skills: read once from their folders, kept in the resolved agent, and refused in one message."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given, strategies as st

from gram import Pattern, dumps, loads_one, walk
from lenses_ext import bundle, load_project, over, parse_program, resolve, validate_program
from lenses_ext.labels import is_skill
from lenses_ext.language import agent_skills, each_agent
from lenses_ext.names.imports import MOST_SKILL_BYTES, read_skill
from tests.lenses_ext.conftest import Written

SAID = 'description: "d", instruction: "x", model: "p/m"'
REFUNDS = "---\nname: refunds\ndescription: How to refund.\n---\nAsk first.\n"
FILE = "skills/refunds/SKILL.md"
DESK = f'[desk:Agent {{{SAID}, skills: ["skills/refunds"]}}]'


def skills_in(agent: Pattern) -> list[str]:
    return [dumps(each) for _, each in walk(agent) if is_skill(each)]


SKILL = (
    '(refunds:Skill {description: "How to refund.", folder: "skills/refunds", text: "Ask first."})'
)


def test_a_resolved_agent_has_the_skills_that_it_names(written: Written) -> None:
    project = load_project(written({"a.gram": DESK, "skills/refunds/SKILL.md": REFUNDS}))

    assert validate_program(project) == ()
    assert dumps(resolve(project)) == (
        '[desk:Agent {description: "d", instruction: "x", model: "p/m"} | ' + SKILL + "]"
    )


def test_folders_are_found_from_the_file_in_which_the_agent_is_written(written: Written) -> None:
    files = {
        "flows/a.gram": '{imports: ["../agents/desk.gram"]} [w:Workflow | desk, (desk)-->()]',
        "agents/desk.gram": DESK,
        "agents/skills/refunds/SKILL.md": REFUNDS,
    }
    project = load_project(written(files))

    assert validate_program(project) == ()
    assert skills_in(resolve(project)) == [SKILL.replace("skills/", "agents/skills/")]


def test_an_edit_reads_the_skills_that_it_adds_and_a_text_opens_no_files(written: Written) -> None:
    project = load_project(written({"a.gram": f"[desk:Agent {{{SAID}}}]", FILE: REFUNDS}))

    named = over(each_agent & agent_skills, lambda _: ["skills/refunds"], project.patterns[0])

    assert skills_in(resolve(project.replace([named]))) == [SKILL]
    (fault,) = validate_program(parse_program(DESK))
    assert (fault.code, fault.message) == (
        "unread-skill",
        "a skill is named, and a text opens no files",
    )


def test_a_bundle_has_the_skills_and_needs_no_files(written: Written) -> None:
    project = load_project(
        written(
            {
                "a.gram": '{imports: ["b/b.gram"]} ' + DESK.replace("}]", "} | other]"),
                "skills/refunds/SKILL.md": REFUNDS,
                "b/b.gram": DESK.replace("desk", "other"),
                "b/skills/refunds/SKILL.md": REFUNDS.replace("first", "twice"),
            }
        )
    )

    alone = parse_program(bundle(project).text)

    assert validate_program(alone) == ()
    assert resolve(alone, "desk") == resolve(project, "desk")
    assert skills_in(resolve(alone, "desk")) == [
        SKILL.replace("first", "twice").replace("skills/", "b/skills/"),
        SKILL,
    ]


WRONG = {
    "there is no file skills/refunds/SKILL.md": None,
    "skills/refunds/SKILL.md has more than 100,000 bytes": REFUNDS + "x" * MOST_SKILL_BYTES,
    "skills/refunds/SKILL.md:4:1: byte 0xff is not UTF-8": b"---\nname: a\n---\n\xff",
    "skills/refunds/SKILL.md has no front matter": "# Refunds\n",
    "skills/refunds/SKILL.md has no name, or a wrong one": "---\nname: Re Funds\n---\n",
    "skills/refunds/SKILL.md has no text": "---\nname: refunds\ndescription: d\n---\n \n",
    "skills/refunds/SKILL.md has no description, or a wrong one": "---\nname: refunds\n---\n",
    "skills/refunds/SKILL.md: the front matter is not YAML: line "  # the reader says the rest
    "": "---\nname: a\n description: d\n---\n",
}


def test_equal_agents_whose_skills_differ_are_two(written: Written) -> None:
    files = {
        "a.gram": f'{{imports: ["b/b.gram", "c/c.gram"]}} [a:Agent {{{SAID}}} | desk]',
        **{f"{each}/{each}.gram": DESK for each in "bc"},
        f"b/{FILE}": REFUNDS,
        f"c/{FILE}": REFUNDS.replace("first", "twice"),
    }

    (fault,) = validate_program(load_project(written(files)))

    assert fault.code == "ambiguous-reference"


@pytest.mark.parametrize("value", ['"a"', '["a", "a"]', "[1]", "{a: 1}"])
def test_skills_are_a_list_of_folders(value: str) -> None:
    agent = loads_one(DESK.replace('["skills/refunds"]', value))

    assert "skill-value" in {each.code for each in validate_program(agent)}
    assert validate_program(loads_one(DESK.replace('["skills/refunds"]', "[]"))) == ()


def test_who_names_the_file_is_told_to_name_the_folder(written: Written) -> None:
    file = written({"a.gram": DESK.replace('refunds"]', 'refunds/SKILL.md"]'), FILE: REFUNDS})

    (fault,) = validate_program(load_project(file))

    assert fault.hint == "a skill is a folder with SKILL.md: name the folder"


@pytest.mark.parametrize("message", WRONG)
def test_a_wrong_file_is_one_fault_at_the_path_that_names_it(
    written: Written, monkeypatch: pytest.MonkeyPatch, message: str
) -> None:
    text = WRONG[message]
    file = written({"a.gram": DESK} if text is None else {"a.gram": DESK, FILE: text})
    monkeypatch.chdir(file.parent)

    (fault,) = validate_program(load_project(file.name))

    assert fault.code == "unread-skill"
    assert fault.message.startswith(message)
    assert fault.source is not None
    assert fault.span is not None
    assert fault.source.text[fault.span.start : fault.span.end] == '"skills/refunds"'


def test_nothing_outside_of_the_project_is_read(written: Written, tmp_path: Path) -> None:
    paths = ["../refunds", str(tmp_path), "https://a.example/refunds", "link"]
    (tmp_path / "refunds").mkdir()
    (tmp_path / "refunds" / "SKILL.md").write_text(REFUNDS)
    file = written({"p/a.gram": "", "p/gram.toml": ""})
    (file.parent / "link").symlink_to(tmp_path / "refunds")
    for path in paths:
        file.write_text(DESK.replace("skills/refunds", path))

        (fault,) = validate_program(load_project(file))

        assert f'"{path}/SKILL.md" is an' in fault.message or "outside the project" in fault.message


def test_names_clash_with_tools_and_with_each_other(written: Written) -> None:
    file = written(
        {
            "a.gram": f'[desk:Agent {{{SAID}, skills: ["one", "two"]}} | '
            "[refunds:Tool {description: 'd'} | ()==>(::Text)]]",
            "one/SKILL.md": REFUNDS,
            "two/SKILL.md": REFUNDS,
        }
    )

    assert [each.message for each in validate_program(load_project(file))] == [
        'two things of this agent are named "refunds": the skill, and the tool',
        'two things of this agent are named "refunds": the skill, and another skill',
    ]


LINES = st.text(st.characters(codec="utf-8", exclude_characters="\r", exclude_categories=["C"]))


@given(LINES.filter(str.strip), LINES.filter(str.strip), st.sampled_from(["\n", "\r\n"]))
def test_what_another_writer_writes_is_read(
    tmp_path_factory: pytest.TempPathFactory, description: str, text: str, end: str
) -> None:
    front = yaml.safe_dump({"name": "a-1", "license": "x", "description": description})
    file = tmp_path_factory.getbasetemp() / "SKILL.md"
    file.write_bytes(f"---\n{front}---\n{text}".replace("\n", end).encode())

    found = read_skill(file, "SKILL.md", "a")

    assert isinstance(found, Pattern)
    assert found.value.identity == "a-1"
    assert found.value.properties == {
        "description": description.strip(),
        "folder": "a",
        "text": text.strip(),
    }


@given(st.binary() | st.text().map(lambda text: f"---\nname: a\ndescription: {text}\n---".encode()))
def test_whatever_a_file_has_is_a_skill_or_one_message(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    file = tmp_path_factory.getbasetemp() / "SKILL.md"
    file.write_bytes(content)

    found = read_skill(file, "SKILL.md", "a")

    assert isinstance(found, Pattern) or found.message.startswith("SKILL.md")
