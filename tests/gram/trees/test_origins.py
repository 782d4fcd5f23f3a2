"""Where patterns were read from: kept with each pattern, outside its equality."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest
from hypothesis import given

from gram import (
    Diagnostic,
    GramEncodeError,
    Pattern,
    from_json,
    load_file,
    loads,
    loads_one,
    origin,
    parse,
    to_json,
    walk,
)
from gram.reading import Spans, construct_of
from tests.gram.strategies import gram_texts
from tests.gram.texts import table


def read_text(pattern: object) -> str:
    """The piece of source that a pattern was read from."""
    place = origin(pattern)  # type: ignore[arg-type]  # any pattern is asked for its place
    assert place is not None
    return place.source.text[place.span.start : place.span.end]


def pickled(pattern: Pattern) -> Pattern:
    """A pattern after a journey through a file."""
    again: Pattern = pickle.loads(pickle.dumps(pattern))
    return again


def test_every_pattern_of_a_text_knows_its_place() -> None:
    text = "{k: 1}\n@x(1) [a:A |\n  b, (c)-[r]->(d)<--(e),\n  [f]]"
    header, annotated = loads(text)
    (bracket,) = annotated.elements
    reference, walk, _ = bracket.elements

    assert [*map(read_text, (header, annotated, bracket))] == ["{k: 1}", text[7:], text[13:]]
    assert [*map(read_text, bracket.elements)] == ["b", "(c)-[r]->(d)<--(e)", "[f]"]
    assert [read_text(edge) for edge in walk.elements] == ["(c)-[r]->(d)", "(d)<--(e)"]
    assert [read_text(node) for node in walk.elements[1].elements] == ["(e)", "(d)"]
    assert str(origin(reference)) == "3:3"


def test_equal_patterns_have_each_the_place_in_its_file(tmp_path: Path) -> None:
    file = tmp_path / "one.gram"
    file.write_text("(a)\n  (a)", encoding="utf-8")
    (one, two), three = load_file(file), parse("\n (a)", "b.gram").patterns[0]
    assert one == two == three
    places = [f"{file}:1:1", f"{file}:2:3", "b.gram:2:2"]
    assert [str(origin(each)) for each in (one, two, three)] == places
    place = origin(three)
    assert place is not None
    assert (place.filename, place.lineno, place.colno) == ("b.gram", 2, 2)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, pickled, attrs.evolve,
    lambda tree: from_json(to_json(tree))])  # fmt: skip
def test_a_copy_is_equal_and_has_no_place(again: Callable[[Pattern], Pattern]) -> None:
    tree = loads_one("[a:A {k: [1]} | (b)-->(c), d]")
    hash(tree)
    new = again(tree)
    assert new == tree
    assert hash(new) == hash(tree)
    assert repr(new) == repr(tree)
    assert new.levels == tree.levels
    assert origin(new) is None


@pytest.mark.parametrize(("text", "part", "expected"), table("places")["parts"])
def test_a_fault_of_a_part_is_shown_at_the_part(text: str, part: str, expected: str) -> None:
    span = Diagnostic.of("code", "message", loads_one(text), part or None).span
    assert span is not None
    assert text[slice(*span)] == expected


@given(gram_texts())
def test_a_pattern_read_alone_from_its_place_is_equal_and_has_the_same_syntax(text: str) -> None:
    document = parse(text)
    for path, tree in walk(document.patterns):
        piece, construct = read_text(tree), construct_of(tree)
        assert piece[0] not in "([@{" or loads_one(piece) == tree
        assert construct is not None
        assert Spans.of(construct).subject == document.spans(path).subject
        assert Spans.of(construct).values == document.spans(path).values


def test_a_changed_pattern_knows_where_it_came_from() -> None:
    (old,) = loads("[a | b]")
    place = old.came_from

    renamed = attrs.evolve(old, value=attrs.evolve(old.value, identity="c"))
    again = attrs.evolve(renamed, elements=())

    assert place is not None
    assert again.came_from is renamed.came_from is place
    assert origin(renamed) is None
    assert again == Pattern(again.value)
    assert hash(again) == hash(Pattern(again.value))
    assert repr(again) == repr(Pattern(again.value))
    assert pickled(again).came_from is None


@pytest.mark.parametrize("wrong", [1, "a", (), (1, 2, 3)])
def test_a_pattern_comes_from_what_another_one_came_from(wrong: object) -> None:
    with pytest.raises(GramEncodeError, match="came_from"):
        Pattern(came_from=wrong)  # type: ignore[arg-type]  # wrong on purpose
