"""Paths in the words of the lenses: what they lead to, and what they say when they lead nowhere."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from gram import dumps, loads
from lenses_ext import FocusError, ReadOnlyError
from lenses_ext.paths import PathError, read_path, write_path
from lenses_ext.places import Kind, completions, find_places, new_property
from tests.strategies import texts

PATTERNS = loads(
    """
    (config {retries: 3, deep: {a: {b: 1}}})
    [one:Agent {instruction: "I", model: "A/b", settings: {seed: 1}} |
      [math.add:Tool {description: "Adds"} |
        (x::Integer {default: 1})==>(y::Integer)==>(::Integer)],
      shared]
    @@group [two:Agent {description: "D", instruction: "II", model: "A/c"} | shared]
    [shared:Tool {description: "Shared"} | ()==>(::String)]
    """
)


def values(path: str) -> dict[str, object]:
    """What stands at the places of a path."""
    return {place.path: place.get(PATTERNS) for place in find_places(PATTERNS, path)}


def test_words_lead_to_the_parts_of_agents_tools_and_parameters() -> None:
    assert values("one.instruction") == {"one.instruction": "I"}
    assert values("two.description") == {"two.description": "D"}
    assert values("one.settings.seed") == {"one.settings.seed": 1}
    assert values("config.deep.a.b") == {"config.deep.a.b": 1}
    assert values("one.tools.`math.add`.parameters.x.default") == {
        "one.tools.`math.add`.parameters.x.default": 1
    }
    assert values("one.tools.`math.add`.signature") == {
        "one.tools.`math.add`.signature": "(x::Integer {default: 1})==>(y::Integer)==>(::Integer)"
    }


def test_a_star_stands_for_every_name() -> None:
    assert values("*.tools.*.description") == {
        "one.tools.`math.add`.description": "Adds",
        "one.tools.shared.description": "Shared",
        "two.tools.shared.description": "Shared",
    }
    assert list(values("one.tools.*.parameters.*")) == [
        "one.tools.`math.add`.parameters.x",
        "one.tools.`math.add`.parameters.y",
    ]


def test_a_reference_leads_to_its_definition() -> None:
    (place,) = find_places(PATTERNS, "two.tools.shared")

    assert place.tree_path == (3,)


def test_setting_a_parameter_sets_both_of_its_places_in_the_walk() -> None:
    (place,) = find_places(PATTERNS, "one.tools.`math.add`.parameters.y.default")

    tool = place.set(PATTERNS, 7)[1].elements[0]

    assert dumps(tool.elements[0]) == (
        "(x:Integer {default: 1})-->(y:Integer {default: 7})-->(:Integer)"
    )


def test_setting_what_stands_there_changes_nothing() -> None:
    for path in ("one.model", "config.retries", "one.tools.*.description", "one.name", "two"):
        for place in find_places(PATTERNS, path):
            assert place.set(PATTERNS, place.get(PATTERNS)) == PATTERNS


def test_removing_takes_elements_and_what_may_be_absent() -> None:
    (tool,) = find_places(PATTERNS, "one.tools.`math.add`")
    (description,) = find_places(PATTERNS, "two.description")
    (instruction,) = find_places(PATTERNS, "two.instruction")

    assert len(tool.remove(PATTERNS)[1].elements) == 1
    assert "description" not in description.remove(PATTERNS)[2].elements[0].value.properties
    with pytest.raises(FocusError, match="instruction has to be there"):
        instruction.remove(PATTERNS)


def test_what_is_computed_cannot_be_set() -> None:
    (schema,) = find_places(PATTERNS, "one.tools.`math.add`.schema")

    with pytest.raises(ReadOnlyError, match="tool_spec_schema is computed"):
        schema.set(PATTERNS, {})


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("on.model", "`on.model` leads nowhere: the document has no `on`; did you mean one?"),
        ("one.modle", "`one.modle` leads nowhere: `one` has no `modle`; did you mean model?"),
        (
            "one.tools.zzz",
            "`one.tools.zzz` leads nowhere: `one.tools` has no `zzz`; it has: math.add, shared",
        ),
        ("one.model.x", "`one.model.x` leads nowhere: `one.model` has no `x`; it has: nothing"),
        ("config.*", "`config.*` leads nowhere: `config` has no names for *"),
        ("", "'' is not a path: expected a name at character 1"),
        ("a..b", "'a..b' is not a path: expected a name at character 3"),
        ("a.", "'a.' is not a path: it ends with a dot"),
    ],
)
def test_a_path_that_leads_nowhere_says_what_there_is(path: str, message: str) -> None:
    with pytest.raises(PathError) as caught:
        find_places(PATTERNS, path)

    assert str(caught.value) == message


def test_a_property_never_stands_in_the_way_of_a_word() -> None:
    patterns = loads(
        '[a:Agent {tools: 1, name: "n"} |'
        " [t:Tool {parameters: 1, schema: 2} | (x::Integer)==>(::String)]]"
    )

    found = [find_places(patterns, f"a.{path}")[0].kind for path in ("tools", "tools.t.parameters")]

    assert found == [Kind.TOOLS, Kind.PARAMETERS]
    assert find_places(patterns, "a.name")[0].get(patterns) == "a"
    assert find_places(patterns, "a.tools.t.parameters.x")


@pytest.mark.parametrize(
    ("path", "key", "message"),
    [
        ("one", "tools", "`tools` of one is no property but a part of it; gram add FILE one.tools"),
        ("one", "model", "one.model is there already: use gram set"),
        ("one.tools.shared", "parameters", "gram set FILE one.tools.shared.signature '…'"),
        ("one.tools.shared", "schema", "it follows from the signature"),
        ("one.model", "x", "one.model has no properties to add to: use gram set"),
    ],
)
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


def test_a_begun_path_is_completed_by_one_word() -> None:
    assert completions(PATTERNS, "one.to") == ["one.tools"]
    assert completions(PATTERNS, "t") == ["two"]
    assert completions(PATTERNS, "one.tools.") == [
        "one.tools.*",
        "one.tools.`math.add`",
        "one.tools.shared",
    ]


@given(st.lists(texts().filter(bool), min_size=1, max_size=4))
def test_any_words_can_be_written_as_a_path_and_read_back(words: list[str]) -> None:
    words = [word for word in words if word != "*"] or ["a"]

    assert read_path(write_path(words)) == tuple(words)
