"""One definition in the place of a copy in each of several files."""

from __future__ import annotations

from pathlib import Path

import pytest

from gram import Document
from lenses_ext import FocusError, parse_program, share_definition

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
NONE = "(d:Agent)\n"
FILES = {"/r/x/one.gram": ONE, "/r/two.gram": TWO, "/r/none.gram": NONE}


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
