"""Tools that agents share, definitions that files share, and files bundled as one text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import assume, strategies as st

from gram import Document, Pattern, loads, loads_one, only_errors
from lenses_ext import (
    FocusError,
    ProgramError,
    agent_name,
    bundle,
    find_agents,
    parse_program,
    resolve,
    validate_program,
)
from lenses_ext.composing.sharing import share_definition, share_tool
from lenses_ext.names import Project, find_runnables, load_project
from lenses_ext.optics import view
from tests.by_day import given_few
from tests.lenses_ext.strategies import TOOL_NAMES, VALID_AGENT, linked_programs, programs
from tests.paths import DATA


@given_few(programs(), st.sampled_from(TOOL_NAMES))
def test_agents_have_the_same_tools_whether_shared_or_not(
    program: tuple[Pattern, ...], name: str
) -> None:
    shared = _share(program, name)

    def resolved(patterns: tuple[Pattern, ...]) -> list[Pattern]:
        names = [view(agent_name, agent) for agent in find_agents(patterns)]
        return [resolve(patterns, name) for name in names]

    assert resolved(shared) == resolved(program)
    assert sum(each.value.identity == name for each in shared) == 1
    assert only_errors(validate_program(shared)) == ()


def _share(program: tuple[Pattern, ...], name: str) -> tuple[Pattern, ...]:
    """A program that shares a tool; examples that cannot are passed over."""
    try:
        return share_tool(program, name)
    except FocusError:
        assume(False)
        raise


# --- what is refused

AGENT = loads_one("[a:Agent | (sayHello:Tool), other, (b.c:Tool)]")
REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: share_tool([AGENT], "sayHelo"),
     'share_tool: no agent has a tool "sayHelo" at the agents of the document;'
     " did you mean sayHello?"),
    (lambda: share_tool([AGENT, *loads("[b:Agent | (sayHello:Tool {v: 2})]")], "sayHello"),
     '1:12: share_tool: "sayHello" is something else elsewhere in the document'
     " at value.identity of [sayHello:Tool]"),
    (lambda: share_tool([AGENT, loads_one("(sayHello:Person)")], "sayHello"),
     '1:1: share_tool: "sayHello" is something else elsewhere in the document'
     " at value.identity of [sayHello:Person]"),
]  # fmt: skip


@pytest.mark.parametrize(("edit", "message"), REFUSED, ids=[row[1][:60] for row in REFUSED])
def test_what_cannot_be_done_is_refused(edit: Callable[[], object], message: str) -> None:
    with pytest.raises(FocusError) as refused:
        edit()
    assert str(refused.value) == message


def test_a_shared_tool_takes_its_comments_along_and_each_copy_leaves_its_own() -> None:
    document = parse_program(SPELLED_OUT)
    shared = document.replace(share_tool(document.patterns, "u"))
    assert shared.text == SHARED
    assert shared.replace(document.patterns).text == SPELLED_OUT


SPELLED_OUT, SHARED, ONE, TWO = (
    (DATA / "sharing" / f"{name}.gram").read_text("utf-8")
    for name in ("spelled_out", "shared", "one", "two")
)
NOTHING = "(d:Agent)\n"
FILES = {"/r/x/one.gram": ONE, "/r/two.gram": TWO, "/r/none.gram": NOTHING}


def documents(**changed: str) -> dict[Path, Document]:
    texts = {**FILES, **{f"/r/{name}.gram": text for name, text in changed.items()}}
    return {Path(name): parse_program(text, name) for name, text in texts.items()}


def test_a_copy_in_each_file_becomes_one_definition_that_they_import() -> None:
    shared = share_definition(documents(), "search", Path("/r/shared/search.gram"))

    texts = {str(path): each.text for path, each in shared.documents.items()}
    assert texts == {
        "/r/x/one.gram": '{imports: ["../shared/search.gram"]}\n'
        + ONE.replace('[search:Tool {description: "Searches."} | (q::User)==>(::Text)]', "search"),
        "/r/two.gram": TWO.replace("{k: 1}", '{imports: ["shared/search.gram"], k: 1}').partition(
            "[search"
        )[0],
        "/r/shared/search.gram": '[search:Tool {description: "Searches."} | (q::User)==>(::Text), '
        "[User:Object | (n::Text)]]\n",
    }
    assert [(key, said, says) for _, key, said, says in shared.words] == [
        ("description", "Looks up.", "Searches.")
    ]


def test_a_file_that_has_it_may_be_the_one_that_keeps_it() -> None:
    shared = share_definition(documents(), "search", Path("/r/two.gram"))
    assert list(shared.documents) == [Path("/r/x/one.gram")]
    assert shared.documents[Path("/r/x/one.gram")].text.startswith('{imports: ["../two.gram"]}')


def test_types_are_shared_too() -> None:
    other = ONE.replace("// One.", "// Three.")
    shared = share_definition(documents(three=other), "User", Path("/r/user.gram"))
    assert shared.documents[Path("/r/user.gram")].text == "[User:Object | (n::Text)]\n"
    assert (
        shared.documents[Path("/r/three.gram")].text
        == '{imports: ["user.gram"]}\n' + (other.partition("[User")[0])
    )


def test_what_is_imported_already_is_not_imported_again() -> None:
    other = ONE.replace("// One.", "// Three.")
    found = {Path(f"/r/{name}.gram"): parse_program(other) for name in ("three", "four")}
    first = share_definition(found, "User", Path("/r/user.gram"))
    second = share_definition(first.documents, "search", Path("/r/user.gram"))
    three = second.documents[Path("/r/three.gram")].text
    assert three.startswith('{imports: ["user.gram"]}\n// Three.')


@pytest.mark.parametrize(
    ("name", "two", "message"),
    [
        ("note", TWO, "is defined at the top, or in an agent, of 1 file"),
        ("nothing", TWO, "of 0 files"),
        ("search", TWO.replace("q::User", "q::Text"), "differs in more than words from the one at"),
    ],
)
def test_what_is_no_copy_is_refused(name: str, two: str, message: str) -> None:
    with pytest.raises(FocusError, match=message):
        share_definition(documents(two=two), name, Path("/r/shared.gram"))


# --- bundling


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


@given_few(linked_programs(), linked_programs())
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
