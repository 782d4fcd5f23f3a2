"""A program of several files as one text: each agent and workflow stays what it is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given

from gram import only_errors
from lenses_ext import ProgramError, bundle, parse_program, validate_program
from lenses_ext.names import Project, find_runnables, load_project, resolve
from tests.lenses_ext.strategies import VALID_AGENT, linked_programs


def written(folder: Path, files: Mapping[str, str]) -> Project:
    """The project of some files in a folder, the first of which is the first."""
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    return load_project(folder / next(iter(files)))


def test_what_is_used_of_other_files_stands_behind_the_first(tmp_path: Path) -> None:
    project = written(
        tmp_path,
        {
            "a.gram": f'{{imports: ["t.gram"], kind: "x"}} // of\n[a:{VALID_AGENT} | t] // a\n',
            "t.gram": '[t:Tool {description: "d"} | (u::U)==>(::Text)]\n'
            "[U:Object | (n::Text)]\n[unused:Tool {description: 'd'} | ()==>(::Text)]\n",
        },
    )

    assert bundle(project).text == (
        f'{{kind: "x"}} // of\n[a:{VALID_AGENT} | t] // a\n'
        '[t:Tool {description: "d"} | (u::U)==>(::Text)]\n'
        "[U:Object | (n::Text)]\n"
    )


def test_what_clashes_is_put_inside_its_user(tmp_path: Path) -> None:
    tool = "[t:Tool {{description: '{0}'}} | (u::U)==>(::Text)] [U:Object | ({0}::Text)]"
    project = written(
        tmp_path,
        {
            "a.gram": f'{{imports: ["b.gram", "t.gram"]}} [a:{VALID_AGENT} | b, t]',
            "b.gram": f'{{imports: ["u.gram"]}} [b:{VALID_AGENT} | t]',
            "t.gram": tool.format("mine"),
            "u.gram": tool.format("theirs"),
        },
    )

    bundled = bundle(project)

    again = parse_program(bundled.text)
    assert only_errors(validate_program(again)) == ()
    assert resolve(again) == resolve(project)
    assert bundled.text.count("[t:Tool") == 2
    assert f"[b:{VALID_AGENT} | [t:Tool" in bundled.text


def test_what_cannot_be_in_one_text_is_refused_with_the_places(tmp_path: Path) -> None:
    hands = f"[NAME:{VALID_AGENT} | (NAME)-[:HANDOFF]->(desk)] [desk:{VALID_AGENT}]"
    project = written(
        tmp_path,
        {
            "a.gram": f'{{imports: ["b.gram", "c.gram"]}} [a:{VALID_AGENT} | b] '
            f"[d:{VALID_AGENT} | c]",
            "b.gram": hands.replace("NAME", "b"),
            "c.gram": hands.replace("NAME", "c").replace("[desk:Agent {", "[desk:Agent {n: 1, "),
        },
    )

    with pytest.raises(ProgramError, match=r'cannot be in one file: rename "desk" at .*b\.gram:1'):
        bundle(project)
    project = written(tmp_path, {"e.gram": f'{{imports: ["none.gram"]}} [a:{VALID_AGENT}]'})
    with pytest.raises(ProgramError, match="missing-import"):
        bundle(project)


@given(linked_programs(), linked_programs())
def test_each_agent_of_a_bundle_is_what_it_is_in_the_files(
    tmp_path_factory: pytest.TempPathFactory, some: list[str], others: list[str]
) -> None:
    """The files behind the first have the same names for other things."""
    project = written(
        tmp_path_factory.mktemp("bundle"),
        {
            "a.gram": f'{{imports: ["b.gram", "c.gram"]}}\n[a:{VALID_AGENT} | b, c]\n'
            f'[x:Workflow {{description: "d"}} | (b)-->(c)]\n[y:{VALID_AGENT} | b]',
            "b.gram": f'{{imports: ["some.gram"]}}\n[b:{VALID_AGENT} | a0, t0]',
            "c.gram": f'{{imports: ["others.gram"]}}\n[c:{VALID_AGENT} | a0, t0]',
            "some.gram": "\n".join(some),
            "others.gram": "\n".join(others).replace('"x"', '"y"'),
        },
    )
    if only_errors(validate_program(project)):
        return  # as where the steps of its workflow do not fit

    again = parse_program(bundle(project).text)

    for each in find_runnables(project):
        name = each.value.identity
        assert resolve(again, name) == resolve(project, name)
