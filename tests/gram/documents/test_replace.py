"""What an edited document says of itself."""

import pickle
from collections.abc import Iterator

import pytest

from gram import (
    Measurement,
    Pattern,
    Range,
    Span,
    Subject,
    Symbol,
    TaggedString,
    loads,
    loads_one,
    origin,
    parse,
)
from gram.writing import Spelling

TEXT = """\
// about the file
[a:Agent {model: 'x'} | // tools
  (b {n: 0x0F}),
  (c)
]

(d)==>(e) // an edge
"""


def test_what_is_not_asked_for_keeps_its_place_and_spelling() -> None:
    trees = loads(TEXT.replace("'x'", "'y'").replace("(c)", "(c:New)"))

    edited = parse(TEXT).replace(trees)

    assert edited.text == TEXT.replace("'x'", "'y'").replace("(c)", "(c:New)")


def test_patterns_may_come_from_any_iterable() -> None:
    def backwards() -> Iterator[Pattern]:
        yield from reversed(document.patterns)

    document = parse(TEXT)

    assert document.replace(backwards()).patterns == document.patterns[::-1]


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
    document = parse(TEXT)
    first = Pattern(Subject("n"), document.patterns[0].elements)

    edited = document.replace([first, *document.patterns[1:]])

    assert edited.patterns[1] is document.patterns[1]
    place = origin(edited.patterns[1])
    assert place is not None
    assert place.source is document.source
    assert place.lineno == 7


def test_spans_and_paths_of_an_edited_document_are_of_its_own_text() -> None:
    document = parse("[x | (a {n: 1}), b]\n(c {k: 2})")

    edited = document.replace(loads("[x | (a {n: 1000}), m, b]\n(c {k: 2})"))

    assert edited.text == "[x | (a {n: 1000}), m, b]\n(c {k: 2})"
    span = edited.spans((1,)).values["k"]
    assert edited.text[slice(*span)] == "2"
    assert edited.source.position(span.start) == (2, 8)
    assert [item.pattern for item in edited.items] == list(edited.patterns)


def test_edits_say_what_changed_where() -> None:
    document = parse("(a {n: 0x01}) // c\n(b)\n(d)\n")

    edited = document.replace(loads("(a {n: 2000}) (d)"))

    number, removal = edited.changes
    assert (number.old, number.new) == ("0x01", "0x7d0")
    assert (number.before, number.after) == (Span(7, 11), Span(7, 12))
    assert (removal.old, removal.new) == ("\n(b)", "")
    assert (removal.before, removal.after) == (Span(18, 22), Span(19, 19))


def test_edits_count_from_the_text_that_was_read() -> None:
    document = parse("(a)\n(b)\n")

    twice = document.replace(loads("(a) (x)")).replace(loads("(y) (x)"))

    assert [(edit.old, edit.new) for edit in twice.changes] == [("a", "y"), ("b", "x")]
    assert document.changes == ()
    assert twice.replace(document.patterns).changes == ()
    nothing = parse("{k: 1}").replace(())
    assert (nothing.text, nothing.header) == ("", None)
    assert [(edit.old, edit.new) for edit in nothing.changes] == [("{k: 1}", "")]


@pytest.mark.parametrize(
    ("old", "new", "is_header"),
    [
        ("{k: 1}\n(a)", "{k: 2} (a)", True),
        ("// c\n(a)", "{k: 2} (a)", True),
        ("\ufeff(a)", "{k: 2} (a)", True),
        ("{k: 1}\n(a)", "(n) ({k: 1}) (a)", False),
        ("({k: 1})", "({k: 2})", False),
        ("{k: 1}", "(a {k: 1})", False),
    ],
)
def test_the_header_of_an_edited_document_is_the_record_at_its_top(
    old: str, new: str, is_header: bool
) -> None:
    edited = parse(old).replace(loads(new))

    assert edited.header == (edited.patterns[0] if is_header else None)
    assert edited.header == parse(edited.text).header


def test_every_kind_of_value_can_take_the_place_of_every_other() -> None:
    values = [
        *(1, -1, 2.5, True, "it's", "two\nlines", "`", Symbol("word"), TaggedString("t", "x")),
        *(TaggedString("t", "a\nb"), Measurement(2, "kg"), Measurement(0, "xFF"), Range(1, None)),
        *([1, "x"], {"k": 1}, [], {}),
    ]
    spellings = [
        *("1", "0x0F", "017", "2.50", "true", '"x"', "'x'", "`x`", "```\nx\n```", "t`x`"),
        *("```t\nx\n  ```", "word", "5kg", "1..2", "[1]", "{k: 1}", "[]", "{}"),
    ]

    for spelling in spellings:
        document = parse(f"(a {{k: {spelling}}} // c\n)")
        for value in values:
            edited = document.replace([Pattern(Subject("a", (), {"k": value}))])

            assert loads(edited.text) == edited.patterns
            assert edited.text.endswith("} // c\n)")
            assert edited.rescued == ()


def test_values_as_deep_as_they_may_be_can_be_edited() -> None:
    text = "(a {k: " + "[" * 99 + "1" + "]" * 99 + "})"
    wanted = text.replace("1", "0")

    edited = parse(text).replace(loads(wanted))

    assert edited.text == wanted
    assert [(edit.old, edit.new) for edit in edited.changes] == [("1", "0")]
