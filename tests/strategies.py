"""Hypothesis strategies for everything the tests generate."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from pyrsistent import pmap, pvector

from gram import Measurement, Pattern, Range, Subject, Symbol, TaggedString

ODD_TEXTS = ["", "true", "false", "null", "0", "-1", "042", "a b", "é", "`", "```", '"', "\\", "//"]


def texts() -> st.SearchStrategy[str]:
    """Any text that UTF-8 can carry, odd ones often."""
    free = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
    lines = st.lists(st.sampled_from(["", " ", "a", "```", "`", "\t", "\r", "// c"]), max_size=5)
    return st.sampled_from(ODD_TEXTS) | free | lines.map("\n".join) | st.just("long " * 30)


def symbols() -> st.SearchStrategy[str]:
    """Words that can be written bare, in any position."""
    words = st.from_regex(r"\A[A-Za-z_][0-9A-Za-z_.\-@]{0,6}\Z")
    return words.filter(lambda word: word not in ("true", "false"))


def names() -> st.SearchStrategy[str]:
    """Identities, labels and keys: mostly a few short symbols, so that they collide."""
    return st.sampled_from(["a", "b", "c", "Agent", "REL"]) | symbols() | texts()


def numbers() -> st.SearchStrategy[int | float]:
    """Integers and finite decimals of any size."""
    return st.integers() | st.floats(allow_nan=False, allow_infinity=False)


def measurements() -> st.SearchStrategy[Measurement]:
    """Numbers with a unit, units that look hexadecimal among them."""
    units = st.sampled_from(["kg", "xFF", "x", "e"]) | st.from_regex(r"\A[A-Za-z]{1,4}\Z")
    return st.builds(Measurement, numbers(), units)


def ranges() -> st.SearchStrategy[Range]:
    """Ranges of numbers and measurements, half of them open."""
    bounds = st.none() | numbers() | measurements()
    pairs = st.tuples(bounds, bounds).filter(lambda pair: pair != (None, None))
    return pairs.map(lambda pair: Range(*pair))


def scalars() -> st.SearchStrategy[Any]:
    """Values that hold no other values, of every kind."""
    return st.one_of(
        texts(),
        st.booleans(),
        numbers(),
        symbols().map(Symbol),
        st.builds(TaggedString, symbols(), texts()),
        measurements(),
        ranges(),
    )


def values() -> st.SearchStrategy[Any]:
    """Values of every kind, arrays and maps nested in each other."""
    return st.recursive(
        scalars(),
        lambda below: (
            st.lists(below, max_size=3).map(pvector)
            | st.dictionaries(names() | st.just("type"), below, max_size=3).map(pmap)
        ),
        max_leaves=6,
    )


def subjects() -> st.SearchStrategy[Subject]:
    """Subjects, empty ones often."""
    return st.just(Subject()) | st.builds(
        Subject,
        st.just("") | names(),
        st.frozensets(names(), max_size=2),
        st.dictionaries(names(), values(), max_size=2).map(pmap),
    )


def patterns(max_leaves: int = 8) -> st.SearchStrategy[Pattern]:
    """Trees of every shape: atoms, annotations, relationships, walks, brackets."""
    atoms = subjects().map(Pattern)

    def around(below: st.SearchStrategy[Pattern]) -> st.SearchStrategy[Pattern]:
        elements = st.lists(below, max_size=3).map(tuple)
        return st.builds(Pattern, subjects(), elements) | walks(atoms)

    return st.recursive(atoms, around, max_leaves=max_leaves)


def walks(atoms: st.SearchStrategy[Pattern]) -> st.SearchStrategy[Pattern]:
    """Walks along shared nodes, each hop in either direction."""

    def walk(parts: tuple[list[Pattern], list[tuple[Subject, bool]]]) -> Pattern:
        nodes, hops = parts
        edges = [
            Pattern(subject, (left, right) if forward else (right, left))
            for left, right, (subject, forward) in zip(nodes, nodes[1:], hops, strict=False)
        ]
        return Pattern(Subject("", {"Gram.Walk"}), edges)

    hops = st.lists(st.tuples(subjects(), st.booleans()), min_size=3, max_size=3)
    return st.tuples(st.lists(atoms, min_size=2, max_size=4), hops).map(walk)


def forests() -> st.SearchStrategy[tuple[Pattern, ...]]:
    """The patterns of a document."""
    return st.lists(patterns(), max_size=4).map(tuple)


# --- texts with a comment in any gap (for layout and checks)

Tokens = list[str]

SPELLED_SCALARS: list[Tokens] = [
    ["1"],
    ["-0"],
    ["0x1F"],
    ["017"],
    ["2.50"],
    ["5kg"],
    ["2.5kg"],
    ["true"],
    ["word"],
    ["'it'"],
    ['"a // b"'],
    ["`c`"],
    ["``"],
    ['"' + "long " * 9 + '"'],
    ["tag", "`x`"],
    ["```\nfenced\n  // text\n  ```"],
    ["```md\n# title\n```"],
    ["1", "..", "2"],
    ["...", "5kg"],
    ["0.5", "..."],
]


def commented_texts() -> st.SearchStrategy[str]:
    """Documents in any spelling, with numbered comments and odd blanks between their tokens."""
    return st.builds(
        _with_gaps,
        _document_tokens(),
        st.lists(st.sampled_from(GAPS), min_size=1, max_size=40),
        st.sampled_from(["\n", "\n", "\r\n"]),
        st.sampled_from(["", "", "\ufeff"]),
    )


GAPS = [
    "",
    "",
    "",
    " ",
    " ",
    "\n",
    "\n\n\n  ",
    " //#\n",
    "//#\n //# \n\n",
    "\n\t//#\n",
    "\n\n //#\n\n",
]


def _with_gaps(tokens: Tokens, gaps: list[str], line_break: str, bom: str) -> str:
    """The tokens with the gaps between them, in turn; every ``//#`` gets a number."""
    text, number = bom, 0
    for index, token in enumerate([*tokens, ""]):
        gap = gaps[index % len(gaps)]
        if not gap and index and not _may_touch(tokens[index - 1], token):
            gap = " "
        while "//#" in gap:
            number += 1
            gap = gap.replace("//#", f"// {number}", 1)
        text += gap.replace("\n", line_break) + token
    return text


def _may_touch(left: str, right: str) -> bool:
    return not right or left[-1] in "()[]{},|" or right[0] in "()[]{},|"


def _document_tokens() -> st.SearchStrategy[Tokens]:
    headers = st.just([]) | _record_tokens()
    return _sequence(headers, st.lists(_item_tokens(), max_size=4).map(_flatten))


def _item_tokens() -> st.SearchStrategy[Tokens]:
    identified = st.sampled_from([[], ["@@", "a"], ["@@", ":", "L"], ["@@", "`b c`", "::", "L"]])
    annotation = _value_tokens().flatmap(
        lambda value: st.sampled_from(["k", "j"]).map(lambda key: ["@", key, "(", *value, ")"])
    )
    annotations = st.just([]) | st.lists(annotation, max_size=3).map(_flatten)
    return _sequence(identified, annotations, _bracket_tokens() | _path_tokens())


def _bracket_tokens() -> st.SearchStrategy[Tokens]:
    plain = _sequence(_word("["), _subject_tokens(), _word("]"))
    leaves = st.sampled_from([["a"], ["`b c`"], ["7"]]) | _path_tokens()

    def around(below: st.SearchStrategy[Tokens]) -> st.SearchStrategy[Tokens]:
        listed = st.lists(below, min_size=1, max_size=3).map(_separated)
        return _sequence(_word("["), _subject_tokens(), _word("|"), listed, _word("]"))

    return plain | around(st.recursive(leaves, around, max_leaves=4))


def _path_tokens() -> st.SearchStrategy[Tokens]:
    node = _sequence(_word("("), _subject_tokens(), _word(")"))
    halves = st.sampled_from([("-", "->"), ("<=", "="), ("<~", "~>"), ("-", "-"), ("=", "=>")])
    inside = st.just([]) | _sequence(_word("["), _subject_tokens(), _word("]"))
    arrow = st.tuples(halves, inside).map(lambda p: [p[0][0], *p[1], p[0][1]])
    hops = st.lists(_sequence(arrow, node), max_size=3).map(_flatten)
    return _sequence(node, hops)


def _subject_tokens() -> st.SearchStrategy[Tokens]:
    identity = st.sampled_from([[], ["a"], ["b"], ["`b c`"], ["7"]])
    label = st.sampled_from([[":", "L"], ["::", "Text"], [":", "`odd one`"], [":", "true"]])
    return _sequence(
        identity,
        st.lists(label, max_size=2).map(_flatten),
        st.just([]) | _record_tokens(),
    )


def _record_tokens() -> st.SearchStrategy[Tokens]:
    return st.lists(_entry_tokens(_value_tokens()), max_size=3).map(
        lambda entries: ["{", *_separated(entries), "}"]
    )


def _entry_tokens(
    value: st.SearchStrategy[Tokens], colons: tuple[str, ...] = (":", "::")
) -> st.SearchStrategy[Tokens]:
    keys = st.sampled_from([["k"], ["j"], ['"odd key"'], ["`i`"]])
    return _sequence(keys, st.sampled_from([[colon] for colon in colons]), value)


def _value_tokens() -> st.SearchStrategy[Tokens]:
    def around(below: st.SearchStrategy[Tokens]) -> st.SearchStrategy[Tokens]:
        arrays = st.lists(below, max_size=3).map(lambda items: ["[", *_separated(items), "]"])
        entries = st.lists(_entry_tokens(below, (":",)), max_size=2)
        return arrays | entries.map(lambda items: ["{", *_separated(items), "}"])

    return st.recursive(st.sampled_from(SPELLED_SCALARS), around, max_leaves=4)


def _sequence(*parts: st.SearchStrategy[Tokens]) -> st.SearchStrategy[Tokens]:
    return st.tuples(*parts).map(_flatten)


def _word(token: str) -> st.SearchStrategy[Tokens]:
    return st.just([token])


def _separated(parts: list[Tokens]) -> Tokens:
    return _flatten([[",", *part] if index else part for index, part in enumerate(parts)])


def _flatten(parts: Any) -> Tokens:
    return [token for part in parts for token in part]
