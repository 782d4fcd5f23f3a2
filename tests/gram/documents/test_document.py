"""Documents: the text, its patterns, and the place of every part."""

from __future__ import annotations

import pickle

import pytest

from gram import Document, Pattern, Span, Subject, loads, loads_one, origin, parse
from gram.writing import Spelling
from tests.gram.texts import table


def piece(document: Document, span: Span | None) -> str | None:
    return None if span is None else document.text[span.start : span.end]


def test_a_document_has_its_text_patterns_and_header() -> None:
    document = parse("\ufeff{k: 1}\r\n(a)", "a.gram")
    assert document.text == "\ufeff{k: 1}\r\n(a)"
    assert document.filename == "a.gram"
    assert document.header is document.patterns[0]
    assert document.header == loads_one("{k: 1}")
    assert parse("(a)").header is None
    assert parse("({k: 1})").header is None
    assert repr(document) == "<Document 'a.gram', 2 patterns>"


@pytest.mark.parametrize(
    ("text", "path", "pattern", "subject", "identity", "labels"), table("places")["spans"]
)
def test_the_parts_of_a_pattern_have_their_places(
    text: str, path: list[int], pattern: str, subject: str, identity: str, labels: list[str]
) -> None:
    spans = parse(text).spans(path)
    assert text[slice(*spans.pattern)] == pattern
    assert text[slice(*spans.subject)] == subject
    assert (text[slice(*spans.identity)] if spans.identity else "") == identity
    assert [text[slice(*span)] for span in spans.labels.values()] == labels


def test_properties_have_the_places_of_their_keys_and_values() -> None:
    document = parse('(a {`k 1`: [1, {b: "x"}], l: ```md\ny\n```, l: 5kg})')
    spans = document.spans((0,))
    assert {k: piece(document, s) for k, s in spans.keys.items()} == {"k 1": "`k 1`", "l": "l"}
    assert piece(document, spans.values["k 1"]) == '[1, {b: "x"}]'
    assert piece(document, spans.values["l"]) == "5kg"
    assert piece(document, spans.value("k 1", 0)) == "1"
    assert piece(document, spans.value("k 1", 1, "b")) == '"x"'
    for path in (("m",), ("k 1", 2), ("k 1", -1), ("k 1", "x"), ("k 1", 1, "c"), ("l", 0)):
        with pytest.raises(KeyError):
            spans.value(*path)


def test_a_path_that_leads_nowhere_is_refused() -> None:
    document = parse("(z) [a | (b)-->(c)-->(d), e]")
    for nowhere in ((), (2,), (1, 2), (0, 0, 0)):
        with pytest.raises(LookupError):
            document.spans(nowhere)


def made(text: str) -> Pattern:
    """A pattern that knows of no text."""
    return pickle.loads(pickle.dumps(loads_one(text)))


def test_the_name_and_style_of_a_document_stay() -> None:
    def style(path: tuple[Pattern, ...]) -> Spelling:
        return Spelling(separator="::", family="=", bracketed=not path[-1].elements)

    document = parse("(a)\n[t | a]", "agent.gram", style=style)

    edited = document.replace([*document.patterns, made("[t | (a:A)-->(:B), (s:S)]")])

    assert edited.filename == "agent.gram"
    assert edited.style is style
    assert edited.text == "(a)\n[t | a]\n[t | (a::A)==>(::B), [s::S]]"


def test_unchanged_patterns_are_shared_and_keep_their_origin() -> None:
    document = parse("[a | b]\n(c)")
    first = Pattern(Subject("n"), document.patterns[0].elements)
    edited = document.replace([first, *document.patterns[1:]])
    assert edited.patterns[1] is document.patterns[1]
    place = origin(edited.patterns[1])
    assert place is not None
    assert place.source is document.source
    assert place.lineno == 2


def test_edits_say_what_changed_in_the_text_that_was_read() -> None:
    document = parse("(a {n: 0x01}) // c\n(b)\n(d)\n")
    edited = document.replace(loads("(a {n: 1}) (d)")).replace(loads("(a {n: 2000}) (d)"))

    number, removal = edited.changes
    assert (number.old, number.new) == ("0x01", "0x7d0")
    assert (number.before, number.after) == (Span(7, 11), Span(7, 12))
    assert (removal.old, removal.new) == ("\n(b)", "")
    assert (removal.before, removal.after) == (Span(18, 22), Span(19, 19))
    assert document.changes == edited.replace(document.patterns).changes == ()
    nothing = parse("{k: 1}").replace(())
    assert (nothing.text, nothing.header) == ("", None)
    assert [(edit.old, edit.new) for edit in nothing.changes] == [("{k: 1}", "")]
