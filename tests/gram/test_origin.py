"""Where patterns were read from: kept by identity, weakly, and exact for every part."""

from __future__ import annotations

import copy
import gc
from pathlib import Path

import pytest
from hypothesis import given

from gram import (
    Span,
    dumps,
    from_json,
    load,
    loads,
    loads_one,
    origin,
    origin as origin_of,
    parse,
    to_json,
)
from gram.origin import _places
from tests.strategies import source_texts


def read_text(pattern: object) -> str:
    """The piece of source that a pattern was read from."""
    place = origin_of(pattern)  # type: ignore[arg-type]  # any pattern is asked for its place
    assert place is not None
    return place.source.text[place.span.start : place.span.end]


def test_every_pattern_of_a_text_knows_its_place() -> None:
    text = "{k: 1}\n@x(1) [a:A |\n  b, (c)-[r]->(d)<--(e),\n  [f]]"
    header, annotated = loads(text)
    (bracket,) = annotated.elements
    reference, walk, inner = bracket.elements

    assert read_text(header) == "{k: 1}"
    assert read_text(annotated) == text[7:]
    assert read_text(bracket) == text[13:]
    assert read_text(reference) == "b"
    assert read_text(walk) == "(c)-[r]->(d)<--(e)"
    assert read_text(inner) == "[f]"
    assert [read_text(edge) for edge in walk.elements] == ["(c)-[r]->(d)", "(d)<--(e)"]
    assert [read_text(node) for node in walk.elements[1].elements] == ["(e)", "(d)"]
    assert str(origin(reference)) == "3:3"


def test_equal_patterns_in_two_files_have_two_places(tmp_path: Path) -> None:
    for name in ("one.gram", "two.gram"):
        (tmp_path / name).write_text("\n(a)" if name == "two.gram" else "(a)", encoding="utf-8")

    (one,), (two,) = load(tmp_path / "one.gram"), load(tmp_path / "two.gram")

    assert one == two
    assert str(origin(one)) == f"{tmp_path / 'one.gram'}:1:1"
    assert str(origin(two)) == f"{tmp_path / 'two.gram'}:2:1"


def test_equal_patterns_in_one_text_have_two_places() -> None:
    one, two = loads("(a)\n  (a)")

    assert one == two
    assert [str(origin(each)) for each in (one, two)] == ["1:1", "2:3"]


def test_a_place_is_forgotten_with_its_pattern() -> None:
    gc.collect()
    before = len(_places)

    trees = loads("[a | (b)-->(c)-->(d), e] (f)")
    assert len(_places) > before
    (kept,) = [trees[0].elements[1]]
    del trees
    gc.collect()
    assert len(_places) == before + 1
    assert read_text(kept) == "e"

    del kept
    gc.collect()
    assert len(_places) == before


def test_a_refused_text_leaves_no_places() -> None:
    gc.collect()
    before = len(_places)

    with pytest.raises(ValueError, match="unexpected"):
        loads("(a) [b | (c), (d)] (e")
    gc.collect()

    assert len(_places) == before


def test_what_was_made_has_no_place() -> None:
    tree = loads_one("(a)")

    assert origin(copy.deepcopy(tree)) is None
    assert origin(from_json(to_json(tree))) is None
    assert origin(loads_one(dumps(tree))) is not None


def test_an_origin_outlives_its_document_and_reads_it_again() -> None:
    place = origin(loads_one("[a | (b {k: 1})]").elements[0])
    gc.collect()

    assert place is not None
    assert place.path == (0, 0)
    assert place.document.text == "[a | (b {k: 1})]"
    assert place.part("k") == Span(12, 13)


def test_an_origin_knows_its_document_while_it_is_held() -> None:
    document = parse("(a)", "a.gram")

    place = origin(document.patterns[0])

    assert place is not None
    assert place.document is document
    assert (place.filename, place.lineno, place.colno) == ("a.gram", 1, 1)


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("identity", "ann"),
        ("labels", "A"),
        ("k", '"v"'),
        ("absent", 'ann:B:A {k: "v"}'),
        (None, '(ann:B:A {k: "v"})'),
    ],
)
def test_a_part_has_a_place_of_its_own(part: str | None, expected: str) -> None:
    text = '(ann:B:A {k: "v"})'
    tree = loads_one(text)
    place = origin(tree)
    assert place is not None

    start, end = place.part(part)

    assert text[start:end] == (expected if part != "labels" else "B")


@pytest.mark.parametrize(
    ("text", "part", "expected"),
    [
        ('(ann:B {identity: "zzz", labels: 1})', "identity", "ann"),
        ('(ann:B {identity: "zzz", labels: 1})', "labels", "B"),
        ('({identity: "zzz"})', "identity", '{identity: "zzz"}'),
    ],
)
def test_a_property_called_like_a_part_is_not_taken_for_it(
    text: str, part: str, expected: str
) -> None:
    place = origin(loads_one(text))
    assert place is not None

    start, end = place.part(part)

    assert text[start:end] == expected


@given(source_texts())
def test_a_pattern_read_alone_from_its_place_is_equal(text: str) -> None:
    pending = list(loads(text))
    while pending:
        tree = pending.pop()
        piece = read_text(tree)
        if piece[0] in "([@{":
            assert loads_one(piece) == tree
        pending.extend(tree.elements)
