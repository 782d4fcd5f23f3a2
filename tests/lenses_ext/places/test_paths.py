"""Paths in the words of the lenses: what they lead to, and what they say when they lead nowhere."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from gram import Pattern, dumps, loads
from lenses_ext import FocusError, ReadOnlyError, change_places, find_places, remove_places
from lenses_ext.places import Kind, completions, new_property
from lenses_ext.places.place import PathError, read_path, write_path
from lenses_ext.signatures import parse_program
from tests.gram.strategies import texts
from tests.paths import DATA

ROWS = json.loads((DATA / "paths.json").read_text("utf-8"))
PATTERNS = loads((DATA / "paths.gram").read_text("utf-8"))


def values(path: str) -> dict[str, object]:
    """What stands at the places of a path."""
    return {place.path: place.get(PATTERNS) for place in find_places(PATTERNS, path)}


@pytest.mark.parametrize(("path", "expected"), ROWS["values"])
def test_words_lead_to_parts_and_a_star_means_every_name(
    path: str, expected: dict[str, object]
) -> None:
    assert values(path) == {at or path: value for at, value in expected.items()}


def test_a_name_leads_to_the_tool_that_its_agent_can_see() -> None:
    patterns = loads(
        "[a:Agent | (t:Tool {description: 'inner'}), u] [b:Agent | t, u]"
        "(t:Tool {description: 'top'}) (u:Tool {description: 'shared'})"
    )

    found = {
        place.path: place.get(patterns) for place in find_places(patterns, "*.tools.*.description")
    }

    assert found == {
        "a.tools.t.description": "inner",
        "a.tools.u.description": "shared",
        "b.tools.t.description": "top",
        "b.tools.u.description": "shared",
    }


def test_what_is_set_is_set_in_both_places_of_a_walk_and_what_is_there_changes_nothing() -> None:
    for path in ("one.model", "config.retries", "one.tools.*.description", "one.name", "two"):
        for place in find_places(PATTERNS, path):
            assert place.set(PATTERNS, place.get(PATTERNS)) == PATTERNS
    (place,) = find_places(PATTERNS, "one.tools.`math.add`.parameters.y.default")
    tool = place.set(PATTERNS, 7)[1].elements[0]
    assert dumps(tool.elements[0]) == (
        "(x:Integer {default: 1})-->(y:Integer {default: 7})-->(:Integer)"
    )


def test_elements_and_optional_properties_can_be_removed_and_what_is_computed_not_set() -> None:
    (tool,) = find_places(PATTERNS, "one.tools.`math.add`")
    (description,) = find_places(PATTERNS, "two.description")
    (instruction,) = find_places(PATTERNS, "two.instruction")

    assert len(tool.remove(PATTERNS)[1].elements) == 1
    assert "description" not in description.remove(PATTERNS)[2].elements[0].value.properties
    with pytest.raises(FocusError, match="instruction has to be there"):
        instruction.remove(PATTERNS)
    (schema,) = find_places(PATTERNS, "one.tools.`math.add`.schema")
    with pytest.raises(ReadOnlyError, match="tool_spec_schema is computed"):
        schema.set(PATTERNS, {})


@pytest.mark.parametrize(("path", "message"), ROWS["nowhere"])
def test_a_path_that_leads_nowhere_says_what_there_is(path: str, message: str) -> None:
    with pytest.raises(PathError) as caught:
        find_places(PATTERNS, path)
    assert str(caught.value) == message


def test_a_name_that_means_nothing_is_not_defined() -> None:
    with pytest.raises(PathError, match=r"it is not defined$"):
        find_places(loads("[a:Agent | t]"), "a.tools.t.description")


def test_a_word_of_the_language_comes_before_a_property_of_the_same_name() -> None:
    patterns = loads(
        '[a:Agent {tools: 1, name: "n"} |'
        " [t:Tool {parameters: 1, schema: 2} | (x::Integer)==>(::String)]]"
    )

    found = [find_places(patterns, f"a.{path}")[0].kind for path in ("tools", "tools.t.parameters")]

    assert found == [Kind.TOOLS, Kind.PARAMETERS]
    assert find_places(patterns, "a.name")[0].get(patterns) == "a"
    assert find_places(patterns, "a.tools.t.parameters.x")


@pytest.mark.parametrize(("path", "key", "message"), ROWS["new"])
def test_a_new_property_is_one_that_a_path_leads_to(path: str, key: str, message: str) -> None:
    (place,) = find_places(PATTERNS, path)
    with pytest.raises(PathError) as caught:
        new_property(PATTERNS, place, key)
    assert message in str(caught.value)


@pytest.mark.parametrize("path", ["one", "one.settings", "one.tools.*.parameters.x", "config.deep"])
@pytest.mark.parametrize("key", ["parameters", "new"])
def test_what_is_made_is_found_again(path: str, key: str) -> None:
    (place,) = find_places(PATTERNS, path)
    made = new_property(PATTERNS, place, key).set(PATTERNS, 7)
    assert [each.get(made) for each in find_places(made, f"{path}.{key}")] == [7]
    with pytest.raises(PathError, match="is there already: use gram set"):
        new_property(made, place, key)


def test_a_file_that_holds_only_tools_has_paths_too() -> None:
    patterns = loads(
        """
        [wave:Tool {description: "Waves"} | (who::User)==>(::String)]
        @@greetings [bow:Tool {description: "Bows"} | ()==>(::String)]
        [User:Object | (name::String)]
        """
    )

    found = {place.path: place.get(patterns) for place in find_places(patterns, "*.schema")}

    assert list(found) == ["wave.schema", "bow.schema"]
    assert found["wave.schema"]["properties"]["who"]["type"] == "object"
    assert find_places(patterns, "bow.description")[0].get(patterns) == "Bows"


def test_a_schema_whose_types_can_mean_two_things_is_refused() -> None:
    text = """
    [a:Agent {instruction: "I.", model: "A/b"} |
      [t:Tool {description: "d"} | (u::User)==>(::Text), [User:Object | (n::Text)]],
      [v:Tool {description: "d"} | (x::Twice)==>(::Text)]]
    [User:Object | (m::Text)] [Twice:Object | (m::Text)] [Twice:Object | (n::Text)]
    """
    patterns = loads(text)

    for path, message in (
        ("a.tools.t.schema", 'the type "User" can mean two things'),
        ("a.tools.v.schema", '"Twice" is defined at .* and again here'),
    ):
        (place,) = find_places(patterns, path)
        with pytest.raises(FocusError, match=message):
            place.get(patterns)


SIGNATURES = [
    "(::Text)",
    "()==>(::Text)",
    "(x::Text)==>(::Text)",
    "(x::Text)==>(y::Integer)==>(::Text)",
    "(y::Integer)==>(x::Text)==>(z::Any)==>(::Integer)",
    "(u::User)==>(y::Integer)==>(::Text) [User:Object | (n::Text)]",
]


@pytest.mark.parametrize("old", SIGNATURES)
def test_a_signature_is_written_as_a_path_whatever_it_was(old: str) -> None:
    elements = old.replace(" [", ", [")
    document = parse_program(f'[t:Tool {{description: "d"}} | {elements} // after\n] // end')
    (place,) = find_places(document.patterns, "t.signature")

    for new in SIGNATURES:
        edited = document.replace(place.set(document.patterns, new))

        assert "Walk" not in edited.text
        assert edited.text.endswith("\n] // end")
        assert "[" in old or "// after" in edited.text


def test_places_inside_each_other_are_changed_together() -> None:
    patterns = loads("[a:Agent | [b:Agent | (t:Tool)], (u:Tool)]")
    places = find_places(patterns, "*.tools")
    emptied = change_places(patterns, [(place, lambda _: ()) for place in places])
    assert dumps(emptied) == "[a:Agent | (b:Agent)]"


def test_a_shared_tool_is_changed_or_removed_once_with_the_names_that_refer_to_it() -> None:
    places = find_places(PATTERNS, "*.tools.shared.description")

    changed = change_places(PATTERNS, [(place, lambda old: old + "!") for place in places])
    removed = remove_places(PATTERNS, find_places(PATTERNS, "*.tools.shared"))

    assert len(places) == 2
    assert [place.tree_path for place in find_places(PATTERNS, "two.tools.shared")] == [(3,)]
    assert changed[3].value.properties["description"] == "Shared!"
    assert [len(each.elements) for each in removed[1:3]] == [1, 1]
    assert removed[2].elements[0].elements == ()
    assert removed[3] == PATTERNS[3]


def test_a_begun_path_is_completed_by_one_word() -> None:
    def ends(patterns: tuple[Pattern, ...], path: str) -> list[str]:
        return [each.removeprefix(path) for each in completions(patterns, path)]

    news = parse_program(NEWSROOM).patterns

    assert ends(PATTERNS, "one.to") == ["ols"]
    assert ends(PATTERNS, "t") == ["wo"]
    assert ends(PATTERNS, "one.tools.") == ["*", "`math.add`", "shared"]
    assert "*" not in ends(PATTERNS, "one.")
    assert ends(news, "newsroom.nodes.") == ["*", "researcher", "writer"]
    assert "arrows" in ends(news, "newsroom.")
    assert ends(news, "newsroom.arrows.") == ["*", "1", "2"]


@given(st.lists(texts().filter(bool), min_size=1, max_size=4))
def test_any_words_can_be_written_as_a_path_and_read_back(words: list[str]) -> None:
    words = [word for word in words if word != "*"] or ["a"]
    assert read_path(write_path(words)) == tuple(words)


# --- workflows

NEWSROOM = (DATA / "newsroom.gram").read_text("utf-8")


@pytest.mark.parametrize(("path", "expected"), ROWS["workflows"])
def test_paths_lead_into_workflows(path: str, expected: object) -> None:
    patterns = parse_program(NEWSROOM).patterns
    (found,) = [place.get(patterns) for place in find_places(patterns, path)]
    assert (found["properties"] if path.endswith("schema") else found) == expected


def test_nodes_and_arrows_are_changed_and_removed_by_their_paths() -> None:
    document = parse_program(NEWSROOM)
    (arrow,) = find_places(document.patterns, "newsroom.arrows.2")
    (node,) = find_places(document.patterns, "newsroom.nodes.researcher")
    (signature,) = find_places(document.patterns, "newsroom.signature")

    removed = document.replace(remove_places(document.patterns, [arrow, node])).text
    changed = document.replace(signature.set(document.patterns, "(n::Int)==>(::Text)")).text

    first, rest = NEWSROOM.split("// kept")
    assert removed == NEWSROOM.replace("  researcher, [w", " [w").replace(
        ', (writer)-[{as: "text"}]->()', ""
    )
    assert changed == first.replace("(topic::Text)==>(::String)", "(n::Int)==>(::Text)") + (
        f"// kept{rest}"
    )


def test_a_node_that_only_arrows_name_is_found_where_it_is_defined() -> None:
    """It goes with its arrows, so it cannot be taken out of the nodes alone."""
    document = parse_program(
        """[w:Workflow | (a)-->(b)-->(again::a)]
        (a:Agent {instruction: "A", model: "A/b"}) (b:Agent {instruction: "B", model: "A/b"})"""
    )
    (node,) = find_places(document.patterns, "w.nodes.b")
    places = find_places(document.patterns, "w.nodes.*.instruction")

    assert node.get(document.patterns) == document.patterns[2]
    assert [each.get(document.patterns) for each in places] == ["A", "B"]
    assert 'instruction: "new"' in document.replace(places[1].set(document.patterns, "new")).text
    with pytest.raises(FocusError, match='"b" is named in arrows: remove these'):
        remove_places(document.patterns, [node])
