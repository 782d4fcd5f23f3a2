"""A tool that agents share: what stays the same, what is refused, and what is left alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import assume, given, strategies as st

from gram import Document, Pattern, loads, loads_one
from gram.diagnostics import only_errors
from lenses_ext import FocusError, agent_name, find_agents, parse_program, resolve, validate_program
from lenses_ext.composing.sharing import share_definition, share_tool
from lenses_ext.optics import view
from tests.lenses_ext.strategies import TOOL_NAMES, programs


@given(programs(), st.sampled_from(TOOL_NAMES))
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


SPELLED_OUT = """\
[a:Agent {instruction: "x", model: "A/b"} |
  // above the first
  [u:Tool { // in the first
    description: "d"} | (x::Text)==>(::String)], // after the first
  [v:Tool {description: "e"} | (x::Text)==>(::String)] // v
]
[b:Agent {instruction: "y", model: "A/b"} |
  // above the second
  [u:Tool { // in the second
    description: "d"} | (x::Text)==>(::String)] // after the second
]
"""

SHARED = """\
[a:Agent {instruction: "x", model: "A/b"} |
  u,
  [v:Tool {description: "e"} | (x::Text)==>(::String)] // v
]
[b:Agent {instruction: "y", model: "A/b"} |
  // above the second
  // in the second
  u // after the second
]
// above the first
[u:Tool { // in the first
    description: "d"} | (x::Text)==>(::String)] // after the first
"""


def test_a_shared_tool_takes_its_comments_along_and_each_copy_leaves_its_own() -> None:
    document = parse_program(SPELLED_OUT)

    shared = document.replace(share_tool(document.patterns, "u"))

    assert shared.text == SHARED
    assert shared.replace(document.patterns).text == SPELLED_OUT


ONE = """\
// One.
[a:Agent {instruction: "x", model: "Offline/rehearsal"} |
  // the search
  [search:Tool {description: "Searches."} | (q::User)==>(::Text)], // of a
  [note:Tool {description: "Notes."} | ()==>(::Text)]]
[User:Object | (n::Text)]
"""
TWO = """\
{k: 1} // Two.
[b:Agent {instruction: "x", model: "Offline/rehearsal"} | search, (b)-[:HANDOFF]->(c)]
[c:Agent {instruction: "x", model: "Offline/rehearsal"} | search]
[search:Tool {description: "Looks up."} | (q::User)==>(::Text), [User:Object | (n::Text)]]
"""
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
